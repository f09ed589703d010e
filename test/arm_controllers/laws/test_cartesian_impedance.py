"""Cartesian impedance: what gives way to a push, what is pressed, and a stiffness that changes."""

from dataclasses import replace

import numpy as np
import pytest
from running_law import RunningLaw
from simulated_law import linearised, rest_reference, run

from arm_controllers.laws import Measurement
from arm_controllers.laws.cartesian_impedance import (
    CartesianImpedance,
    CartesianImpedanceParameters,
)
from arm_controllers.task_space import TaskSpace, pose_error
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import find_urdf
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

ARM = RobotModel(find_urdf('ur5e'), armature=0.1)
Q = np.array([0.1, -1.4, 1.9, -2.0, -1.5, 0.2])
DT = 0.002
STIFFNESS = np.array([800.0, 500.0, 1200.0, 40.0, 60.0, 30.0])


def law(**given):
    return CartesianImpedance(ARM, CartesianImpedanceParameters(**given))


def error(q):
    """Return the pose error (6,) of q against Q."""
    space = TaskSpace(ARM)
    motions = [space.motion(Measurement(each, np.zeros(6))) for each in (Q, q)]
    return pose_error(*motions)


def test_every_mode_of_the_tool_has_the_damping_ratio():
    running = RunningLaw(law(stiffness=tuple(STIFFNESS), damping_ratio=0.6))
    poles = np.linalg.eigvals(linearised(ARM, running, Q))
    jacobian = ARM.jacobian(Q)
    mobility = jacobian @ np.linalg.solve(ARM.mass_matrix(Q), jacobian.T)
    squares = np.linalg.eigvals(mobility * STIFFNESS).real
    np.testing.assert_allclose(np.sort(np.abs(poles))[::2] ** 2, np.sort(squares), rtol=1e-4)
    np.testing.assert_allclose(-poles.real / np.abs(poles), 0.6, rtol=1e-4)


@pytest.mark.slow
def test_a_pushed_tool_gives_way_by_force_over_stiffness_and_loses_energy():
    push = np.array([6.0, -4.0, 8.0, 0.3, -0.2, 0.1])
    running, energies = RunningLaw(law(stiffness=tuple(STIFFNESS))), []
    for _, q, v in run(
        ARM, running, lambda t: rest_reference(Q), Q, np.zeros(6), 2.5,
        lambda q: ARM.jacobian(q).T @ push,
    ):  # fmt: skip
        off = error(q)
        stored = 0.5 * off @ (STIFFNESS * off) + push @ off
        energies.append(0.5 * v @ ARM.mass_matrix(q) @ v + stored)
    np.testing.assert_allclose(off, -push / STIFFNESS, rtol=1e-3)
    assert np.diff(energies).max() < 1e-4


def pressed(error=None, given=None, **parameters):
    """Return the law, and the largest force error of a press at rest [N]."""
    loaded = Experiment.of_files(
        'ur5e gripper:=probe', 'press', 'cartesian_impedance', error=error or ModelError()
    ).load()
    loaded = replace(loaded, given={'duration': 3.0} | (given or {}))
    own = loaded.law(parameters=CartesianImpedanceParameters(**parameters))
    record = loaded.task.run(own, *loaded.plants())
    run = Run(record, track(loaded.robot.model, record))
    return own, loaded.task.report.results(run)['force_error_max_n']


@pytest.mark.quick(1)
@pytest.mark.parametrize('stiffness', [1e4, 1e6])
def test_a_force_that_is_fed_forward_is_exact_with_an_exact_model(stiffness):
    own, left = pressed(given={'surface_stiffness': stiffness})
    assert left < 1e-3
    assert own.needs == ()


@pytest.mark.slow
def test_the_integral_of_the_measured_force_makes_up_for_a_wrong_model():
    own, left = pressed(ModelError(mass_scale=(0.97,)), force_ki=5.0)
    assert own.needs == ('wrench',)
    assert left < 0.01


