"""Simulator and controller in one process: what they hand over is what they would publish."""

import numpy as np
from action_msgs.msg import GoalStatus
from arm_system import HOME, ArmSystem, goal
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_QOS, RECORD_QOS

CONTROLLER = 'computed_torque_controller'
END = 3  # [s]


def state_at_the_end(composed):
    """Follow a goal that nothing observes; return the last state."""
    with ArmSystem('lockstep') as arm:
        arm.node.destroy_subscription(arm.heard)
        if composed:
            arm.composed('computed_torque', parameters=['simulator:start_paused:=true'])
        else:
            arm.simulator('start_paused:=true')
            arm.controller()
        seen = ('holding', 'time is stopped', 'no state for')  # there is one state only
        arm.wait(lambda: arm.diagnostics.get(CONTROLLER, (0, ''))[1].startswith(seen), 'state')
        far = HOME + np.array([0.5, 0.2, -0.2, 0.1, 0.1, 0.3])
        _, end = arm.send(CONTROLLER, goal([1.5], [far], start=0.5))
        arm.wait(lambda: arm.node.count_subscribers('joint_states') == 1, 'one listener')
        until = arm.node.create_publisher(Time, 'simulator/run_until', CONTROL_QOS)
        arm.publish_until(until, Time(sec=END), end.done, 'end of the goal')
        assert end.result().status == GoalStatus.STATUS_SUCCEEDED
        states = []
        arm.node.create_subscription(JointState, 'joint_states', states.append, RECORD_QOS)
        arm.wait(lambda: states and states[-1].header.stamp == Time(sec=END), 'last state')
        arm.assert_alive()
        return np.array([states[-1].position, states[-1].velocity, states[-1].effort])


def test_a_goal_that_nothing_observes_ends_in_the_same_bits_in_one_process_and_in_two():
    np.testing.assert_array_equal(state_at_the_end(True), state_at_the_end(False))
