"""What holds whatever is done to a running system: one judge for all hostile tests."""

import os
from pathlib import Path

import numpy as np
from action_msgs.msg import GoalStatus
from arm_system import HOME, MODEL, goal

from arm_sim.simulation.limits import Limits

SLACK = 1e-6
DRIVE = 1.1 * Limits().speed_limit_factor  # a tenth for the way to the brake


def assert_all_is_well(arm, controller='computed_torque_controller'):
    """Nodes live and printed short lines, the arm kept its limits, and a normal goal succeeds."""
    arm.assert_alive()
    assert_within_limits(arm)
    status, result = arm.follow(controller, goal([1.5], [HOME]))
    assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string
    np.testing.assert_allclose(arm.q, HOME, atol=0.02)
    arm.assert_alive()
    assert_within_limits(arm)


def assert_within_limits(arm):
    """Every state that was seen is finite and within the limits of position and speed.

    In real time the last torque acts on where a controller gets no time, until the drive brakes:
    there it is the drive's speed that bounds.
    """
    q, v = (np.array([state[k] for state in arm.states]) for k in (1, 2))
    assert np.isfinite(q).all()
    assert (q >= MODEL.position_lower - SLACK).all()
    assert (q <= MODEL.position_upper + SLACK).all()
    allowed = DRIVE if arm.mode == 'realtime' else 1.0 + SLACK
    fastest = (np.abs(v) / MODEL.velocity_limit).max()
    assert fastest <= allowed, f'{fastest:.3g} times its speed limit'


def memory(process):
    """Return the memory that a process holds [MB]."""
    pages = int(Path(f'/proc/{process.pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 1e6
