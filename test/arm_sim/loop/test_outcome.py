"""What is printed of a run."""

from types import SimpleNamespace

import pytest

from arm_sim.loop.outcome import print_outcome
from arm_sim.loop.report import Check


@pytest.mark.parametrize(
    ('mode', 'skipped', 'value', 'blamed'),
    [
        ('realtime', 1794, 22.4, True),
        ('realtime', 1794, 0.1, False),
        ('realtime', 0, 22.4, False),
        ('lockstep', 1794, 22.4, False),
    ],
)
def test_broken_limits_are_blamed_on_a_machine_that_was_too_slow(
    capsys, mode, skipped, value, blamed
):
    report = {'task': 'cube', 'robot': 'ur5e', 'controller': 'servo', 'feedforward': 'none'}
    report |= {'engine': 'mujoco', 'mode': mode, 'steps': 3750, 'cycles_per_second': 380.0}
    report |= {'late_ticks': 593, 'skipped_periods': skipped, 'passes_mm': [], 'checksum': 'f0'}
    of_task = SimpleNamespace(columns=('', 'RMS'), rows=lambda _: [('error', '22')])
    task = SimpleNamespace(report=of_task)
    checks = [Check('tracking error RMS', value, 20.0, 'mm')]
    print_outcome(task, report | {'duration_s': 7.5}, checks)
    printed = capsys.readouterr().out
    assert ('too slow for real time: mode:=lockstep, or a smaller' in printed) == blamed
    assert ('BROKEN' in printed) == (value > 20.0)
