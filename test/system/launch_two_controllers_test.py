"""Two controllers of one robot: each commands its joints, and lock-step waits for both."""

import json

import numpy as np
import rclpy
from arm_system import HOME, MODEL, NAMES, ArmSystem
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS

ARM, WRIST = NAMES[:4], NAMES[4:]


class Controller:
    """Holds some joints at home by gravity torque, stiffness and damping."""

    def __init__(self, system, name, joints):
        self.node = rclpy.create_node(name, context=system.context)
        self.name, self.joints, self.speaks = name, joints, True
        self.places = [NAMES.index(joint) for joint in joints]
        self.publisher = self.node.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.node.create_subscription(JointState, 'joint_states', self.on_state, STATE_QOS)
        system.executor.add_node(self.node)

    def on_state(self, state):
        if not self.speaks:
            return
        q, v = np.array(state.position), np.array(state.velocity)
        tau = MODEL.gravity_torque(q) + 100.0 * (HOME - q) - 20.0 * v
        self.send(state.header.stamp, self.joints, tau[self.places].tolist())

    def send(self, stamp, joints, efforts):
        command = JointState(name=joints, effort=efforts)
        command.header.stamp, command.header.frame_id = stamp, self.name
        self.publisher.publish(command)


def test_two_controllers_command_their_joints_in_lockstep_and_the_brake_holds_released_ones():
    with ArmSystem() as system:
        claims = {}
        system.node.create_subscription(
            String, TOPIC, lambda m: claims.update(json.loads(m.data)), LATCHED_QOS
        )
        arm, wrist = (
            Controller(system, 'arm_controller', ARM),
            Controller(system, 'wrist_controller', WRIST),
        )
        system.simulator()
        both = {'arm_controller': ARM, 'wrist_controller': WRIST}
        system.wait(lambda: claims.get('claims') == both, 'two claims')
        begin = system.now
        system.wait(lambda: system.now > begin + 0.5, 'time under both')
        np.testing.assert_allclose(system.q, HOME, atol=1e-2)

        wrist.speaks = False
        system.spin(0.5)
        stands = system.now
        system.spin(0.5)
        assert system.now == stands  # the simulator waits for the wrist's answer

        wrist.send(JointState().header.stamp, [], [])
        system.wait(lambda: claims['claims'] == {'arm_controller': ARM}, 'release')
        system.wait(lambda: system.now > stands + 0.5, 'time under the arm alone')
        np.testing.assert_allclose(system.q, HOME, atol=1e-2)
        assert system.values['simulator']['refused inputs'] == '0'
        arm.speaks = False
        for each in (arm, wrist):
            system.executor.remove_node(each.node)
            each.node.destroy_node()
