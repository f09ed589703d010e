"""The robot model: what it reads from a URDF, and that its methods are what they say."""

import mujoco
import numpy as np
import pytest
from arms import MIXED

from arm_dynamics import ArmError, JointLimitError, RobotModel
from arm_dynamics.model import STANDSTILL
from arm_dynamics.robots import find_urdf, robot_names
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.plant import PlantParameters

ROBOTS = ('ur5e', 'ur5e_menagerie')


@pytest.fixture(params=[*ROBOTS, 'mixed'])
def model(request) -> RobotModel:
    if request.param == 'mixed':
        return RobotModel.from_urdf(MIXED)
    return RobotModel.from_urdf(find_urdf(request.param))


def random_state(model: RobotModel, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return model.random_configuration(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_home_pose_of_the_ur5e_is_the_published_one():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    tip = model.forward_kinematics(np.zeros(6)).translation
    np.testing.assert_allclose(tip, (-0.8172, -0.3679, 0.0628), atol=1e-12)


def test_urdf_facts_are_read_joint_by_joint():
    model = RobotModel.from_urdf(MIXED)
    assert model.joint_names == ('turn', 'extend', 'bend')
    assert (model.nq, model.nv) == (3, 3)
    assert model.tip_frame == 'tool'
    assert model.base_frame == 'base'
    np.testing.assert_array_equal(model.position_lower, (-np.inf, 0.0, -2.0))
    np.testing.assert_array_equal(model.position_upper, (np.inf, 0.5, 1.5))
    np.testing.assert_array_equal(model.effort_limit, (np.inf, 80.0, 10.0))
    np.testing.assert_array_equal(model.velocity_limit, (np.inf, 1.0, 3.0))
    np.testing.assert_array_equal(model.damping, (0.0, 0.0, 0.4))
    np.testing.assert_array_equal(model.friction, (0.0, 0.0, 0.1))


def test_manufacturers_masses_add_up():
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    mass = sum(inertia.mass for inertia in model.pin_model.inertias)
    np.testing.assert_allclose(mass, 3.761 + 8.058 + 2.846 + 1.37 + 1.3 + 0.365, rtol=1e-12)


@pytest.mark.parametrize('seed', range(3))
def test_inverse_dynamics_is_mass_times_acceleration_plus_bias_and_friction(model, seed):
    q, v, a = random_state(model, seed)
    expected = model.mass_matrix(q) @ a + model.coriolis_matrix(q, v) @ v + model.gravity_torque(q)
    drag = model.damping * v + model.friction * np.clip(v / STANDSTILL, -1, 1)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a), expected + drag, atol=1e-11)
    np.testing.assert_allclose(
        model.bias_torque(q, v) + drag, model.inverse_dynamics(q, v, 0 * a), atol=1e-12
    )


