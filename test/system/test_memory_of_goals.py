"""The memory of a controller in real time does not grow with the number of its goals."""

import uuid

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, ArmSystem, goal
from control_msgs.action import FollowJointTrajectory
from oracle import memory
from unique_identifier_msgs.msg import UUID

from arm_controllers.ros.qos import SERVICE_QOS

CONTROLLER = 'computed_torque_controller'
# The services of the action. rclpy's ActionClient reads a list of all goals of ten seconds each
# time one of them changes, which takes most of the time of a client with so many.
ACTION = f'{CONTROLLER}/follow_joint_trajectory/_action'
SEND_GOAL = FollowJointTrajectory.Impl.SendGoalService
GET_RESULT = FollowJointTrajectory.Impl.GetResultService
# Of each kind, before the first measurement and between the measurements.
WARM_UP, GOALS = 250, 250
# 750 goals whose results stay in memory take 3.5 MB. Without them the first 1 000 goals take 2 MB
# until the allocator's pools are full, and 750 later ones 0.1 MB.
ALLOWED_MB = 1.5
RESULTS_EXPIRE = 11.0  # [s]
ENDED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED


@pytest.mark.slow
def test_memory_of_a_controller_is_bounded_after_a_thousand_goals():
    rng = np.random.default_rng(0)
    with ArmSystem('realtime') as arm:
        # Goals are answered as fast in slow time, whose fewer states take less work.
        arm.simulator('real_time_factor:=0.1')
        arm.controller()
        arm.wait_for_motion_control(CONTROLLER)
        results = arm.node.create_client(
            GET_RESULT, f'{ACTION}/get_result', qos_profile=SERVICE_QOS
        )

        def send(wanted):
            """Send a goal; return the future of its result."""
            request = SEND_GOAL.Request(goal_id=UUID(uuid=[*uuid.uuid4().bytes]), goal=wanted)
            assert arm.call(SEND_GOAL, f'{ACTION}/send_goal', request).accepted
            return results.call_async(GET_RESULT.Request(goal_id=request.goal_id))

        def send_goals(count):
            ends = []
            for _ in range(count):
                refused = send(goal([0.3], [HOME + 99.0]))
                answer = arm.result(refused, 'end of a refused goal')
                assert answer.status == GoalStatus.STATUS_ABORTED
                for _ in range(2):  # the second one replaces the first one
                    near = HOME + rng.uniform(-0.02, 0.02, 6)
                    ends.append(send(goal([0.2], [near])))
            for end in ends:
                assert arm.result(end, 'end of a goal').status in ENDED
            arm.spin(RESULTS_EXPIRE)
            return memory(arm.processes[CONTROLLER])

        before = send_goals(WARM_UP)
        after = send_goals(GOALS)
        print(f'memory after {3 * WARM_UP} goals: {before:.1f} MB, {3 * GOALS} later {after:.1f}')
        assert after - before < ALLOWED_MB
