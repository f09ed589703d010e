"""Joints that follow others by <mimic>: kinematics and dynamics, limits, and what is refused."""

import numpy as np
import pinocchio as pin
import pytest
from arms import examples
from mimic_arm import MIMICS, mimic_arm, mimic_urdf, short_mimic_arm

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel, CompiledModel, ForwardModel, ForwardModelParameters
from arm_dynamics.kinematics.chain import Chain
from arm_dynamics.kinematics.jacobians import numerical_jacobian
from arm_dynamics.link_loads import LinkLoads
from arm_lab.identification.regressor import JointRegressor

STEP = 1e-6


@pytest.fixture(scope='module')
def arm():
    return mimic_arm()


@pytest.fixture
def states(arm):
    rng = np.random.default_rng(3)
    q = np.array([arm.random_configuration(rng) for _ in range(10)])
    return q, *rng.normal(size=(2, *q.shape))


def test_the_leaders_are_the_joints_and_their_limits_the_tightest(arm):
    assert arm.joint_names == ('pan', 'lift', 'grip')
    assert len(arm.moving_joints) == 3 + MIMICS
    # level = 0.2 - lift within +-1.5; all others are wider.
    np.testing.assert_allclose(arm.position_lower, [-1.5, -1.3, -1.5])
    np.testing.assert_allclose(arm.position_upper, [1.5, 1.5, 1.5])
    q = dict(zip(arm.moving_joints, arm.all_positions(np.array([0.1, 0.4, 0.6])), strict=True))
    wanted = {'a_rod': 0.4, 'level': 0.2 - 0.4, 'piston': 0.08 * 0.4 + 0.01, 'other': -0.6}
    wanted |= {'tip_of_other': -0.05 * 0.6 - 0.01, 'pan': 0.1, 'lift': 0.4, 'grip': 0.6}
    assert q == pytest.approx(wanted)


def test_dynamics_are_those_of_panda_in_pinocchios_own_mimic_joints():
    text = (examples() / 'panda_description/urdf/panda.urdf').read_text()
    model, own = RobotModel(text), pin.buildModelFromXML(text, mimic=True)
    assert model.nv == own.nv == 8
    data, rng = own.createData(), np.random.default_rng(0)
    for _ in range(5):
        q, v, a = model.random_configuration(rng), *rng.normal(size=(2, 8))
        frame = own.getFrameId('panda_rightfinger')
        close = {'rtol': 0.0, 'atol': 1e-12}
        np.testing.assert_allclose(model.mass_matrix(q), pin.crba(own, data, q), **close)
        torque = pin.rnea(own, data, q, v, a) + model.friction_torque(v)
        np.testing.assert_allclose(model.inverse_dynamics(q, v, a), torque, **close)
        jacobian = pin.computeFrameJacobian(own, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(model.jacobian(q, 'panda_rightfinger'), jacobian, **close)


def test_dynamics_are_those_of_lagrange(arm, states):
    """d/dt dT/dv - dT/dq + dU/dq by differences, from Pinocchio's energies of all joints."""
    free, no_rotors = arm.pin_model, arm.pin_model.copy()
    no_rotors.armature = np.zeros(free.nv)
    data = no_rotors.createData()

    def lagrangian(q, v):
        kinetic = pin.computeKineticEnergy(no_rotors, data, arm.to_pin(q).copy(), arm.all_rates(v))
        return kinetic - pin.computePotentialEnergy(no_rotors, data, arm.to_pin(q))

    def slopes(q, v, at):  # of q, or of v
        rows = 1e-4 * np.eye(3)
        pairs = [
            (lagrangian(q + d, v), lagrangian(q - d, v)) if at == 'q'
            else (lagrangian(q, v + d), lagrangian(q, v - d))
            for d in rows
        ]  # fmt: skip
        return np.array([(one - other) / 2e-4 for one, other in pairs])

    for q, v, a in zip(*states, strict=True):
        h = 1e-4
        later = slopes(q + h * v + 0.5 * h * h * a, v + h * a, 'v')
        before = slopes(q - h * v + 0.5 * h * h * a, v - h * a, 'v')
        torque = (later - before) / (2.0 * h) - slopes(q, v, 'q')
        torque += arm.armature * a + arm.friction_torque(v)
        np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), torque, rtol=0.0, atol=2e-6)


