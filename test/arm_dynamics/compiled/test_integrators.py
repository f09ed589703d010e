"""Orders, energy and stability of the integrators, on a frictionless arm."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import CompiledModel, ForwardModel, ForwardModelParameters
from arm_dynamics.compiled.integrators import (
    INTEGRATORS,
    SCRATCH,
    STAGES,
    A,
    begin_stage,
    end_stage,
    end_step,
)
from arm_dynamics.compiled.stability import largest_stable_step
from arm_dynamics.robots import find_urdf

START_Q = np.array([0.3, -0.8, 0.5, 0.4, 0.2])
START_V = np.array([0.5, -0.4, 0.8, 1.0, -1.0])
DURATION = 0.1
ORDER = {'explicit_euler': 1, 'semi_implicit_euler': 1, 'velocity_verlet': 2, 'rk4': 4}


def integrate(name, acceleration, q, v, h):
    """Return q and v one step h [s] later, for a function acceleration(q, v) -> a."""
    integrator, q, v = INTEGRATORS.index(name), q.copy(), v.copy()
    scratch = np.zeros((SCRATCH, q.size))
    for stage in range(STAGES[integrator]):
        begin_stage(integrator, stage, q, v, h, scratch)
        scratch[A] = acceleration(scratch[0], scratch[1])
        end_stage(stage, scratch)
    end_step(integrator, q, v, h, scratch)
    return q, v


@pytest.fixture(scope='module')
def model():
    return RobotModel.from_urdf(find_urdf('five_joint_arm'))


@pytest.fixture(scope='module')
def run(model):
    """Return a function that runs the frictionless, free arm for DURATION."""

    def simulate(integrator, steps, duration=DURATION):
        forward = ForwardModel(model, ForwardModelParameters(integrator=integrator))
        state = forward.initial_state(START_Q, START_V)
        return forward.step(state, np.zeros(5), duration / steps, steps)

    return simulate


@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.slow
def test_error_falls_with_the_order_of_the_integrator(run, integrator):
    exact = run('rk4', 4000)
    steps = np.array([40, 80, 160, 320]) if integrator == 'rk4' else np.array([100, 200, 400, 800])
    errors = [np.abs(run(integrator, int(n)) - exact).max() for n in steps]
    slope = np.polyfit(np.log(DURATION / steps), np.log(errors), 1)[0]
    assert_allclose(slope, ORDER[integrator], atol=0.15)


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_compiled_steps_equal_plain_ones(model, run, integrator):
    def acceleration(q, v):
        return model.forward_dynamics(q, v, np.zeros(5))

    q, v = START_Q, START_V
    for _ in range(50):
        q, v = integrate(integrator, acceleration, q, v, DURATION / 50)
    assert_allclose(run(integrator, 50), np.concatenate([q, v]), rtol=1e-10, atol=1e-10)


def energy(model, state):
    q, v = state[:5], state[5:]
    potential = pin.computePotentialEnergy(model.pin_model, model.pin_data, model.to_pin(q))
    return 0.5 * v @ model.mass_matrix(q) @ v + potential


def test_energy_drift_falls_with_the_order(model, run):
    start = energy(model, np.concatenate([START_Q, START_V]))
    drift = {name: abs(energy(model, run(name, 1000, 1.0)) - start) for name in INTEGRATORS}
    assert drift['rk4'] < 1e-7 < drift['velocity_verlet'] < 1e-2
    assert drift['velocity_verlet'] < 0.1 * drift['semi_implicit_euler']
    assert drift['semi_implicit_euler'] < drift['explicit_euler']


def test_explicit_euler_gains_the_energy_that_semi_implicit_keeps_on_an_oscillator():
    def spring(q, v):
        return -q

    for name, low, high in (
        ('explicit_euler', 2.0, np.inf),
        ('semi_implicit_euler', 0.9, 1.1),
        ('velocity_verlet', 0.9, 1.1),
        ('rk4', 0.99, 1.0 + 1e-12),
    ):
        q, v = np.array([1.0]), np.array([0.0])
        for _ in range(1000):
            q, v = integrate(name, spring, q, v, 0.1)
        assert low < q[0] ** 2 + v[0] ** 2 < high


@pytest.mark.parametrize(
    ('integrator', 'stiffness', 'damping', 'limit'),
    [
        # Of q'' = -k q - d q' at mass 1, from each method's stability polynomial.
        ('explicit_euler', 0.0, 100.0, 2.0 / 100.0),
        ('rk4', 0.0, 100.0, 2.785293563 / 100.0),
        ('semi_implicit_euler', 100.0, 0.0, 2.0 / 10.0),
        ('velocity_verlet', 100.0, 0.0, 2.0 / 10.0),
        ('rk4', 100.0, 0.0, 2.0 * np.sqrt(2.0) / 10.0),
    ],
)
def test_largest_stable_step_is_the_textbook_one(integrator, stiffness, damping, limit):
    slider = (
        '<robot name="slider"><link name="base"/><link name="car"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="rail" type="prismatic"><parent link="base"/><child link="car"/>'
        '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    found = largest_stable_step(
        RobotModel.from_urdf(slider),
        integrator,
        np.array([stiffness]),
        np.array([damping]),
        samples=1,
    )
    assert_allclose(found, limit, rtol=5e-3)


def test_unknown_integrator_is_refused():
    with pytest.raises(ArmError, match="integrator is 'leapfrog'; allowed: explicit_euler, "):
        ForwardModelParameters(integrator='leapfrog')


def test_the_same_arm_has_one_generated_module(model):
    assert CompiledModel(model).module is CompiledModel(model).module
