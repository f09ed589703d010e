"""Nodes start with Ctrl-C blocked where env can do so, and start elsewhere as well."""

import pytest
from launch import LaunchContext
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from arm_sim.launching.processes import quiet_start

OLD = '#!/bin/sh\necho "env: unrecognized option $1" >&2\nexit 125\n'


def prefix():
    quiet_start.cache_clear()
    context = LaunchContext()
    return perform_substitutions(context, normalize_to_list_of_substitutions(quiet_start()))


@pytest.mark.parametrize(
    ('env', 'expected'),
    [('#!/bin/sh\nexit 0\n', 'env --block-signal=INT '), (OLD, ''), (None, '')],
    ids=['GNU', 'old', 'none'],
)
def test_nodes_start_also_where_env_cannot_block_signals(env, expected, tmp_path, monkeypatch):
    if env is not None:
        (tmp_path / 'env').write_text(env)
        (tmp_path / 'env').chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path))
    assert prefix() == expected
    monkeypatch.undo()
    quiet_start.cache_clear()
