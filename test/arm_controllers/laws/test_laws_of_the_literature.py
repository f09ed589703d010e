"""Each law's own promise: poles, passivity, estimates, errors at rest."""

import numpy as np
import pinocchio as pin
import pytest
from running_law import RunningLaw
from simulated_law import linearised, rest_reference, run

from arm_controllers.laws.adaptive_computed_torque import (
    AdaptiveComputedTorque,
    AdaptiveComputedTorqueParameters,
    natural_gain,
    pseudo_inertia,
)
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.laws.computed_torque_pid import ComputedTorquePid, ComputedTorquePidParameters
from arm_controllers.laws.independent_joint import IndependentJoint, IndependentJointParameters
from arm_controllers.laws.joint_impedance import JointImpedance, JointImpedanceParameters
from arm_controllers.laws.momentum_observer import MomentumObserver, MomentumObserverParameters
from arm_controllers.laws.operational_space import OperationalSpace, OperationalSpaceParameters
from arm_controllers.laws.pd import PD, PDParameters
from arm_controllers.laws.pd_feedforward import PDFeedforward, PDFeedforwardParameters
from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf

Q = np.array([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])
DT = 1e-3


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e'))


def running(law, *arguments):
    return RunningLaw(law(*arguments))


def moving_reference(rng, n=6):
    reference = Reference(n)
    reference.q[:], reference.v[:], reference.a[:] = rng.uniform(-1, 1, (3, n))
    return reference


# PD with feedforward


def energy_rate(model, q, v, tau, stored):
    """Rate of 1/2 v^T M v + stored(q) on the motion under tau, by central differences."""
    step, a = 1e-7, model.forward_dynamics(q, v, tau)

    def energy(t):
        x, w = q + t * v + 0.5 * t * t * a, v + t * a
        return 0.5 * w @ model.mass_matrix(x) @ w + stored(x)

    return (energy(step) - energy(-step)) / (2.0 * step)


def test_energy_of_pd_with_gravity_falls_by_what_its_damping_takes_in_every_state(ur5e):
    law = running(PD, ur5e, PDParameters((300.0,), (50.0,)))
    rng = np.random.default_rng(2)
    for _ in range(10):
        target, q, v = rng.uniform(-1.0, 1.0, (3, 6))
        tau = law(q, v, rest_reference(target), DT)
        rate = energy_rate(ur5e, q, v, tau, lambda x, t=target: 150.0 * (x - t) @ (x - t))
        np.testing.assert_allclose(rate, -50.0 * v @ v, rtol=1e-5)


@pytest.mark.parametrize('level', ['none', 'inverse_dynamics'])
def test_energy_of_a_servo_falls_by_what_the_drive_takes_in_every_state(ur5e, level):
    """The drive's spring, and what the feedforward leaves of gravity, store the rest."""
    kp, kd = 2000.0, 400.0
    law = running(Servo, ur5e, ServoParameters(level, servo_kp=(kp,), servo_kd=(kd,)))
    rng = np.random.default_rng(3)
    for _ in range(10):
        target, q, v = rng.uniform(-1.0, 1.0, (3, 6))
        held = ur5e.gravity_torque(target) if level == 'inverse_dynamics' else np.zeros(6)
        tau = kp * (law(q, v, rest_reference(target), DT) - q) - kd * v

        def stored(x, t=target, g=held):
            height = pin.computePotentialEnergy(ur5e.pin_model, ur5e.pin_data, x)
            return 0.5 * kp * (x - t) @ (x - t) + height - g @ x

        rate = energy_rate(ur5e, q, v, tau, stored)
        np.testing.assert_allclose(rate, -kd * v @ v, rtol=1e-5)


def test_pd_feedforward_on_the_reference_is_inverse_dynamics(ur5e):
    reference = moving_reference(np.random.default_rng(1))
    for where in ('reference', 'measured'):
        law = running(PDFeedforward, ur5e, PDFeedforwardParameters(feedforward_at=where))
        tau = law(reference.q, reference.v, reference, DT)
        expected = ur5e.inverse_dynamics(reference.q, reference.v, reference.a)
        np.testing.assert_allclose(tau, expected, rtol=1e-12)


def test_pd_feedforward_is_stable_where_its_gains_outweigh_gravity(ur5e):
    """At rest the reference form keeps a constant torque: K must beat the gradient of gravity."""
    stiff = running(PDFeedforward, ur5e, PDFeedforwardParameters((500.0,), (50.0,)))
    assert np.linalg.eigvals(linearised(ur5e, stiff, Q)).real.max() < 0.0
    upright = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
    soft = running(PDFeedforward, ur5e, PDFeedforwardParameters((10.0,), (50.0,)))
    assert np.linalg.eigvals(linearised(ur5e, soft, upright)).real.max() > 0.0


