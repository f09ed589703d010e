"""A simulator that is asked for too much: commands, wrenches, and what comes after them."""

import numpy as np
from arm_system import HOME, MODEL, NAMES, ArmSystem
from geometry_msgs.msg import WrenchStamped
from oracle import assert_all_is_well
from sensor_msgs.msg import JointState

CONTROLLER = 'computed_torque_controller'


def wrench(force, seconds=0):
    message = WrenchStamped()
    message.header.frame_id = 'tool0'
    message.header.stamp.sec = seconds
    message.wrench.force.x = force
    return message


def test_wild_commands_and_wrenches_are_bounded_and_a_controller_takes_over_after_them():
    with ArmSystem('realtime') as arm:
        arm.simulator()
        wild = JointState(name=NAMES, effort=(1e4 * np.sign(HOME + 1e-9)).tolist())
        wild.header.frame_id = 'wild'
        commands = arm.node.create_publisher(JointState, 'joint_commands', 10)

        def answer(state):
            wild.header.stamp = state.header.stamp
            commands.publish(wild)

        states = arm.node.create_subscription(JointState, 'joint_states', answer, 10)
        arm.wait(lambda: arm.states, 'state')
        start = arm.now
        arm.wait(lambda: arm.now > start + 2.0, 'states')
        v = np.array([state[2] for state in arm.states])
        assert 1.9 < np.max(np.abs(v) / MODEL.velocity_limit) < 3.0
        arm.wait(lambda: 'simulator' in arm.values, 'diagnostics')
        arm.wait(lambda: int(arm.values['simulator']['overspeed samples']) > 0, 'count')
        assert arm.log('simulator').count('speed_limit_factor') == 1

        pushes = arm.node.create_publisher(WrenchStamped, 'external_wrench', 5000)
        arm.wait(lambda: pushes.get_subscription_count() > 0, 'simulator listening')
        refused = lambda: 'allowed: wrench_force_limit' in arm.log('simulator')  # noqa: E731
        arm.publish_until(pushes, wrench(1e6), refused, 'refusal')
        while 'allowed: waiting_wrenches_limit' not in arm.log('simulator'):
            for _ in range(100):
                pushes.publish(wrench(1.0, 3000))
            arm.spin(0.05)
        arm.assert_alive()

        arm.node.destroy_subscription(states)
        commands.publish(JointState(header=wild.header))  # it has no joints: a release message
        arm.reset()
        arm.controller()
        arm.wait_for_motion_control(CONTROLLER)
        arm.states.clear()
        arm.wait(lambda: arm.states, 'states')
        assert_all_is_well(arm)
