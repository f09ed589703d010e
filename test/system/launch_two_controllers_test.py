"""Two controllers of one robot: each commands its joints, and lock-step waits for both."""

import json
from dataclasses import replace

import numpy as np
import rclpy
from arm_system import HOME, MODEL, NAMES, ArmSystem
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.composed_law import ComposedLaw
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class
from arm_controllers.parameter_values import read_fields
from arm_controllers.ros.active_controllers import TOPIC
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.loop import Loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters

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
        system.wait(lambda: claims.get('claims') == both and system.states, 'two claims')
        begin = system.now
        system.wait(lambda: system.now > begin + 0.5, 'time under both')
        np.testing.assert_allclose(system.q, HOME, atol=1e-2)

        wrist.speaks = False
        system.spin(0.5)
        system.diagnostics.clear()
        system.wait(lambda: 'simulator' in system.diagnostics, 'time that paused_at')
        paused_at = system.now
        system.spin(0.5)
        assert system.now == paused_at  # the simulator waits for the wrist's answer

        wrist.send(JointState().header.stamp, [], [])
        system.wait(lambda: claims['claims'] == {'arm_controller': ARM}, 'release')
        system.wait(lambda: system.now > paused_at + 0.5, 'time under the arm alone')
        np.testing.assert_allclose(system.q, HOME, atol=1e-2)
        assert system.values['simulator']['refused inputs'] == '0'
        arm.speaks = False
        for each in (arm, wrist):
            system.executor.remove_node(each.node)
            each.node.destroy_node()


ACTUATORS = ('torque',) * 4 + ('velocity',) * 2
MOVING = [0.3, -0.2, 0.4, 0.5, -0.6, 0.7]
LAWS = {'computed_torque': (ARM, {}), 'velocity_servo': (WRIST, {'servo_kd': (100.0,)})}


def composed_loop():
    """The same arm, controllers and braking references without ROS."""
    robot = Robot.load('ur5e')
    shared, laws, followers = robot.parameters('any_controller'), [], []
    for name, (joints, gains) in LAWS.items():
        law = law_class(name)
        own = read_fields(ControllerParameters, shared | {'robot': 'ur5e', 'joints': joints})
        laws.append(law(own.model(), law.Parameters(**gains)))
        rules = FollowerParameters()
        follower = TrajectoryFollower(laws[-1].model, rules)
        places = [NAMES.index(joint) for joint in joints]
        follower.activate(0, HOME[places], np.array(MOVING)[places])
        followers.append((follower, places))

    def reference_function(t, reference):
        for follower, places in followers:
            now = follower.peek(round(t * 1e9))
            for field in ('q', 'v', 'a', 'effort'):
                getattr(reference, field)[places] = getattr(now, field)

    parameters = read_fields(PlantParameters, robot.parameters('simulator'))
    plant = MujocoPlant(robot.model, replace(parameters, actuator=ACTUATORS))
    return Loop(plant, ComposedLaw(laws, NAMES), reference_function)


def test_controllers_with_different_interfaces_give_the_bits_of_the_composed_law():
    with ArmSystem(actuator=str(list(ACTUATORS))) as system:
        names = [f'{part}_controller' for part in ('arm', 'wrist')]
        system.simulator(f'awaited_controllers:={names}', f'initial_velocities:={MOVING}')
        system.words('simulator', 'held: waiting for arm_controller, wrist_controller')
        for name, (law, (joints, gains)) in zip(names, LAWS.items(), strict=True):
            own = [f'{key}:={list(value)}' for key, value in gains.items()]
            system.controller(law, f'joints:={joints}', *own, name=name)
        system.wait(lambda: system.states and system.now > 1.0, 'a second under both')
        loop = composed_loop()
        steps = {round(k * loop.period * 1e9): loop.step() for k in range(500)}
        compared = [(steps[round(t * 1e9)], q, v) for t, q, v in system.states if t < 0.999]
        assert len(compared) > 400
        for step, q, v in compared:
            np.testing.assert_array_equal(q, step.q)
            np.testing.assert_array_equal(v, step.v)
        moved = np.ptp([step.q for step in steps.values()], axis=0)
        assert (moved > 1e-3).all()
        assert system.values['simulator']['refused inputs'] == '0'