# Computed torque


def test_computed_torque_has_the_designed_poles_at_every_joint(ur5e):
    law = running(ComputedTorque, ur5e, ComputedTorqueParameters((400.0,), (30.0,)))
    poles = np.linalg.eigvals(linearised(ur5e, law, Q))
    designed = np.roots([1.0, 30.0, 400.0])
    distance = np.abs(poles[:, np.newaxis] - designed).min(axis=1)
    assert distance.max() < 1e-3


@pytest.mark.slow
def test_computed_torque_pid_error_decays_as_its_characteristic_polynomial_says(ur5e):
    kp, ki, kd = 300.0, 600.0, 40.0
    law = running(ComputedTorquePid, ur5e, ComputedTorquePidParameters((kp,), (ki,), (kd,)))
    offset, reference = np.array([0.1, -0.05, 0.05, 0.1, -0.1, 0.1]), rest_reference(Q)
    matrix = np.array([[0, 1, 0], [0, 0, 1], [-ki, -kp, -kd]], dtype=float)  # of (E, e, de)
    values, vectors = np.linalg.eig(matrix)
    weights = np.linalg.solve(vectors, np.array([0, 1, 0], dtype=complex))
    for t, q, _ in run(ur5e, law, lambda t: reference, Q - offset, np.zeros(6), 1.0, dt=2e-4):
        share = (vectors @ (weights * np.exp(values * t)))[1].real
        np.testing.assert_allclose(Q - q, share * offset, atol=2e-4)  # of the sampling


@pytest.mark.slow
def test_integral_leaves_no_error_under_a_constant_unknown_torque(ur5e):
    push, reference = np.array([5.0, -8.0, 4.0, 0.5, 0.5, 0.1]), rest_reference(Q)
    kp, kd = (400.0,), (40.0,)
    ends = []
    for law in (
        running(ComputedTorque, ur5e, ComputedTorqueParameters(kp, kd)),
        running(ComputedTorquePid, ur5e, ComputedTorquePidParameters(kp, (2000.0,), kd, 2000.0)),
    ):
        *_, (_, q, _) = run(ur5e, law, lambda t: reference, Q, np.zeros(6), 4.0, push)
        ends.append(np.abs(q - Q).max())
    assert ends[0] > 1e-2
    assert ends[1] < 1e-6


def test_integral_is_constant_beyond_the_effort_limit_and_at_its_own_bound(ur5e):
    law = running(
        ComputedTorquePid, ur5e, ComputedTorquePidParameters((400.0,), (2000.0,), (40.0,), 50.0)
    )
    far = rest_reference(Q + 3.0)
    for _ in range(1000):
        tau = law(Q, np.zeros(6), far, DT)
    beyond = tau > ur5e.effort_limit  # the error is positive at every joint
    assert 0 < beyond.sum() < 6
    assert np.all(law.state[0][beyond] < 50.0)
    np.testing.assert_array_equal(law.state[0][~beyond], 50.0)
    law.reset(Q, np.zeros(6))
    np.testing.assert_array_equal(law.state[0], 0.0)


# Independent joints


def test_large_rotors_give_independent_joints_their_designed_poles(ur5e):
    heavy = with_error(ur5e, ModelError(armature=(1e5,)))
    law = running(
        IndependentJoint, heavy, IndependentJointParameters((15.0,), (0.8,), integral_rate=0.0)
    )
    law.reset(Q, np.zeros(6))
    poles = np.linalg.eigvals(linearised(heavy, law, Q))
    designed = np.roots([1.0, 2 * 0.8 * 15.0, 15.0**2])
    distance = np.abs(poles[:, np.newaxis] - designed).min(axis=1)
    assert distance.max() < 2e-2


def test_independent_joints_take_over_without_a_jump_and_hold(ur5e):
    law, reference = (
        running(IndependentJoint, ur5e, IndependentJointParameters()),
        rest_reference(Q),
    )
    law.reset(Q, np.zeros(6))
    np.testing.assert_allclose(law(Q, np.zeros(6), reference, DT), ur5e.gravity_torque(Q))


# Momentum observer