def test_generated_code_one_arm_and_many_have_the_same_dynamics():
    arm = short_mimic_arm()
    compiled, many = CompiledModel(arm), BatchModel(arm)
    q, v, a = np.random.default_rng(3).normal(size=(3, 10, arm.nv))
    close = {'rtol': 0.0, 'atol': 1e-12}
    mass, torque = many.mass_matrix(q), many.inverse_dynamics(q, v, a)
    coriolis, regressor = many.coriolis_matrix(q, v), many.regressor(q, v, v, a)
    for i in range(len(q)):
        for found in (mass[i], compiled.mass_matrix(q[i])):
            np.testing.assert_allclose(found, arm.mass_matrix(q[i]), **close)
        wanted = arm.inverse_dynamics(q[i], v[i], a[i])
        for found in (torque[i], compiled.inverse_dynamics(q[i], v[i], a[i])):
            np.testing.assert_allclose(found, wanted, **close)
        for find in (arm.forward_dynamics, compiled.forward_dynamics):
            np.testing.assert_allclose(find(q[i], v[i], wanted), a[i], **close)
        np.testing.assert_allclose(coriolis[i], arm.coriolis_matrix(q[i], v[i]), **close)
        np.testing.assert_allclose(regressor[i], arm.regressor(q[i], v[i], v[i], a[i]), **close)
        linear = regressor[i] @ arm.inertial_parameters() + arm.armature * a[i]
        np.testing.assert_allclose(linear + arm.friction_torque(v[i]), wanted, **close)


