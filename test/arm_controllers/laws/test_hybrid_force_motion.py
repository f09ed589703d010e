"""Hybrid force and motion control: its equation in contact, and what it learns of a surface."""

import numpy as np
import pytest

from arm_controllers.laws import Measurement, Reference
from arm_controllers.laws.hybrid_force_motion import HybridForceMotion, HybridForceMotionParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])
DT, FELT = 0.002, np.array([1.0, -2.0, 4.0])


def at(q, wanted=(0.0, 0.0, -10.0)):
    reference = Reference(6)
    reference.q[:] = q
    reference.wrench = np.array([*wanted, 0.0, 0.0, 0.0])
    return reference


def felt(force, v=None):
    """Return a measurement at Q of a force in base axes."""
    rotation = ARM.forward_kinematics(Q).rotation
    v = np.zeros(6) if v is None else v
    return Measurement(Q, v, None, np.append(rotation.T @ force, np.zeros(3)))


def after(law, *measured, reference=None):
    """Return the command and the memory after measurements, each of a control period."""
    reference = reference or at(Q)
    state = law.start(measured[0], reference)
    for each in measured:
        tau, state = law(state, each, reference, DT)
    return tau, state


def test_in_contact_force_is_fed_forward_and_integrated():
    law = HybridForceMotion(ARM, HybridForceMotionParameters())
    v = np.linalg.solve(ARM.jacobian(Q), [0.0, 0.0, -0.01, 0.0, 0.0, 0.0])
    tau, state = after(law, felt(FELT, v))
    goal = 10.0 * DT / 0.5
    integral = DT * 20.0 * (goal - FELT[2])
    force = np.array([0.0, 0.0, -(goal + integral - 700.0 * 0.01)])
    free, _ = after(law, Measurement(Q, v), reference=at(Q, (0.0, 0.0, 0.0)))
    # Without a wrench the law brakes along z too: there, kd times 0.01 m/s is its acceleration.
    jacobian = ARM.jacobian(Q)
    mobility = jacobian @ np.linalg.solve(ARM.mass_matrix(Q), jacobian.T)
    braking = np.linalg.solve(mobility, [0.0, 0.0, 60.0 * 0.01, 0.0, 0.0, 0.0])
    expected = free + jacobian.T @ (np.append(force, np.zeros(3)) - braking)
    np.testing.assert_allclose(tau, expected, atol=1e-9)
    np.testing.assert_allclose(state.integral, [integral])


def test_before_contact_the_tip_is_accelerated_towards_the_surface():
    law = HybridForceMotion(ARM, HybridForceMotionParameters(approach_speed=0.03))
    rest, state = after(law, felt(np.zeros(3)))
    hold, _ = after(law, felt(np.zeros(3)), reference=at(Q, (0.0, 0.0, 0.0)))
    push = 700.0 * 0.1 * DT * (1.0 + 20.0 * DT)  # the speed rises by 0.1 m/s^2
    np.testing.assert_allclose(rest - hold, ARM.jacobian(Q).T @ [0, 0, -push, 0, 0, 0], atol=1e-9)
    assert state.age == -1.0


def test_the_normal_is_the_direction_in_which_the_tip_does_not_move():
    law = HybridForceMotion(ARM, HybridForceMotionParameters())
    normal = np.array([np.sin(0.1), 0.0, np.cos(0.1)])
    along = np.array([np.cos(0.1), 0.0, -np.sin(0.1)])
    directions = [along * 0.1, np.array([0.0, 0.1, 0.0])] * 500
    speeds = [np.linalg.solve(ARM.jacobian(Q), [*each, 0.0, 0.0, 0.0]) for each in directions]
    seen = [felt(10.0 * normal, v) for v in speeds]
    moving = at(Q)
    moving.v[:] = speeds[1]
    _, state = after(law, *seen, reference=moving)
    np.testing.assert_allclose(state.normal, normal, atol=1e-3)
    _, state = after(law, *seen)  # a reference at rest: what the tip does is no motion along it
    np.testing.assert_array_equal(state.normal, [0.0, 0.0, 1.0])


def test_a_wrench_in_another_direction_begins_again():
    law = HybridForceMotion(ARM, HybridForceMotionParameters())
    _, state = after(law, felt(FELT), felt(FELT))
    assert state.age == pytest.approx(2.0 * DT)
    _, state = law(state, felt(np.zeros(3)), at(Q, (10.0, 0.0, 0.0)), DT)
    assert state.age == -1.0
    np.testing.assert_allclose(state.normal, [-1.0, 0.0, 0.0])