def test_a_stiffness_that_is_set_moves_to_its_value_at_its_rate():
    q, reference = Q + 0.02, rest_reference(Q)
    measured, soft = Measurement(q, np.zeros(6)), law(stiffness=(200.0,))
    state = soft.start(measured, reference)
    before, state = soft(state, measured, reference, DT)
    stiff = law(stiffness=(800.0,), stiffness_rate=5.0)
    state = stiff.resumed(state)
    torques, stiffnesses = [before], []
    for _ in range(200):
        tau, state = stiff(state, measured, reference, DT)
        torques.append(tau)
        stiffnesses.append(state.stiffness[0])
    expected = np.minimum(201.0 * np.exp(5.0 * DT * np.arange(1, 201)) - 1.0, 800.0)
    np.testing.assert_allclose(stiffnesses, expected)
    step = np.abs(np.diff(torques, axis=0)).max()
    assert step <= 1.01 * 5.0 * DT * np.abs(ARM.jacobian(q).T @ (800.0 * error(q))).max()


@pytest.mark.parametrize(('rate', 'decays'), [(2.0, True), (1e4, False)])
def test_a_stiffness_that_changes_slowly_gives_the_tool_no_energy(rate, decays):
    """High while the spring drives, low while it brakes: the worst that a user can do."""
    kinds = [
        law(stiffness=(k,) * 3 + (100.0,) * 3, damping_ratio=0.05, stiffness_rate=rate)
        for k in (300.0, 3000.0)
    ]
    start = Q + np.linalg.solve(ARM.jacobian(Q), [0.0, 0.0, 0.03, 0.0, 0.0, 0.0])

    class Switching:
        state = None

        def reset(self, q, v):
            self.state = None

        def __call__(self, q, v, reference, dt):
            away = error(q)[2] * (ARM.jacobian(q) @ v)[2] < 0.0
            own = kinds[0 if away else 1]
            measured = Measurement(q, v)
            if self.state is None:
                self.state = own.start(measured, reference)
            tau, self.state = own(own.resumed(self.state), measured, reference, dt)
            return tau

    heights = [
        error(q)[2]
        for _, q, _ in run(
            ARM, Switching(), lambda t: rest_reference(Q), start, np.zeros(6), 2.0, dt=DT
        )
    ]
    assert (np.abs(heights[-250:]).max() < 0.015) == decays


def test_a_force_has_its_directions_and_leaves_the_others_to_the_spring():
    reference, own = rest_reference(Q), law(rise_time=DT)
    reference.set_wrench(np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0]))
    q = Q + 0.02
    measured = Measurement(q, np.zeros(6))
    tau, state = own(own.start(measured, reference), measured, reference, DT)
    force = own.parameters.stiffness * error(q)
    force[2] = -10.0
    expected = ARM.gravity_torque(q) + ARM.jacobian(q).T @ force
    np.testing.assert_allclose(tau, expected, atol=1e-9)
    reference.set_wrench(None)
    tau, state = own(state, measured, reference, DT)
    force = own.parameters.stiffness * error(q)
    expected = ARM.gravity_torque(q) + ARM.jacobian(q).T @ force
    np.testing.assert_allclose(tau, expected, atol=1e-9)


def test_the_spring_gives_way_and_returns_within_the_rise_time():
    pressing, own = rest_reference(Q), law(rise_time=50 * DT)
    pressing.set_wrench(np.array([0.0, 0.0, -10.0, 0.0, 0.0, 0.0]))
    measured, shares = Measurement(Q, np.zeros(6)), []
    state = own.start(measured, pressing)
    for reference in (pressing, rest_reference(Q)):
        for _ in range(60):
            _, state = own(state, measured, reference, DT)
            shares.append(float(np.squeeze(state.share)))
    rise = np.minimum(np.arange(1, 61) / 50, 1.0)
    np.testing.assert_allclose(shares, [*rise, *(1.0 - rise)], atol=1e-12)


def test_a_stretched_arm_stays_at_rest_and_stable():
    stretched = np.array([0.0, -1.0, 0.0, -1.5, 0.0, 0.0])
    running = RunningLaw(law())
    tau = running(stretched, np.zeros(6), rest_reference(stretched), DT)
    np.testing.assert_allclose(tau, ARM.gravity_torque(stretched), atol=1e-9)
    assert np.linalg.eigvals(linearised(ARM, running, stretched)).real.max() < 0.0
