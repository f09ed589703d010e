"""Models that are wrong on purpose, and the laws that find out."""

import numpy as np
import pinocchio as pin
import pytest

from arm_controllers.laws.adaptive_computed_torque import (
    AdaptiveComputedTorque,
    AdaptiveComputedTorqueParameters,
)
from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.laws.momentum_observer import MomentumObserver, MomentumObserverParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks.sinusoid import JointSinusoid

Q = np.array([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e'))


def inertias(model):
    return list(model.pin_model.inertias[1:])


def test_no_error_is_the_same_model(ur5e):
    assert with_error(ur5e, ModelError()) is ur5e


def test_mass_scale_of_one_link_scales_its_mass_and_inertia_alone(ur5e):
    scales = (1.0, 1.3, 1.0, 1.0, 1.0, 0.7)
    for scale, link, wrong in zip(
        scales, inertias(ur5e), inertias(with_error(ur5e, ModelError(scales))), strict=True
    ):
        expected = pin.Inertia(scale * link.mass, link.lever, scale * link.inertia)
        assert wrong.isApprox(expected, 1e-12)


def test_inertia_scale_leaves_masses_and_gravity_torque_alone(ur5e):
    wrong = with_error(ur5e, ModelError(inertia_scale=(2.0,)))
    np.testing.assert_allclose(wrong.gravity_torque(Q), ur5e.gravity_torque(Q), atol=1e-12)
    for link, other in zip(inertias(ur5e), inertias(wrong), strict=True):
        np.testing.assert_allclose(other.inertia, 2.0 * link.inertia, rtol=1e-12)


def test_com_shift_moves_every_centre_of_mass(ur5e):
    wrong = with_error(ur5e, ModelError(com_shift=(0.01, -0.02, 0.03)))
    for link, other in zip(inertias(ur5e), inertias(wrong), strict=True):
        np.testing.assert_allclose(other.lever - link.lever, [0.01, -0.02, 0.03], atol=1e-12)


def test_payloads_of_several_errors_add_up(ur5e):
    several = with_error(with_error(ur5e, ModelError(payload=1.5)), ModelError(payload=0.5))
    several = with_error(several, ModelError(payload=1.0))
    one = with_error(ur5e, ModelError(payload=3.0))
    expected = one.gravity_torque(Q)
    np.testing.assert_allclose(several.gravity_torque(Q), expected, rtol=0, atol=1e-9)


def test_payload_weighs_on_the_joints_as_a_force_on_the_tool(ur5e):
    loaded = with_error(ur5e, ModelError(payload=2.0))
    weight = np.array([0.0, 0.0, -2.0 * 9.81, 0.0, 0.0, 0.0])
    expected = ur5e.gravity_torque(Q) - ur5e.jacobian(Q).T @ weight
    np.testing.assert_allclose(loaded.gravity_torque(Q), expected, atol=1e-10)
    assert loaded.tip_frame == ur5e.tip_frame


def test_gravity_friction_and_limits_are_replaced(ur5e):
    error = ModelError(gravity=(0.0, 0.0, -1.6), friction=(0.5,), damping=(0.1,), effort_scale=0.5)
    wrong = with_error(ur5e, error)
    np.testing.assert_allclose(
        wrong.gravity_torque(Q), 1.6 / 9.81 * ur5e.gravity_torque(Q), atol=1e-12
    )
    np.testing.assert_allclose(wrong.effort_limit, 0.5 * ur5e.effort_limit)
    np.testing.assert_array_equal(wrong.friction, np.full(6, 0.5))
    np.testing.assert_array_equal(wrong.damping, np.full(6, 0.1))


def test_an_error_leaves_the_rest_of_the_model_as_it_was():
    model = RobotModel.from_urdf(find_urdf('ur5e'), None, (0, 0, -1.6), 0.1, 0.2, 0.3)
    wrong = with_error(model, ModelError(payload=1.0, armature=(0.4,), damping=(0.5,)))
    np.testing.assert_array_equal(wrong.gravity, (0, 0, -1.6))
    np.testing.assert_array_equal(wrong.armature, np.full(6, 0.5))
    np.testing.assert_array_equal(wrong.damping, np.full(6, 0.5))
    np.testing.assert_array_equal(wrong.friction, np.full(6, 0.3))
    with pytest.raises(ArmError, match='model_error.friction has 2 values; allowed: 1 or one'):
        with_error(model, ModelError(friction=(1.0, 2.0)))


def test_armature_is_rotor_inertia_at_the_joints_and_nothing_else(ur5e):
    rotors = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    wrong = with_error(ur5e, ModelError(armature=tuple(rotors)))
    v, a = np.linspace(-1.0, 1.0, 6), np.linspace(2.0, -1.0, 6)
    extra = wrong.mass_matrix(Q) - ur5e.mass_matrix(Q)
    np.testing.assert_allclose(extra, np.diag(rotors), atol=1e-12)
    tau = wrong.inverse_dynamics(Q, v, a)
    np.testing.assert_allclose(tau - ur5e.inverse_dynamics(Q, v, a), rotors * a, atol=1e-12)
    np.testing.assert_allclose(wrong.forward_dynamics(Q, v, tau), a, atol=1e-10)
    np.testing.assert_allclose(wrong.bias_torque(Q, v), ur5e.bias_torque(Q, v), atol=1e-12)


def test_both_engines_have_the_same_wrong_arm(ur5e):
    error = ModelError((1.3, 0.7, 1.0, 1.1, 0.9, 1.2), (0.8,), (0.01, 0.0, -0.01), 2.0)
    wrong = with_error(ur5e, error)
    plant = MujocoPlant(wrong, PlantParameters(actuator='torque'))
    plant.reset(Q, np.ones(6))
    np.testing.assert_allclose(plant.mass_matrix(), wrong.mass_matrix(Q), atol=1e-9)
    np.testing.assert_allclose(plant.bias_torque(), wrong.bias_torque(Q, np.ones(6)), atol=1e-9)


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        ({'mass_scale': (0.0,)}, 'model_error.mass_scale is 0; it must be finite, > 0'),
        ({'inertia_scale': (-1.0,)}, 'model_error.inertia_scale is -1'),
        ({'payload': -0.5}, 'model_error.payload is -0.5'),
        ({'com_shift': (0.1,)}, 'model_error.com_shift .* three finite numbers'),
        ({'gravity': (0.0, np.nan, 0.0)}, 'model_error.gravity'),
        ({'friction': (-1.0,)}, 'model_error.friction is -1'),
        ({'armature': (-0.1,)}, 'model_error.armature is -0.1'),
        ({'effort_scale': 0.0}, 'model_error.effort_scale is 0'),
    ],
)
def test_impossible_errors_are_refused(fields, message):
    with pytest.raises(ArmError, match=message):
        ModelError(**fields)


