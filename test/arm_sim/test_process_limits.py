"""Resources of a process: shared memory that is full is named, with its remedy."""

import os
from types import SimpleNamespace

import pytest

from arm_sim.process_limits import missing_resource


@pytest.mark.parametrize(('blocks', 'missing'), [(0, '0'), (200, '0.819'), (300, '')])
def test_full_shared_memory_is_named_with_what_a_node_needs(monkeypatch, blocks, missing):
    asked = []

    def statvfs(folder):
        asked.append(folder)
        return SimpleNamespace(f_bavail=blocks, f_frsize=4096)

    monkeypatch.setattr(os, 'statvfs', statvfs)
    line = (
        f'a node needs 1 MB of shared memory, and /dev/shm has {missing} MB free: make room there'
    )
    assert missing_resource() == (line if missing else '')
    assert asked == ['/dev/shm']


def test_shared_memory_that_is_absent_is_not_needed(tmp_path):
    assert missing_resource(str(tmp_path / 'none')) == ''