def rough(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return the model with rotors and friction at every joint."""
    return RobotModel(model.urdf, None, model.gravity, *rng.uniform(0.1, 1.0, (3, model.nv)))


@pytest.mark.parametrize('seed', range(3))
def test_rotors_and_friction_are_in_the_dynamics_once_and_in_nothing_else(model, seed):
    bare = RobotModel(model.urdf, None, model.gravity, damping=0.0, friction=0.0)
    rng = np.random.default_rng(seed)
    arm = rough(model, rng)
    q, v, a = random_state(model, seed)
    for same in ('coriolis_matrix', 'bias_torque'):
        np.testing.assert_array_equal(getattr(arm, same)(q, v), getattr(bare, same)(q, v))
    np.testing.assert_array_equal(arm.gravity_torque(q), bare.gravity_torque(q))
    inertia = bare.mass_matrix(q) + np.diag(arm.armature)
    np.testing.assert_allclose(arm.mass_matrix(q), inertia, atol=1e-14)
    drag = arm.damping * v + arm.friction * np.clip(v / STANDSTILL, -1, 1)
    np.testing.assert_allclose(arm.friction_torque(v), drag, rtol=1e-15)
    tau = bare.inverse_dynamics(q, v, a) + arm.armature * a + drag
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), tau, atol=1e-12)
    by_hand = np.linalg.solve(inertia, a - bare.bias_torque(q, v) - drag)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, a), by_hand, rtol=1e-9, atol=1e-9)
    push = {model.tip_frame: rng.normal(size=6)}
    back = arm.forward_dynamics(q, v, arm.inverse_dynamics(q, v, a, push), push)
    np.testing.assert_allclose(back, a, atol=1e-9)


@pytest.mark.parametrize('seed', range(3))
def test_mass_matrix_with_rotors_is_the_slope_of_the_torque(model, seed):
    """By central differences of the inverse dynamics, which is linear in the acceleration."""
    arm = rough(model, np.random.default_rng(seed))
    q, v, a = random_state(model, seed)
    slope = [
        (arm.inverse_dynamics(q, v, a + e) - arm.inverse_dynamics(q, v, a - e)) / 2.0
        for e in np.eye(model.nv)
    ]
    np.testing.assert_allclose(np.array(slope).T, arm.mass_matrix(q), atol=1e-11)
    jerk, h = np.ones(model.nv), 1e-4  # of the torque, back to accelerations
    tau = arm.inverse_dynamics(q, v, a)
    there, back = (arm.forward_dynamics(q, v, tau + x * jerk) for x in (h, -h))
    np.testing.assert_allclose(
        arm.mass_matrix(q) @ (there - back) / (2 * h), jerk, rtol=1e-6, atol=1e-6
    )


def test_inverse_dynamics_is_mujocos_with_the_same_rotors_and_friction():
    rng = np.random.default_rng(1)
    facts = {'armature': (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 'damping': 2.0}
    arm = RobotModel.from_urdf(find_urdf('ur5e'), **facts)
    plant = MujocoPlant(arm, PlantParameters('torque'))
    data = plant.mj_data
    for q, v, a in rng.uniform(-2, 2, (50, 3, 6)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
        mujoco.mj_inverse(plant.mj_model, data)
        np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), data.qfrc_inverse, atol=1e-9)


def test_friction_torque_takes_many_arms_and_fades_at_standstill():
    arm = RobotModel.from_urdf(MIXED, damping=(1.0, 2.0, 3.0), friction=(0.1, 0.2, 0.3))
    v = np.linspace(-1.0, 1.0, 24).reshape(4, 2, 3)
    rows = [arm.friction_torque(row) for row in v.reshape(-1, 3)]
    np.testing.assert_array_equal(arm.friction_torque(v).reshape(-1, 3), rows)
    slow = 1e-3 * STANDSTILL * np.array([1.0, -1.0, 0.0])
    expected = arm.damping * slow + 1e-3 * arm.friction * (1.0, -1.0, 0.0)
    np.testing.assert_allclose(arm.friction_torque(slow), expected, rtol=1e-12)


@pytest.mark.parametrize('seed', range(3))
def test_forward_dynamics_undoes_inverse_dynamics_under_a_push(model, seed):
    q, v, a = random_state(model, seed)
    push = {model.tip_frame: np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])}
    tau = model.inverse_dynamics(q, v, a, push)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau, push), a, atol=1e-9)


def test_a_push_acts_through_the_transposed_jacobian(model):
    q, v, a = random_state(model, 4)
    for frame in model.frame_names[1:]:
        wrench = np.array([1.0, 2.0, 3.0, 0.4, 0.5, 0.6])
        difference = model.inverse_dynamics(q, v, a) - model.inverse_dynamics(
            q, v, a, {frame: wrench}
        )
        np.testing.assert_allclose(difference, model.jacobian(q, frame).T @ wrench, atol=1e-11)


def test_gravity_torque_is_the_slope_of_potential_energy(model):
    import pinocchio as pin

    q, _, _ = random_state(model, 5)
    step = 1e-6
    slope = np.empty(model.nv)
    for i in range(model.nv):
        e = np.eye(model.nv)[i] * step
        high, low = (
            pin.computePotentialEnergy(model.pin_model, model.pin_data, model.to_pin(x))
            for x in (q + e, q - e)
        )
        slope[i] = (high - low) / (2 * step)
    np.testing.assert_allclose(model.gravity_torque(q), slope, atol=1e-6)


def test_continuous_joints_go_the_short_way():
    model = RobotModel.from_urdf(MIXED)
    step = model.difference([3.0, 0.1, 0.2], [-3.0, 0.3, 0.1])
    np.testing.assert_allclose(step, (2 * np.pi - 6.0, 0.2, -0.1), atol=1e-12)


def test_a_full_turn_of_a_continuous_joint_changes_nothing():
    model = RobotModel.from_urdf(MIXED)
    q = np.array([0.7, 0.2, 0.3])
    turned = q + np.array([2 * np.pi, 0, 0])
    np.testing.assert_allclose(
        model.forward_kinematics(q).homogeneous,
        model.forward_kinematics(turned).homogeneous,
        atol=1e-14,
    )


def test_returned_arrays_are_the_callers_own(model):
    q, v, a = random_state(model, 6)
    first = model.inverse_dynamics(q, v, a)
    kept = first.copy()
    model.inverse_dynamics(0.5 * q, v, a)
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize(
    ('urdf', 'says'),
    [
        ('<robot name="x"><link name="a"/>', 'not a URDF'),
        ('<sdf/>', 'this is SDF, not a URDF'),
        ('<world/>', 'root element is <world>'),
        (MIXED.replace('type="continuous"', 'type="floating"'), "'turn' has type 'floating'"),
        (MIXED.replace('<child link="slide"/>', '<child link="nut"/>'), "'nut' does not exist"),
        (MIXED.replace('<mass value="2"/>', '<mass value="-2"/>'), 'must not be negative'),
        (MIXED.replace('<mass value="2"/>', '<mass value="heavy"/>'), 'must be finite numbers'),
        (MIXED.replace('axis xyz="0 0 1"', 'axis xyz="0 0 0"'), "'turn': <axis .* not be zero"),
        (MIXED.replace('axis xyz="0 0 1"', 'axis xyz="0 1"'), "'turn': <axis .* three numbers"),
        (MIXED.replace('upper="1.5"', 'upper="nan"'), "'bend': <limit upper=.* finite"),
        ('<robot name="x"><link name="a"/></robot>', 'no revolute, continuous or prismatic'),
        (MIXED.replace('<limit lower="0" upper="0.5" effort="80" velocity="1"/>', ''), '<limit>'),
    ],
)
def test_a_broken_urdf_is_refused_in_one_line(urdf, says):
    with pytest.raises(ArmError, match=says) as refusal:
        RobotModel.from_urdf(urdf)
    assert '\n' not in str(refusal.value)


@pytest.mark.parametrize(
    ('given', 'says'),
    [
        ({'armature': (0.0, -0.1, 0.0)}, "armature of joint 'extend' is -0.1; it must be >= 0"),
        ({'damping': (1.0, 2.0)}, r'damping has 2 values; allowed: 1 or one .* joint \(3\)'),
        ({'friction': np.nan}, "friction of joint 'turn' is nan"),
        ({'gravity': (0.0, 9.81)}, r'gravity has shape \(2,\); it must be \(3,\)'),
    ],
)
def test_joints_with_impossible_rotors_or_friction_are_refused(given, says):
    with pytest.raises(ArmError, match=says):
        RobotModel.from_urdf(MIXED, **given)


def test_a_missing_file_and_an_unknown_robot_are_named(tmp_path):
    with pytest.raises(ArmError, match=r'nowhere.urdf'):
        RobotModel.from_urdf(tmp_path / 'nowhere.urdf')
    with pytest.raises(ArmError, match=r"'r2d2' is neither a shipped robot .*ur5e"):
        find_urdf('r2d2')


def test_an_unknown_frame_lists_the_known_ones():
    model = RobotModel.from_urdf(MIXED)
    with pytest.raises(ArmError, match=r"no frame 'hand'.*turret.*tool"):
        model.forward_kinematics(np.zeros(3), 'hand')
    with pytest.raises(ArmError, match="no frame 'hand'"):
        RobotModel.from_urdf(MIXED, tip_frame='hand')


def test_a_configuration_beyond_a_limit_names_joint_value_and_limit():
    model = RobotModel.from_urdf(MIXED)
    with pytest.raises(JointLimitError, match=r"'bend': position 1.6 rad .* 1.5 rad") as refusal:
        model.check_configuration([0.0, 0.1, 1.6])
    error = refusal.value
    assert (error.joint, error.value, error.lower, error.upper) == ('bend', 1.6, -2.0, 1.5)
    with pytest.raises(ArmError, match=r'q\[1\] is nan; it must be finite'):
        model.check_configuration([0.0, np.nan, 0.0])
    with pytest.raises(ArmError, match=r'q has shape \(2,\); it must be \(3,\)'):
        model.check_configuration([0.0, 0.0])


def test_every_shipped_robot_loads():
    assert set(ROBOTS) <= set(robot_names())
    for name in robot_names():
        assert RobotModel.from_urdf(find_urdf(name)).nv > 0
