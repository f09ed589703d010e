"""The engine motion_model takes trajectory goals itself, unless a controller commands it."""

import numpy as np
from action_msgs.msg import GoalStatus
from arm_system import HOME, ArmSystem, goal
from control_msgs.action import FollowJointTrajectory
from lifecycle_msgs.msg import Transition
from long_wait import LONG_WAIT

SUCCEEDED, ABORTED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED


def test_a_motion_model_follows_goals_alone_yields_to_a_controller_and_takes_over_again():
    with ArmSystem(actuator='servo') as system:
        system.simulator('engine:=motion_model')
        system.wait(lambda: len(system.states) > 0, 'state')

        status, _ = system.follow('simulator', goal([1.0], [HOME + 0.2]))
        assert status == SUCCEEDED
        system.wait(lambda: np.abs(system.q - HOME - 0.2).max() < 0.01, 'arrival')
        refused = system.follow('simulator', goal([1.0], [HOME + 9.0]))
        assert refused[0] == ABORTED
        assert 'above its upper limit' in refused[1].error_string

        system.controller('servo', 'feedforward:=none', f'state_timeout:={LONG_WAIT}')
        system.wait_for_motion_control('servo_controller')
        # Until its first command arrives time goes on by itself, and may jump for the controller.
        claim = 'the claim of the servo controller'
        system.wait(
            lambda: 'servo' in system.values['simulator'].get('active controllers', ''), claim
        )
        status, why = system.follow('servo_controller', goal([1.0], [HOME]))
        assert status == SUCCEEDED, why
        system.wait(lambda: np.abs(system.q - HOME).max() < 0.01, 'arrival at home')
        status, result = system.follow('simulator', goal([1.0], [HOME + 0.2]))
        assert (status, result.error_code) == (
            ABORTED,
            FollowJointTrajectory.Result.INVALID_GOAL,
        )

        assert system.change('servo_controller', Transition.TRANSITION_DEACTIVATE)
        status, _ = system.follow('simulator', goal([1.0], [HOME + 0.1]))
        assert status == SUCCEEDED
        system.wait(lambda: np.abs(system.q - HOME - 0.1).max() < 0.01, 'arrival')
        assert system.stop('simulator') == 0