def test_coriolis_matrix_makes_the_passive_form(arm, states):
    for q, v, _ in zip(*states, strict=True):
        rate = (arm.mass_matrix(q + STEP * v) - arm.mass_matrix(q - STEP * v)) / (2.0 * STEP)
        matrix = arm.coriolis_matrix(q, v)
        np.testing.assert_allclose(matrix + matrix.T, rate, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize('cut', ['', 'level_link', 'tip_of_other_link'])
def test_loads_at_the_joints_are_those_of_the_links_of_leaders_and_followers(arm, states, cut):
    loads = LinkLoads([arm], cut)
    for q, v, a in zip(*states, strict=True):
        wanted = arm.inverse_dynamics(q, v, a) - arm.armature * a - arm.friction_torque(v)
        loads.update(*(each[np.newaxis] for each in (q, v, a)))
        np.testing.assert_allclose(loads.torque[0], wanted, rtol=0.0, atol=1e-12)
    if cut:
        loads.update(q[np.newaxis], *np.zeros((2, 1, 3)))
        masses = {
            'level_link': 2.0 / 4 + 2.0 / 6 + 2.0 / 7 + 2.0 / 8,
            'tip_of_other_link': 2.0 / 8,
        }
        weight = np.linalg.norm(loads.wrench()[0, :3])
        assert weight == pytest.approx(9.81 * masses[cut])


@pytest.mark.parametrize('frame', ['tip_of_other_link', 'piston_link', 'a_rod_link'])
def test_frames_of_followers_move_with_the_leaders_and_take_wrenches(arm, states, frame):
    models, wrench = [arm], np.array([3.0, -2.0, 1.0, 0.3, 0.2, -0.1])
    if frame == 'tip_of_other_link':
        models.append(BatchModel(arm))
    close = {'rtol': 0.0, 'atol': 1e-9}
    for q, v, a in zip(*states, strict=True):
        jacobian = numerical_jacobian(arm, q, frame)
        later = arm.frame_motion(q + STEP * v, v + STEP * a, a, frame).velocity
        before = arm.frame_motion(q - STEP * v, v - STEP * a, a, frame).velocity
        rate = (later - before) / (2.0 * STEP)
        for model in models:
            np.testing.assert_allclose(model.jacobian(q, frame), jacobian, **close)
            motion = model.frame_motion(q, v, a, frame)
            np.testing.assert_allclose(motion.velocity, jacobian @ v, **close)
            np.testing.assert_allclose(motion.acceleration, rate, rtol=0.0, atol=1e-7)
        pushed = arm.inverse_dynamics(q, v, a) - arm.inverse_dynamics(q, v, a, {frame: wrench})
        np.testing.assert_allclose(pushed, jacobian.T @ wrench, **close)
        for many in models[1:]:
            np.testing.assert_allclose(many.wrench_torque(q, wrench, frame), pushed, **close)


def test_a_passive_linkage_keeps_its_energy_under_gravity():
    free = RobotModel(mimic_urdf(), 'level_link', damping=(0.0,), friction=(0.0,))
    forward = ForwardModel(free, ForwardModelParameters(integrator='rk4', effort_limits=False))
    state = forward.initial_state([0.1, 0.2, 0.3], [0.4, -0.2, 0.5])

    def energy(state):
        q, v = np.split(state, 2)
        potential = pin.computePotentialEnergy(free.pin_model, free.pin_data, free.to_pin(q))
        return 0.5 * v @ free.mass_matrix(q) @ v + potential

    before, start = energy(state), state.copy()
    for _ in range(10):
        state = forward.step(state, np.zeros(3), 1e-3, 100)
        assert energy(state) == pytest.approx(before, abs=1e-7)
    assert abs(state - start).max() > 0.5


def test_own_numbers_of_the_leader_replace_the_followers_as_well(arm):
    given = RobotModel(mimic_urdf(), 'level_link', damping=(2.0,), armature=(0.3,))
    again = RobotModel(given.description, 'level_link')
    for name in ('damping', 'armature', 'friction'):
        np.testing.assert_allclose(getattr(again, name), getattr(given, name), atol=1e-15)
    # Ratios 1, -1 of the linkage and 0.08 of the piston: 0.3 + 0.2 + 0.4 + 0.08^2 0.5.
    assert arm.damping[1] == pytest.approx(0.3 + 0.2 + 0.4 + 0.08**2 * 0.5)


def test_a_follower_of_a_continuous_joint_turns_by_its_ratio():
    urdf = mimic_urdf().replace('name="lift" type="revolute"', 'name="lift" type="continuous"')
    model = RobotModel(
        urdf.replace('name="level" type="revolute"', 'name="level" type="continuous"')
    )
    assert not model.continuous.any()  # one turn of a leader is not always one of its followers
    np.testing.assert_allclose(model.position_upper[1], (1.5 - 0.01) / 0.08)  # the piston's end
    pose = model.forward_kinematics([0.0, 7.0, 0.0], 'level_link')
    same = mimic_arm().forward_kinematics([0.0, 7.0, 0.0], 'level_link')
    np.testing.assert_allclose(pose.homogeneous, same.homogeneous, atol=1e-12)


def test_limits_of_a_follower_that_leave_no_range_are_ignored_with_a_note(arm):
    wrong = mimic_urdf().replace('joint="grip" multiplier="-1.0"', 'joint="grip" multiplier="-1"')
    wrong = wrong.replace('multiplier="-1" offset="0.0"', 'multiplier="-1" offset="9"')
    model = RobotModel(wrong, 'level_link')
    np.testing.assert_array_equal(model.position_lower, arm.position_lower)
    (note,) = [each for each in model.notes if 'mimic' in each and "'other'" in each]
    assert note.startswith("joint 'other': its limits leave no range to the joint that it follows")
    assert not any('mimic' in each for each in arm.notes)


def test_what_followers_have_not_is_refused(arm):
    with pytest.raises(
        ArmError, match="'level_link' .* behind joint 'level', which follows.*tip_frame:=lift_link"
    ):
        Chain(arm, 'level_link')
    assert Chain(arm, 'lift_link').joint_names == ('pan', 'lift')
    with pytest.raises(ArmError, match='whose parameters are not identified: hold their leaders'):
        JointRegressor(arm)
    published = ForwardModelParameters(
        actuator='voltage', integrator='lagged_euler', effort_limits=False
    )
    with pytest.raises(ArmError, match="'lagged_euler' has no joints that follow"):
        ForwardModel(arm, published)