def test_a_momentum_observer_that_grows_with_its_period_is_refused(ur5e):
    law = MomentumObserver(
        ur5e, MomentumObserverParameters(observer_gain=(150.0,) * 5 + (1000.0,))
    )
    law.check_period(0.0019)
    with pytest.raises(ArmError, match=r"'wrist_3_joint' is 1000; .* 0.002 s it must be < 1000$"):
        law.check_period(0.002)


def test_observer_sees_a_push_as_a_first_order_low_pass(ur5e):
    gain, dt = 40.0, 2e-4
    law = running(MomentumObserver, ur5e, MomentumObserverParameters(observer_gain=(gain,)))
    push, reference = np.array([5.0, -8.0, 4.0, 0.5, 0.5, 0.1]), rest_reference(Q)
    for t, _, _ in run(ur5e, law, lambda t: reference, Q, np.zeros(6), 0.3, push, dt):
        if t > 0:  # the estimate is of the state before this one
            expected = push * -np.expm1(-gain * (t - dt))
            np.testing.assert_allclose(
                law.state.disturbance, expected, atol=0.01 * np.abs(push).max()
            )


@pytest.mark.slow
def test_observer_sees_nothing_where_the_model_is_exact(ur5e):
    law = running(MomentumObserver, ur5e, MomentumObserverParameters())
    reference = rest_reference(Q)
    largest = 0.0
    for _ in run(ur5e, law, lambda t: reference, Q - 0.05, np.zeros(6), 1.0, dt=2e-4):
        largest = max(largest, np.abs(law.state.disturbance).max())
    assert largest < 0.3  # [N.m] of sampling; the torques themselves reach 60


# Adaptive


def test_regressor_times_inertial_parameters_is_the_dynamics_of_the_links():
    urdf, rng = find_urdf('ur5e'), np.random.default_rng(2)
    links, arm = RobotModel.from_urdf(urdf), RobotModel.from_urdf(urdf, armature=0.3, damping=2.0)
    for _ in range(20):
        q, v, w, dw = rng.uniform(-2, 2, (4, 6))
        expected = (
            links.mass_matrix(q) @ dw + links.coriolis_matrix(q, v) @ w + links.gravity_torque(q)
        )
        tau = arm.regressor(q, v, w, dw) @ arm.inertial_parameters()
        np.testing.assert_allclose(tau, expected, rtol=1e-10, atol=1e-10)


