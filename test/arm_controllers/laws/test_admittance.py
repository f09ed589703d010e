"""The rule of admittance against ros2_controllers' as it is written there, step by step."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from arm_controllers.laws import Measurement, Reference, law_class
from arm_controllers.laws.admittance import Admittance, AdmittanceParameters
from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])
DT = 0.002
EFFORT = law_class('admittance_effort')

# The values of a file for ros2_controllers' admittance_controller, one for each axis.
THEIRS = {
    'admittance.selected_axes': [True, True, False, True, False, True],
    'admittance.mass': [5.5, 6.6, 7.7, 0.8, 0.9, 1.1],
    'admittance.stiffness': [214.1, 314.2, 414.3, 14.4, 24.5, 34.6],
    'admittance.damping_ratio': [2.8, 1.8, 0.8, 2.7, 1.7, 0.7],
    'admittance.joint_damping': 3.0,
    'kinematics.alpha': 0.0005,
    'ft_sensor.frame.id': 'wrist_3_link',
    'ft_sensor.filter_coefficient': 0.3,
    'control.frame.id': 'forearm_link',
    'fixed_world_frame.frame.id': 'wrist_1_link',  # nothing about it is fixed, so that all shows
    'gravity_compensation.frame.id': 'wrist_2_link',
    'gravity_compensation.CoG.pos': [0.1, -0.2, 0.3],
    'gravity_compensation.CoG.force': 23.0,
}


class TheirRule:
    """One update after another, each in the order of their source, joint by joint."""

    def __init__(self, given):
        self.p = given
        self.wrench_world, self.velocity = np.zeros(6), np.zeros(6)
        self.joint_pos, self.joint_vel = np.zeros(6), np.zeros(6)

    def pose(self, q, frame):
        found = ARM.forward_kinematics(q, frame)
        return found.rotation.copy(), found.translation.copy()

    def update(self, q, wrench, reference_q, dt):
        p = self.p
        sensor = p['ft_sensor.frame.id']
        world, _ = self.pose(q, p['fixed_world_frame.frame.id'])
        cog, _ = self.pose(q, p['gravity_compensation.frame.id'])
        control, _ = self.pose(q, p['control.frame.id'])
        turn, place = self.pose(q, sensor)
        reference_turn, reference_place = self.pose(reference_q, sensor)

        weight = np.array([0.0, 0.0, -p['gravity_compensation.CoG.force']])
        force, torque = world @ turn @ wrench[:3], world @ turn @ wrench[3:]
        force[2] -= weight[2]
        torque -= np.cross(world @ cog @ p['gravity_compensation.CoG.pos'], weight)
        share = p['ft_sensor.filter_coefficient']
        for i, newest in enumerate([*force, *torque]):
            self.wrench_world[i] = share * newest + (1.0 - share) * self.wrench_world[i]

        two = np.zeros((6, 6))
        two[:3, :3] = two[3:, 3:] = control
        mass, ratio = np.array(p['admittance.mass']), np.array(p['admittance.damping_ratio'])
        springs = np.array(p['admittance.stiffness'])
        stiffness = two @ np.diag(springs) @ two.T
        damping = two @ np.diag(ratio * 2.0 * np.sqrt(mass * springs)) @ two.T
        angle = Rotation.from_matrix(turn @ reference_turn.T).as_rotvec()
        x = np.append(place - reference_place, angle)
        base = np.append(world.T @ self.wrench_world[:3], world.T @ self.wrench_world[3:])
        base = two @ (two.T @ base * np.array(p['admittance.selected_axes'], dtype=float))

        acceleration = (base - damping @ self.velocity - stiffness @ x) / mass
        j = ARM.jacobian(q, sensor)
        inverse = np.linalg.inv(j.T @ j + p['kinematics.alpha'] * np.eye(6)) @ j.T
        joint_acc = inverse @ acceleration - p['admittance.joint_damping'] * self.joint_vel
        self.joint_vel = self.joint_vel + joint_acc * dt
        self.joint_pos = self.joint_pos + self.joint_vel * dt
        self.velocity = j @ self.joint_vel
        return self.joint_pos, self.joint_vel, joint_acc


def shifted(reference, q, v, a):
    other = reference.copy()
    other.q[:] += q
    other.v[:] += v
    other.a[:] += a
    return other


@pytest.mark.parametrize('name', ['admittance', 'admittance_effort'])
def test_the_reference_is_shifted_as_ros2_controllers_shifts_it(name):
    cls, rng = law_class(name), np.random.default_rng(4)
    law, rule = cls(ARM, read_fields(cls.Parameters, THEIRS)), TheirRule(THEIRS)
    inner = Servo(ARM, ServoParameters())
    if name == 'admittance_effort':
        follower = law_class('computed_torque')
        inner = follower(ARM, follower.designed(ARM, Q, 20.0, 1.0))
    state = None
    for _ in range(50):
        reference = Reference(6)
        reference.row[:] = rng.uniform(-0.5, 0.5, 24)
        reference.q[:] += Q
        q, v = reference.q + rng.uniform(-0.1, 0.1, 6), rng.uniform(-0.5, 0.5, 6)
        measured = Measurement(q, v, None, rng.uniform(-40.0, 40.0, 6))
        state = state or law.start(measured, reference)
        command, state = law(state, measured, reference, DT)
        shift = rule.update(q, measured.wrench, reference.q, DT)
        for own, expected in zip((state.q, state.v), shift[:2], strict=True):
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-12)
        expected, _ = inner((), measured, shifted(reference, *shift), DT)
        np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-9)


def test_at_rest_the_tool_exerts_the_wrench_goal_wherever_the_reference_is_along_it():
    law = Admittance(ARM, AdmittanceParameters(filter_coefficient=1.0))
    goal, reference = np.array([3.0, 0.0, -10.0, 0.0, 0.0, 0.4]), Reference(6)
    pose, tool = ARM.forward_kinematics(Q, ARM.tool_carrier), ARM.forward_kinematics(Q)
    lever = tool.translation - pose.translation
    felt = -np.append(goal[:3], goal[3:] + np.cross(lever, goal[:3]))
    turned = np.append(pose.rotation.T @ felt[:3], pose.rotation.T @ felt[3:])
    measured = Measurement(Q, np.zeros(6), None, turned)
    jacobian = ARM.jacobian(Q, ARM.tool_carrier)

    def accelerated(motion, wrench=goal):
        """Return how the sensor is accelerated with the reference off by a motion."""
        reference.q[:] = Q + np.linalg.solve(jacobian, [*motion, 0.0, 0.0, 0.0])
        reference.wrench = wrench
        _, state = law(law.start(measured, reference), measured, reference, DT)
        return jacobian[:3] @ state.v / DT

    np.testing.assert_allclose(accelerated((0.0, 0.0, 0.0)), 0.0, atol=1e-9)
    along = 1e-4 * goal[:3]
    np.testing.assert_allclose(accelerated(along), 0.0, atol=1e-3)
    across = np.array([0.0, 1e-3, 0.0])
    expected = 3000.0 / 20.0 * across[1]  # K x / m
    assert accelerated(across)[1] == pytest.approx(expected, rel=0.2)  # rel: by alpha
    assert np.linalg.norm(accelerated(along, None)) > 0.1  # without a goal there is a spring


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'inner': 'servo'}, "inner is 'servo'; it must be a law that commands effort"),
        ({'inner': 'hybrid_force_motion'}, 'has a design'),
        ({'control_frame': 'nowhere'}, "no frame 'nowhere'"),
    ],
)
def test_what_cannot_be_is_refused(parameters, message):
    with pytest.raises(ArmError, match=message):
        EFFORT(ARM, EFFORT.Parameters(**parameters))


def test_a_list_of_another_type_is_refused():
    with pytest.raises(ArmError, match='a list of true or false'):
        read_fields(AdmittanceParameters, {'admittance.selected_axes': [1, 1, 1, 1, 1, 1]})
    with pytest.raises(ArmError, match='admittance.mass is'):
        AdmittanceParameters(mass=(1.0,) * 5)


@pytest.mark.slow
@pytest.mark.parametrize(('law', 'stiffness'), [('admittance', 1e6), ('admittance_effort', 1e4)])
def test_a_press_comes_to_rest(law, stiffness):
    loaded = Experiment.of_files('ur5e gripper:=probe', 'press', law).load()
    loaded = replace(loaded, given={'surface_stiffness': stiffness, 'duration': 5.0})
    record = loaded.run()
    found = loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
    assert found['force_error_max_n'] < 0.03
    assert found['contact_lost_s'] == 0.0
