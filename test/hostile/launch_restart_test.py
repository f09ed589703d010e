"""A simulator that is killed, and another that starts elsewhere under the same controller."""

import signal

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, ArmSystem, goal
from long_wait import LONG_WAIT
from oracle import assert_all_is_well

CONTROLLER = 'computed_torque_controller'
ELSEWHERE = HOME + np.array([0.4, 0.2, -0.2, 0.3, 0.3, 0.5])


@pytest.mark.parametrize('mode', ['lockstep', 'realtime'])
def test_a_goal_ends_with_its_simulator_and_the_next_one_is_held_where_it_is(mode):
    with ArmSystem(mode) as arm:
        arm.simulator()
        arm.controller('computed_torque', f'state_timeout:={LONG_WAIT}')
        arm.wait_for_motion_control(CONTROLLER)
        _, end = arm.send(CONTROLLER, goal([600.0], [HOME + 0.3]))
        arm.spin(0.2)
        arm.kill('simulator', signal.SIGKILL)
        seen = -1
        while seen != len(arm.states):  # what is still on its way
            seen = len(arm.states)
            arm.spin(0.2)
        arm.states.clear()
        positions = str(ELSEWHERE.tolist())
        arm.simulator(f'initial_positions:={positions}')
        answer = arm.result(end, 'end of the goal')
        assert answer.status == GoalStatus.STATUS_ABORTED
        message = answer.result.error_string
        assert 'states come from' in message or 'time jumped back' in message
        arm.wait(lambda: arm.states and arm.now > 1.0, 'second of simulated time')
        _, q, v = (np.array(column) for column in zip(*arm.states, strict=True))
        np.testing.assert_allclose(q, np.broadcast_to(ELSEWHERE, q.shape), atol=1e-3)
        assert np.abs(v).max() < 0.02
        assert_all_is_well(arm)
