"""Gains by natural frequency and damping ratio: what they make of the arm."""

from dataclasses import replace

import numpy as np
import pytest
from following import HOME
from running_law import RunningLaw

from arm_controllers.laws import law_class, law_names
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

WN, ZETA = np.linspace(8.0, 13.0, 6), np.linspace(0.6, 1.1, 6)
ARMATURE = np.linspace(0.1, 0.6, 6)
LINKS = RobotModel.from_urdf(find_urdf('ur5e'))
MODEL = RobotModel.from_urdf(find_urdf('ur5e'), armature=ARMATURE)


def law_with(name, frequency, ratio, **others):
    cls = law_class(name)
    design = cls.designed(MODEL, MODEL.neutral(), frequency, ratio)
    return cls(MODEL, replace(design, **others))


def reference_at(q):
    reference = Reference(6)
    reference.q[:] = q
    return reference


def acceleration(law, q, v, target):
    """Return what the arm with its rotors does under the law (n,)."""
    tau = RunningLaw(law)(q, v, reference_at(target), 0.002)
    mass = LINKS.mass_matrix(q) + np.diag(ARMATURE)
    return np.linalg.solve(mass, tau - MODEL.bias_torque(q, v))


@pytest.mark.parametrize(
    ('name', 'others'),
    [('computed_torque', {}), ('computed_torque_pid', {'ki': (0.0,)}), ('momentum_observer', {})],
)
def test_every_joint_is_a_second_order_system_at_every_pose_where_the_law_knows_the_inertia(
    name, others
):
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v, e = rng.uniform(-2, 2, 6), rng.uniform(-1, 1, 6), rng.uniform(-0.1, 0.1, 6)
        expected = WN**2 * e - 2 * ZETA * WN * v
        a = acceleration(law_with(name, WN, ZETA, **others), q, v, q + e)
        np.testing.assert_allclose(a, expected, atol=1e-9)


@pytest.mark.parametrize('name', ['pd', 'pd_feedforward'])
def test_torque_gains_are_for_the_joints_own_inertia_at_the_neutral_configuration(name):
    q0 = MODEL.neutral()
    law = law_with(name, WN, ZETA)
    inertia = LINKS.mass_matrix(q0).diagonal() + ARMATURE
    rng = np.random.default_rng(2)
    v, e = rng.uniform(-1, 1, 6), rng.uniform(-0.1, 0.1, 6)
    moving = RunningLaw(law)(q0, v, reference_at(q0 + e), 0.002)
    torque = moving - RunningLaw(law)(q0, 0 * v, reference_at(q0), 0.002)
    if name == 'pd_feedforward':  # its model is evaluated at the reference
        torque -= MODEL.gravity_torque(q0 + e) - MODEL.gravity_torque(q0)
    np.testing.assert_allclose(torque, inertia * (WN**2 * e - 2 * ZETA * WN * v), atol=1e-9)


def test_adaptive_law_at_rest_answers_an_error_by_the_square_of_the_frequency():
    law = law_with('adaptive_computed_torque', np.full(6, 9.0), np.full(6, 1.5))
    e = np.linspace(-0.1, 0.1, 6)
    a = acceleration(law, HOME, np.zeros(6), HOME + e)
    np.testing.assert_allclose(a, 81.0 * e, atol=1e-9)


WITH_GAINS = [name for name in law_names() if law_class(name).gains]


@pytest.mark.parametrize('name', WITH_GAINS)
def test_frequency_and_ratio_come_back_from_the_gains(name):
    law, q = law_class(name), MODEL.neutral()
    frequency, ratio = np.full(6, 12.0), np.full(6, 1.25)
    design = law.designed(MODEL, q, frequency, ratio)
    gains = [np.broadcast_to(getattr(design, gain), 6) for gain in law.gains]
    back = law.frequency_and_ratio(MODEL, q, *gains)
    np.testing.assert_allclose(back, (frequency, ratio), atol=1e-12)
    none = np.zeros(6)
    np.testing.assert_array_equal(
        law.frequency_and_ratio(MODEL, q, none, none), (none, np.ones(6))
    )


@pytest.mark.parametrize('name', WITH_GAINS)
def test_one_number_serves_all_joints(name):
    law, q = law_class(name), MODEL.neutral()
    one = RunningLaw(law(MODEL, law.designed(MODEL, q, 12.0, 1.25)))
    wn, zeta = np.full(6, 12.0), np.full(6, 1.25)
    each = RunningLaw(law(MODEL, law.designed(MODEL, q, wn, zeta)))
    state = HOME, np.full(6, 0.1), reference_at(HOME + 0.1), 0.002
    np.testing.assert_array_equal(one(*state), each(*state))


def test_two_real_poles_cannot_be_damped_less_than_critically():
    with pytest.raises(ArmError, match=r'damping_ratio is 0.5; with this law it must be >= 1'):
        law_with('adaptive_computed_torque', np.full(6, 10.0), np.full(6, 0.5))


def test_one_damping_rate_serves_all_joints():
    with pytest.raises(ArmError, match='damping rates from 8 to 13 1/s'):
        law_with('adaptive_computed_torque', WN, np.ones(6))


def test_which_laws_have_gains_by_frequency():
    have = [
        'adaptive_computed_torque',
        'computed_torque',
        'computed_torque_pid',
        'momentum_observer',
        'motor_computed_torque',
        'pd',
        'pd_feedforward',
    ]
    have_not = ['independent_joint', 'joint_impedance', 'operational_space', 'pose_pid', 'servo']
    assert set(have) <= set(WITH_GAINS)
    assert not set(have_not) & set(WITH_GAINS)