def test_a_wrong_count_of_scales_is_refused(ur5e):
    with pytest.raises(ArmError, match='mass_scale has 2 values; allowed: 1 or 6'):
        with_error(ur5e, ModelError(mass_scale=(1.0, 1.1)))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'error',
    [
        ModelError(mass_scale=(1.3,)),
        ModelError(mass_scale=(0.7,)),
        ModelError(payload=2.0),
        ModelError(mass_scale=(1.3,), payload=2.0),
        ModelError(mass_scale=(0.7,), payload=2.0),
    ],
    ids=lambda error: f'mass {error.mass_scale[0]} payload {error.payload}',
)
def test_observer_and_adaptive_law_track_ten_times_better_than_plain_computed_torque(ur5e, error):
    """The laws know the URDF; the arm is another one. Same gains, RMS over all joints and 4 s."""
    plant = MujocoPlant(
        with_error(ur5e, error),
        PlantParameters(actuator='torque', timestep=1e-3, integrator='euler'),
    )
    sinusoid = JointSinusoid((0.3, 0.2, 0.4, 0.3, 0.3, 0.3), 0.5, center=Q)
    errors = []
    for law in (
        ComputedTorque(ur5e, ComputedTorqueParameters()),
        MomentumObserver(ur5e, MomentumObserverParameters()),
        AdaptiveComputedTorque(ur5e, AdaptiveComputedTorqueParameters()),
    ):
        record = run_closed_loop(plant, law, sinusoid.evaluate, 4.0)
        assert record.completed
        errors.append(np.sqrt(np.mean((record.q - record.q_reference) ** 2)))
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 0.1 * errors[0]


def test_a_drawn_arm_has_the_notes_of_the_arm_and_looks_for_none(ur5e):
    assert with_error(ur5e, ModelError(payload=1.0)).notes is ur5e.notes
