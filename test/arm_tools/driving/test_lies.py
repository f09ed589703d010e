"""Drawn laws that go wrong and readings that lie, with and without velocities; a small draw."""

import pytest
from scripts import load_script

STUDY = load_script('benchmarks/supervisor.py')
SIZE = 8
BLOCKS = {'effort': (0, 2), 'position': (1, 3, 11)}  # no fault, then readings that freeze


@pytest.mark.parametrize('interface', BLOCKS)
def test_no_drawn_arm_leaves_its_limits_and_only_frozen_readings_are_called_frozen(interface):
    rows = {}
    for number in BLOCKS[interface]:
        found = STUDY.block(number * SIZE, SIZE, rows)
        assert max(found.values()) < 1.0 + 1e-9
    for (robot, _, _, fault), count in rows.items():
        assert robot.startswith(interface)
        assert not count['beyond'] + count['false'] + count['unseen'] + count['waited']
        assert 'frozen' not in fault or count['stopped'] == count['runs']
    assert {sends for _, sends, _, _ in rows} == {'positions only', 'velocities too'}
    assert sum(count['blind'] for key, count in rows.items() if 'frozen' in key[3]) > SIZE // 2
