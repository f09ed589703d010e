"""Motion models against what their equations promise, with SciPy's solver."""

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.published.motion_models import JointSpaceMotionModel, TaskSpaceMotionModel
from arm_lab.published.second_order import (
    design_from_step,
    settling_time,
    step_response,
)

START = np.array([0.1, -1.2, 1.1, -0.6, 0.4, 0.2])
TARGET = np.array([0.6, -1.5, 1.4, -1.0, 0.2, 0.5])
REST = np.zeros(6)
STIFF = {'method': 'BDF', 'rtol': 1e-8, 'atol': 1e-10}  # light wrists, strong damping


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e'))


def simulate(derivative, state, duration, **solver):
    settings = {'rtol': 1e-10, 'atol': 1e-12, 'method': 'DOP853', **solver}
    return solve_ivp(lambda t, x: derivative(x, t), (0.0, duration), state, **settings)


def moving_reference(t):
    """(3n,) reference that moves, with its derivatives."""
    amplitude, w = np.array([0.3, 0.2, 0.4, 0.3, 0.2, 0.1]), 3.0
    q = TARGET + amplitude * np.sin(w * t)
    v, a = amplitude * w * np.cos(w * t), -amplitude * w**2 * np.sin(w * t)
    return np.concatenate([q, v, a])


def test_computed_torque_is_independent_joint_motion_without_external_force(ur5e):
    settings = {
        'natural_frequency': [5, 6, 7, 8, 9, 10],
        'damping_ratio': [1, 0.9, 0.7, 0.5, 1, 2],
    }
    end = []
    for kind in ('computed_torque', 'independent_joint'):
        motion = JointSpaceMotionModel(ur5e, kind, **settings)
        run = simulate(
            lambda x, t, motion=motion: motion.derivative(x, moving_reference(t)),
            np.concatenate([START, REST]),
            1.0,
        )
        end.append(run.y[:, -1])
    np.testing.assert_allclose(end[0], end[1], atol=1e-8)


def test_external_force_distinguishes_computed_torque_from_independent_joints(ur5e):
    motion = JointSpaceMotionModel(ur5e)
    state, still = np.concatenate([TARGET, REST]), np.concatenate([TARGET, REST])
    push = np.array([5.0, -3.0, 10.0, 0.0, 0.0, 1.0])
    a = motion.derivative(state, still, {'wrist_3_link': push})[6:]
    torque = ur5e.jacobian(TARGET, 'wrist_3_link').T @ push
    np.testing.assert_allclose(ur5e.mass_matrix(TARGET) @ a, torque, atol=1e-9)
    with pytest.raises(ArmError, match='independent joints'):
        JointSpaceMotionModel(ur5e, 'independent_joint').derivative(
            state, still, {'wrist_3_link': push}
        )


@pytest.mark.parametrize('share', [0.0, 0.019, 0.021, 0.1, 0.3, 0.6])
@pytest.mark.parametrize('settling', [0.2, 1.5])
def test_designed_step_response_has_the_overshoot_and_settling_time_asked_for(share, settling):
    frequency, ratio = design_from_step(settling, share)
    time = np.linspace(0.0, 5.0 * settling, 500_001)
    y = step_response(time, frequency, ratio)
    np.testing.assert_allclose(max(y.max() - 1.0, 0.0), share, atol=1e-8)
    outside = np.flatnonzero(np.abs(y - 1.0) > 0.02)
    np.testing.assert_allclose(time[outside[-1]], settling, atol=2.0 * time[1])