def test_adaptive_law_counts_rotors_once_and_learns_the_links_alone(ur5e):
    arm = RobotModel(ur5e.urdf, armature=np.linspace(0.1, 0.6, 6), damping=2.0, friction=0.5)
    law = running(AdaptiveComputedTorque, arm, AdaptiveComputedTorqueParameters((20.0,), 15.0))
    law.reset(Q, np.zeros(6))
    np.testing.assert_array_equal(law.state[0], ur5e.inertial_parameters())
    rng = np.random.default_rng(3)
    for _ in range(5):
        law.reset(Q, np.zeros(6))
        reference = moving_reference(rng)
        q, v = reference.q + rng.uniform(-0.1, 0.1, 6), rng.uniform(-1, 1, 6)
        w = reference.v + 20.0 * (reference.q - q)
        dw = reference.a + 20.0 * (reference.v - v)
        expected = arm.mass_matrix(q) @ (dw - 15.0 * (v - w)) + arm.coriolis_matrix(q, v) @ w
        expected += arm.gravity_torque(q) + arm.friction_torque(w)
        np.testing.assert_allclose(law(q, v, reference, DT), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_adaptive_law_lyapunov_function_never_rises_with_wrong_parameters(ur5e):
    arm = with_error(ur5e, ModelError(mass_scale=(1.3,)))
    law = running(
        AdaptiveComputedTorque, ur5e, AdaptiveComputedTorqueParameters(adaptation_gain=0.2)
    )
    truth = np.concatenate([x.toDynamicParameters() for x in arm.pin_model.inertias[1:]])
    metric = np.linalg.inv(law.law.gain)
    reference, values = rest_reference(Q), []
    for _, q, v in run(arm, law, lambda t: reference, Q - 0.1, np.zeros(6), 0.5, dt=5e-5):
        s = v - 20.0 * (Q - q)
        lack = (law.state[0] - truth).reshape(6, 10)
        values.append(
            0.5 * s @ arm.mass_matrix(q) @ s + 0.5 * np.einsum('ij,ijk,ik', lack, metric, lack)
        )
    assert np.diff(values).max() < 1e-4 * values[0]  # of the sampling
    assert values[-1] < 0.999 * values[0]


def test_adaptive_law_comes_to_rest_after_a_step_that_saturates_it(ur5e):
    """Its estimate, far off, asked for more than the joints have, for ever."""
    model = RobotModel(ur5e.urdf, armature=0.1)
    arm = with_error(model, ModelError(payload=0.5))
    law = running(AdaptiveComputedTorque, model, AdaptiveComputedTorqueParameters())
    start = np.array([-1.571, -1.571, 1.571, -1.571, -1.571, 0.0])

    def limited(q, v, reference, dt):
        return np.clip(law(q, v, reference, dt), -arm.effort_limit, arm.effort_limit)

    limited.reset = law.reset
    rest, stepped = rest_reference(start), rest_reference(start + 0.1)
    *_, (_, q, v) = run(
        arm, limited, lambda t: rest if t < 0.1 else stepped, start, np.zeros(6), 1.5
    )
    np.testing.assert_allclose(q, start + 0.1, atol=0.01)
    assert np.abs(v).max() < 0.01


def test_adaptive_law_with_the_right_parameters_is_computed_torque(ur5e):
    adaptive = running(
        AdaptiveComputedTorque,
        ur5e,
        AdaptiveComputedTorqueParameters((20.0,), 20.0, adaptation_gain=0.0),
    )
    plain = running(ComputedTorque, ur5e, ComputedTorqueParameters((400.0,), (40.0,)))
    reference = moving_reference(np.random.default_rng(3))
    q = reference.q - 0.1
    np.testing.assert_allclose(
        adaptive(q, reference.v, reference, DT)
        - ur5e.coriolis_matrix(q, reference.v) @ np.full(6, 2.0),
        plain(q, reference.v, reference, DT),
        rtol=1e-10,
    )


# Joint impedance


def test_impedance_gives_every_mode_the_damping_ratio(ur5e):
    stiffness = np.array([300.0, 400.0, 200.0, 50.0, 30.0, 20.0])
    law = running(
        JointImpedance, ur5e, JointImpedanceParameters(tuple(stiffness), damping_ratio=0.6)
    )
    mass = ur5e.mass_matrix(Q)
    rest, reference = np.zeros(6), rest_reference(Q)
    torques = [law(Q, rest, reference, DT)]
    for reference.v[:] in np.eye(6):
        torques.append(law(Q, rest, reference, DT))
    damping = np.array(torques[1:]) - torques[0]  # row by row
    np.testing.assert_allclose(damping, damping.T, rtol=1e-12, atol=1e-12)
    inverse = np.linalg.inv(mass)
    state = np.block([[np.zeros((6, 6)), np.eye(6)], [-inverse * stiffness, -inverse @ damping]])
    poles = np.linalg.eigvals(state)
    np.testing.assert_allclose(-poles.real / np.abs(poles), 0.6, rtol=1e-6)


@pytest.mark.slow
def test_pushed_impedance_gives_way_by_torque_over_stiffness_and_loses_energy(ur5e):
    law, push = running(JointImpedance, ur5e, JointImpedanceParameters((80.0,))), np.zeros(6)
    push[1] = 6.0
    reference, energies = rest_reference(Q), []
    for _, q, v in run(ur5e, law, lambda t: reference, Q, np.zeros(6), 3.0, push, 5e-4):
        error = q - Q
        energy = 0.5 * v @ ur5e.mass_matrix(q) @ v + 0.5 * 80.0 * error @ error - push @ error
        energies.append(energy)
    assert np.diff(energies).max() < 1e-4
    np.testing.assert_allclose(error, push / 80.0, atol=1e-4)


# Operational space


def test_tip_acceleration_is_what_was_asked_whatever_the_posture_wants(ur5e):
    rng = np.random.default_rng(5)
    reference, v = rest_reference(Q), rng.uniform(-0.5, 0.5, 6)
    q = Q + rng.uniform(-0.1, 0.1, 6)
    tips, joints = [], []
    for posture in (0.0, 300.0):
        law = running(
            OperationalSpace,
            ur5e,
            OperationalSpaceParameters(posture_kp=posture, axes=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0)),
        )
        a = ur5e.forward_dynamics(q, v, law(q, v, reference, DT))
        step = 1e-5
        there = ur5e.jacobian(q + step * v) @ (v + step * a)
        back = ur5e.jacobian(q - step * v) @ (v - step * a)
        tips.append(((there - back) / (2 * step))[:3])
        joints.append(a)
    position = ur5e.forward_kinematics(q).translation
    expected = (
        400.0 * (ur5e.forward_kinematics(Q).translation - position)
        - 40.0 * (ur5e.jacobian(q) @ v)[:3]
    )
    np.testing.assert_allclose(tips[0], expected, atol=1e-5)
    np.testing.assert_allclose(tips[1], expected, atol=1e-5)
    assert np.abs(joints[0] - joints[1]).max() > 1.0


