"""Hand guiding: the body that the hand feels, and that nothing moves without a hand."""

import numpy as np
import pytest
from simulated_law import rest_reference

from arm_controllers.laws import Measurement
from arm_controllers.laws.hand_guiding import HandGuiding, HandGuidingParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])


def law(**given):
    return HandGuiding(ARM, HandGuidingParameters(**given))


def felt(q, wrench):
    """Return the reading of the wrist for a wrench at the tool in base axes."""
    pose = ARM.forward_kinematics(q, ARM.tool_carrier)
    lever = ARM.forward_kinematics(q).translation - pose.translation
    force, torque = wrench[:3], wrench[3:] + np.cross(lever, wrench[:3])
    return np.concatenate([pose.rotation.T @ force, pose.rotation.T @ torque])


def guided(own, wrench_at, duration, dt, arm=None, noise=None):
    """Yield t, q, v before each period of an arm that a wrench at the tool pulls."""
    q, v, state = Q.copy(), np.zeros(6), None
    for k in range(round(duration / dt)):
        yield k * dt, q, v
        wrench = wrench_at(k * dt)
        reading = felt(q, wrench) + (0.0 if noise is None else noise[k])
        measured = Measurement(q, v, None, reading)
        if state is None:
            state = own.start(measured, rest_reference(Q))
        tau, state = own(state, measured, rest_reference(Q), dt)
        tau += ARM.jacobian(q).T @ wrench
        v = v + dt * (arm or ARM).forward_dynamics(q, v, tau)
        q = q + dt * v


def test_a_step_of_force_moves_the_apparent_mass_and_damping():
    pull = np.array([8.0, -4.0, 6.0, 0.0, 0.0, 0.0])
    own = law(apparent_mass=5.0, apparent_damping=25.0, dead_band=0.0, torque_dead_band=0.0)
    for t, q, v in guided(own, lambda t: pull, 0.5, 1e-3):
        expected = pull / 25.0 * (1.0 - np.exp(-25.0 / 5.0 * t))
        np.testing.assert_allclose(ARM.jacobian(q) @ v, expected, atol=0.01 * 10.8 / 25.0)


def test_sixty_seconds_of_noise_and_bias_move_nothing():
    """Whatever the model error, which only bends the arm once; here it is bent at the start."""
    noise = np.random.default_rng(0).normal(0.0, [0.1] * 3 + [0.01] * 3, (6000, 6))
    noise[:, 2] += 1.0
    own, places = law(), []
    for _, q, _ in guided(own, lambda t: np.zeros(6), 60.0, 0.01, noise=noise):
        places.append(q)
    np.testing.assert_allclose(places, [Q] * len(places), atol=1e-9)


def test_an_arm_of_another_weight_sags_once_and_does_not_drift():
    lighter = with_error(ARM, ModelError(mass_scale=(0.9,)))
    places = [q for _, q, _ in guided(law(), lambda t: np.zeros(6), 2.0, 2e-3, lighter)]
    assert np.abs(places[-1] - Q).max() > 1e-4
    np.testing.assert_allclose(places[-1], places[-100], atol=1e-7)


def moved(own, start, wrench, periods=1500, dt=0.002):
    """Return the memories of the law on an arm that follows its body perfectly."""
    state = own.start(Measurement(start, np.zeros(6)), rest_reference(start))
    states = [state]
    for _ in range(periods):
        measured = Measurement(state.q, state.v, None, felt(state.q, wrench))
        tau, state = own(state, measured, rest_reference(start), dt)
        assert np.isfinite(tau).all()
        states.append(state)
    return states


def test_a_hand_can_push_no_joint_beyond_its_limit():
    start = np.array([0.0, -1.2, 1.1, -0.6, 0.9, ARM.position_upper[5] - 0.3])
    turn = np.append(np.zeros(3), 8.0 * ARM.jacobian(start)[3:, 5])
    states = moved(law(deceleration=2.0), start, turn, 700)
    q, v = np.array([each.q for each in states]), np.array([each.v for each in states])
    nearest = (ARM.position_upper - q).min()
    assert 0.0 <= nearest < 1e-3
    assert np.diff(v[:, 5]).min() > -1.5 * 2.0 * 0.002


def test_a_stretched_arm_stays_stretched_and_follows_a_hand_that_pulls_it_in():
    stretched = np.array([0.0, -1.0, 0.0, -1.5, 0.0, 0.0])
    outwards = np.append(ARM.forward_kinematics(stretched).translation, np.zeros(3))
    outwards *= 20.0 / np.linalg.norm(outwards)
    states = moved(law(), stretched, outwards, 500)
    assert max(np.abs(each.v).max() for each in states) < 1.0


def test_a_locked_orientation_stays():
    wrench = np.array([10.0, 5.0, -8.0, 1.0, -1.0, 2.0])
    states = moved(law(axes=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), Q, wrench, 500)
    first, last = (ARM.forward_kinematics(each.q) for each in (states[0], states[-1]))
    assert np.linalg.norm(last.translation - first.translation) > 0.1
    np.testing.assert_allclose(last.rotation, first.rotation, atol=1e-3)


def test_axes_are_a_mask():
    with pytest.raises(ArmError, match='six of 0 and 1, not all 0'):
        law(axes=(0.5,) * 6)
