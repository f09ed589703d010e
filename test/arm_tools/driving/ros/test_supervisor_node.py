"""What the supervisor's node says of a stop: the robot, or the machine that was slow."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from arm_tools.driving.ros.supervisor_node import SupervisorNode
from arm_tools.driving.supervisor_state import STOPPED


def said(slept):
    """Return the line of a stop after a time in which the process got no CPU time [s]."""
    lines = []
    node = SimpleNamespace(
        parameters=SimpleNamespace(state_age_limit=0.05),
        supervisor=SimpleNamespace(reasons=lambda _: ['age of the newest state is 0.2 s']),
        counts={'stops': 0},
        _log=SimpleNamespace(error=lines.append),
        _woke_at=time.monotonic() - slept,
        _slept=0.0,
        _slept_at=-np.inf,
    )
    SupervisorNode._wake(node)
    SupervisorNode._log_phase(node, SimpleNamespace(phase=STOPPED, blind=np.array([True])))
    return lines[0]


def test_a_stop_after_a_pause_of_this_process_names_the_machine():
    line = said(20.0)
    assert line.startswith(
        'stopped: age of the newest state is 0.2 s. The readings cannot be used'
    )
    assert 'This machine, not the robot, may be the cause: the supervisor got no CPU' in line
    assert '20 s' in line


def test_a_stop_without_a_pause_names_the_robot_alone():
    assert 'machine' not in said(-20.0)