def test_two_selected_axes_are_controlled_by_force_and_the_third_by_motion():
    law = HybridForceMotion(ARM, HybridForceMotionParameters(cancel_friction=False))
    wanted, reaction = np.array([3.0, 0.0, -10.0]), np.array([-4.0, 5.0, 4.0])
    reference = at(Q, wanted)
    reference.selection = np.diag([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    v = np.linalg.solve(ARM.jacobian(Q), [0.02, 0.03, -0.01, 0.0, 0.0, 0.0])
    tau, _ = after(law, felt(reaction, v), reference=reference)
    share = DT / 0.5
    # Both axes have the equation of one: goal, integral of the error, damping.
    force = (
        share * wanted
        + DT * 20.0 * (share * wanted + reaction)
        - 700.0 * np.array([0.02, 0.0, -0.01])
    )
    force[1] = 0.0
    free, _ = after(law, Measurement(Q, v), reference=at(Q, (0.0, 0.0, 0.0)))
    jacobian = ARM.jacobian(Q)
    mobility = jacobian @ np.linalg.solve(ARM.mass_matrix(Q), jacobian.T)
    braking = np.linalg.solve(mobility, [-60.0 * 0.02, 0.0, 60.0 * 0.01, 0.0, 0.0, 0.0])
    expected = free + jacobian.T @ (np.append(force, np.zeros(3)) - braking)
    np.testing.assert_allclose(tau, expected, atol=1e-9)


def test_parameters_that_are_set_begin_a_new_contact_and_end_no_return():
    law = HybridForceMotion(ARM, HybridForceMotionParameters())
    _, pressing = after(law, felt(FELT))
    above = at(Q + np.array([0.0, 0.2, 0.0, 0.0, 0.0, 0.0]))
    above.wrench = None
    rest = Measurement(Q, np.zeros(6))
    _, returning = law(pressing, rest, above, DT)
    tau, _ = law(returning, rest, above, DT)
    np.testing.assert_array_equal(law(law.resumed(returning), rest, above, DT)[0], tau)
    assert np.abs(law(law.start(rest, above), rest, above, DT)[0] - tau).max() > 10.0  # it springs
    begun = law(law.start(rest, above), felt(FELT), at(Q), DT)[0]
    np.testing.assert_array_equal(law(law.resumed(pressing), felt(FELT), at(Q), DT)[0], begun)


@pytest.mark.parametrize('sides', [False, True])
@pytest.mark.parametrize(('speed', 'force'), [(0.05, 0.0), (-0.005, 0.0), (-0.2, 4.0)])
def test_out_of_contact_the_speed_is_controlled(sides, speed, force):
    # The tool has touched; at -0.2 m/s the sensor feels the inertia of the tool.
    law = HybridForceMotion(ARM, HybridForceMotionParameters(rise_time=DT))
    reference = at(Q)
    if sides:
        reference.selection = np.diag([1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    _, state = after(law, felt(np.array([0.0, 0.0, 4.0])), reference=reference)
    v = np.linalg.solve(ARM.jacobian(Q), [0.0, 0.0, speed, 0.0, 0.0, 0.0])
    _, then = law(state, felt(np.array([0.0, 0.0, force]), v), reference, DT)
    grown = DT * 20.0 * (10.0 + 700.0 * speed)
    np.testing.assert_allclose(then.integral - state.integral, [grown], atol=1e-9)


@pytest.mark.parametrize(('speed', 'share'), [(0.0, 0.0), (0.002, 0.4), (0.1, 1.0)])
def test_friction_is_cancelled_while_the_reference_moves(speed, share):
    reference = at(Q)
    reference.v[:] = np.linalg.solve(ARM.jacobian(Q), [0.0, speed, 0.0, 0.0, 0.0, 0.0])
    cancels, leaves = (
        after(HybridForceMotion(ARM, parameters), felt(FELT), reference=reference)[0]
        for parameters in (
            HybridForceMotionParameters(),
            HybridForceMotionParameters(cancel_friction=False),
        )
    )
    friction = share * np.array([FELT[0], FELT[1], 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(cancels - leaves, -ARM.jacobian(Q).T @ friction, atol=1e-9)


def test_at_rest_the_integral_averages_the_noise_of_the_sensor():
    law = HybridForceMotion(ARM, HybridForceMotionParameters(contact_force=2.0))
    noise = np.random.default_rng(1).normal(0.0, 0.1, (2000, 3))
    pressed = [felt(np.array([0.0, 0.0, 10.0]) + each) for each in noise]
    errors, state = [], law.start(pressed[0], at(Q))
    for each in pressed:
        before, (_, state) = state, law(state, each, at(Q), DT)
        errors.append(float(state.integral[0] - before.integral[0]) / DT)
    errors, t = np.array(errors), DT * np.arange(1, 2001)
    share = np.clip(t / 0.5, 0.0, 1.0)
    gain = errors / (10.0 * share - 10.0 - noise[:, 2])
    np.testing.assert_allclose(gain[t < 0.5], 20.0, rtol=1e-6)
    rest = t[t > 0.51] - 0.5
    np.testing.assert_allclose(gain[t > 0.51], np.clip(2.0 / rest, 0.5, 20.0), rtol=0.02)
    # A bump, or a surface that moves, brings the gain back.
    _, state = law(state, felt(np.array([0.0, 0.0, 13.0])), at(Q), DT)
    assert state.rest == 0.0
    moving = at(Q)
    moving.v[:] = 1e-3
    _, state = law(state, pressed[0], at(Q), DT)
    assert state.rest > 0.0
    _, state = law(state, pressed[0], moving, DT)
    assert state.rest == 0.0