def test_simulated_arm_has_the_step_response_asked_for_joint_by_joint(ur5e):
    shares = np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.3])
    times = np.array([0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    motion = JointSpaceMotionModel(ur5e)
    motion.update_error_dynamics_from_step(times, shares)
    grid = np.linspace(0.0, 2.0, 20_001)
    run = simulate(
        lambda x, t: motion.derivative(x, np.concatenate([TARGET, REST])),
        np.concatenate([START, REST]),
        2.0,
        t_eval=grid,
    )
    progress = (run.y[:6] - START[:, None]) / (TARGET - START)[:, None]
    np.testing.assert_allclose(np.maximum(progress.max(axis=1) - 1.0, 0.0), shares, atol=1e-5)
    measured = [grid[np.flatnonzero(np.abs(y - 1.0) > 0.02)[-1]] for y in progress]
    np.testing.assert_allclose(measured, times, atol=2.0 * grid[1])


@pytest.mark.parametrize('ratio', [0.1, 0.4, 0.8, 1.0, 1.5, 3.0])
def test_step_response_solves_its_differential_equation(ratio):
    frequency = 7.0
    run = solve_ivp(
        lambda t, x: [x[1], frequency**2 * (1 - x[0]) - 2 * ratio * frequency * x[1]],
        (0.0, 3.0),
        [0.0, 0.0],
        rtol=1e-11,
        atol=1e-13,
        t_eval=np.linspace(0.0, 3.0, 50),
    )
    np.testing.assert_allclose(step_response(run.t, frequency, ratio), run.y[0], atol=1e-9)
    assert (
        abs(step_response(settling_time(frequency, ratio), frequency, ratio) - 1) <= 0.02 + 1e-12
    )


def test_the_usual_settling_time_is_up_to_42_percent_too_long_and_31_too_short():
    ratios = np.linspace(0.05, 1.0, 500)
    usual = [4.0 / ratio / settling_time(1.0, ratio) - 1.0 for ratio in ratios]
    np.testing.assert_allclose((max(usual), min(usual)), (0.42, -0.31), atol=0.005)


def test_overshoot_formula_inverts():
    for share in (0.01, 0.1, 0.5):
        zeta = design_from_step(1.0, share)[1]
        peak = np.exp(-np.pi * zeta / np.sqrt(1.0 - zeta**2))  # above the step, as a share of it
        np.testing.assert_allclose(peak, share, rtol=1e-12)


@pytest.mark.slow
def test_pd_without_gravity_term_droops_by_g_over_kp():
    model = RobotModel.from_urdf(find_urdf('mr_three_link'))
    target, kp = np.array([0.2, 0.3, -0.4]), np.array([4000.0, 3000.0, 1000.0])
    motion = JointSpaceMotionModel(model, 'pd', kp=kp, kd=0.2 * kp, gravity_compensation=False)
    run = simulate(
        lambda x, t: motion.derivative(x, np.concatenate([target, np.zeros(3)])),
        np.concatenate([target, np.zeros(3)]),
        6.0,
        rtol=1e-9,
    )
    q = run.y[:3, -1]
    np.testing.assert_allclose(target - q, model.gravity_torque(q) / kp, atol=1e-9)
    assert np.abs(target - q).max() > 5e-3


def test_pd_with_gravity_loses_energy_until_it_is_at_the_reference(ur5e):
    motion = JointSpaceMotionModel(ur5e, 'pd', kp=300.0, kd=60.0)
    run = simulate(
        lambda x, t: motion.derivative(x, np.concatenate([TARGET, REST])),
        np.concatenate([START, REST]),
        6.0,
        **STIFF,
    )
    energy = []
    for x in run.y.T:
        q, v, error = x[:6], x[6:], x[:6] - TARGET
        energy.append(0.5 * v @ ur5e.mass_matrix(q) @ v + 0.5 * error @ motion.kp @ error)
    assert np.all(np.diff(energy) < 1e-6)
    np.testing.assert_allclose(run.y[:6, -1], TARGET, atol=1e-3)


@pytest.mark.slow
def test_task_space_motion_loses_energy_and_reaches_the_pose(ur5e):
    motion = TaskSpaceMotionModel(ur5e, kp=[400, 400, 400, 40, 40, 40], kd=[80] * 3 + [8] * 3)
    target = ur5e.forward_kinematics(TARGET)
    run = simulate(
        lambda x, t: motion.derivative(x, target), np.concatenate([START, REST]), 12.0, **STIFF
    )
    energy = []
    for x in run.y.T:
        q, v = x[:6], x[6:]
        error = motion.pose_error(q, target)
        energy.append(0.5 * v @ ur5e.mass_matrix(q) @ v + 0.5 * error @ motion.kp @ error)
    assert np.all(np.diff(energy) < 1e-6)
    np.testing.assert_allclose(motion.pose_error(run.y[:6, -1], target), 0.0, atol=2e-3)


def test_task_space_motion_rests_under_a_push_where_its_stiffness_says(ur5e):
    motion = TaskSpaceMotionModel(ur5e, kp=2000.0, kd=300.0)
    target, push = ur5e.forward_kinematics(TARGET), np.array([0.0, 20.0, 0.0, 0.0, 0.0, 0.0])

    def acceleration(q):
        state = np.concatenate([q, REST])
        return motion.derivative(state, target, external_forces={ur5e.tip_frame: push})[6:]

    rest = root(acceleration, TARGET, tol=1e-12)
    np.testing.assert_allclose(motion.pose_error(rest.x, target), -push / 2000.0, atol=1e-9)


def test_task_space_reference_velocity_is_followed(ur5e):
    """With the twist given, the velocity error that drives the damping term vanishes."""
    motion = TaskSpaceMotionModel(ur5e, joint_damping=0.0)
    v = np.array([0.1, 0.2, -0.1, 0.3, 0.1, 0.2])
    pose, twist = ur5e.forward_kinematics(TARGET), ur5e.jacobian(TARGET) @ v
    a = motion.derivative(np.concatenate([TARGET, v]), pose, twist)[6:]
    expected = ur5e.forward_dynamics(TARGET, v, ur5e.gravity_torque(TARGET))
    np.testing.assert_allclose(a, expected, atol=1e-9)


def test_pose_error_is_the_motion_that_takes_the_tip_to_the_pose(ur5e):
    motion = TaskSpaceMotionModel(ur5e)
    error = motion.pose_error(START, ur5e.forward_kinematics(TARGET))
    tip = ur5e.forward_kinematics(START)
    moved = pin.SE3(pin.exp3(error[3:]) @ tip.rotation, tip.translation + error[:3])
    assert moved.isApprox(ur5e.forward_kinematics(TARGET), 1e-12)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'motion_type': 'servo'}, "motion_type is 'servo'; allowed: computed_torque"),
        ({'natural_frequency': 0.0}, 'natural_frequency of joint .* must be > 0'),
        ({'damping_ratio': [1, 1, 0, 1, 1, 1]}, "damping_ratio of joint 'elbow_joint' is 0"),
        ({'kp': -1.0}, 'kp of joint .* is -1; it must be >= 0'),
        ({'kd': -np.eye(6)}, 'kd has the eigenvalue -1'),
        ({'kp': np.triu(np.ones((6, 6)))}, 'kp is not symmetric'),
        ({'kp': np.eye(5)}, 'kp has shape'),
    ],
)
def test_bad_parameters_are_refused(ur5e, settings, message):
    with pytest.raises(ArmError, match=message):
        JointSpaceMotionModel(ur5e, **settings)


@pytest.mark.parametrize(('time', 'share'), [(0.0, 0.1), (1.0, 1.0), (1.0, -0.1)])
def test_impossible_step_responses_are_refused_and_change_nothing(ur5e, time, share):
    motion = JointSpaceMotionModel(ur5e, natural_frequency=3.0)
    with pytest.raises(ArmError):
        motion.update_error_dynamics_from_step(time, share)
    np.testing.assert_array_equal(motion.natural_frequency, np.full(6, 3.0))


def test_wrong_state_and_reference_shapes_are_refused(ur5e):
    with pytest.raises(ArmError, match=r'state has shape \(6,\)'):
        JointSpaceMotionModel(ur5e).derivative(START, np.concatenate([TARGET, REST]))
    with pytest.raises(ArmError, match=r'state has shape \(6,\)'):
        TaskSpaceMotionModel(ur5e).derivative(START, ur5e.forward_kinematics(TARGET))