def test_operational_space_has_the_designed_poles(ur5e):
    law = running(
        OperationalSpace, ur5e, OperationalSpaceParameters((400.0,), (30.0,), threshold=1e-9)
    )
    poles = np.linalg.eigvals(linearised(ur5e, law, Q))
    designed = np.roots([1.0, 30.0, 400.0])
    distance = np.abs(poles[:, np.newaxis] - designed).min(axis=1)
    assert distance.max() < 1e-2


def test_operational_space_stays_finite_and_at_rest_in_a_singularity(ur5e):
    stretched = np.array([0.0, -1.0, 0.0, -1.5, 0.0, 0.0])
    law = running(OperationalSpace, ur5e, OperationalSpaceParameters())
    tau = law(stretched, np.zeros(6), rest_reference(stretched), DT)
    np.testing.assert_allclose(tau, ur5e.gravity_torque(stretched), atol=1e-9)
    poles = np.linalg.eigvals(linearised(ur5e, law, stretched))
    assert poles.real.max() < 0.0


@pytest.mark.parametrize(
    ('build', 'message'),
    [
        (lambda m: PDFeedforward(m, PDFeedforwardParameters(kp=(-1.0,))), 'kp of joint .* is -1'),
        (
            lambda m: PDFeedforwardParameters(feedforward_at='there'),
            'allowed: reference, measured',
        ),
        (
            lambda m: ComputedTorquePid(
                m, ComputedTorquePidParameters((10.0,), (100.0,), (10.0,))
            ),
            "ki of joint 'shoulder_pan_joint' is 100; it must be < kp kd = 100",
        ),
        (
            lambda m: IndependentJoint(m, IndependentJointParameters(damping_ratio=(0.0,))),
            'damping_ratio of joint .* is 0; it must be > 0',
        ),
        (
            lambda m: IndependentJoint(m, IndependentJointParameters((1.0,), integral_rate=3.0)),
            'stable below 2 zeta wn = 2',
        ),
        (
            lambda m: MomentumObserver(m, MomentumObserverParameters(observer_gain=(-1.0,))),
            'observer_gain of joint',
        ),
        (
            lambda m: AdaptiveComputedTorqueParameters(expected_payload=-1.0),
            'expected_payload is -1; it must be',
        ),
        (lambda m: JointImpedanceParameters(damping_ratio=0.0), 'damping_ratio is 0'),
        (
            lambda m: JointImpedance(m, JointImpedanceParameters(stiffness=(0.0,))),
            'stiffness of joint .* must be > 0',
        ),
        (lambda m: OperationalSpaceParameters(axes=(0.0,) * 6), 'six of 0 and 1, not all 0'),
        (lambda m: OperationalSpace(m, OperationalSpaceParameters(tip_frame='x')), "no frame 'x'"),
    ],
)
def test_bad_parameters_are_refused_with_name_and_value(ur5e, build, message):
    with pytest.raises(ArmError, match=message):
        build(ur5e)


def test_pseudo_inertia_is_the_sum_of_masses_times_their_homogeneous_positions():
    rng = np.random.default_rng(4)
    masses, points = rng.uniform(0.1, 1.0, 20), rng.normal(size=(20, 3))
    inertia = sum(
        m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, points, strict=True)
    )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    link = np.array([masses.sum(), *(masses @ points), xx, xy, yy, xz, yz, zz])
    homogeneous = np.column_stack([points, np.ones(20)])
    expected = (homogeneous.T * masses) @ homogeneous
    np.testing.assert_allclose(pseudo_inertia(link), expected, rtol=1e-12, atol=1e-12)


def test_natural_gain_is_the_inverse_of_the_pseudo_inertia_metric(ur5e):
    link = ur5e.inertial_parameters().reshape(6, 10)[2]
    inverse = np.linalg.inv(pseudo_inertia(link))
    moved = [inverse @ pseudo_inertia(unit) for unit in np.eye(10)]
    metric = np.array([[np.trace(a @ b) for a in moved] for b in moved])
    np.testing.assert_allclose(natural_gain(link) @ metric, np.eye(10), atol=1e-8)
