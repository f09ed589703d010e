"""Model predictive control: its error dynamics, limits, delay, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from running_law import RunningLaw

from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.laws.mpc import Mpc, MpcParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import find_urdf
from arm_sim.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import track
from arm_sim.simulation.drives import DriveParameters

PLAIN = Experiment('planar_3r', 'sinusoid', 'mpc', timestep=0.002)


def run(experiment, **given):
    """Return the record, and the RMS error of the tip after the first tenth [mm]."""
    loaded = experiment.load()
    loaded = LoadedExperiment(experiment, loaded.robot, given)
    record = loaded.run()
    error = track(loaded.robot.model, record).error
    return record, float(np.sqrt((error[len(error) // 10 :] ** 2).mean())) * 1e3


def over_limits(record, model):
    """Return by how much velocities and positions exceed the limits."""
    return max(
        (np.abs(record.v) - model.velocity_limit).max(),
        (record.q - model.position_upper).max(),
        (model.position_lower - record.q).max(),
    )


def test_the_exact_model_leaves_no_error_where_no_limit_is_near():
    _, mm = run(PLAIN)
    _, other = run(replace(PLAIN, law='computed_torque'))
    assert mm < 1e-4
    assert other > 1e-2


def test_where_computed_torque_is_at_its_limits_mpc_exceeds_none_and_errs_least():
    fast, given = replace(PLAIN, robot='ur5e'), {'frequency': 2.5, 'cycles': 3.0}
    record, mm = run(fast, **given)
    model = fast.load().robot.model
    assert over_limits(record, model) <= 0.0
    assert np.abs(record.effort / model.effort_limit).max() > 0.999
    other, other_mm = run(replace(fast, law='computed_torque'), **given)
    assert over_limits(other, model) > 0.1
    assert mm < 0.5 * other_mm


def test_a_known_delay_costs_nothing():
    late = replace(PLAIN, drives=DriveParameters(command_delay=4))
    assert late.load().law_parameters.delay == 4
    assert run(late)[1] < 1e-3
    assert run(replace(late, law='computed_torque'))[1] > 0.1


@pytest.mark.parametrize('masses', [0.8, 1.2])
def test_the_observer_finds_what_wrong_masses_need(masses):
    wrong = replace(PLAIN, error=ModelError(mass_scale=(masses,)))
    assert run(wrong)[1] < 0.1 * run(replace(wrong, law='computed_torque'))[1]


def test_small_errors_obey_the_second_order_equation_of_its_gains():
    model, dt = RobotModel(find_urdf('ur5e')), 1e-3
    q = np.array([0.3, -1.2, 1.5, -1.0, -1.4, 0.2])
    reference = Reference(6)
    reference.q[:] = q
    reference.future = lambda periods: reference
    error, rate = np.linspace(1e-4, 3e-4, 6), np.linspace(-1e-3, 2e-3, 6)
    predicted = RunningLaw(Mpc(model, MpcParameters(observer_pole=0.0)))
    classical = RunningLaw(ComputedTorque(model, ComputedTorqueParameters()))
    tau, expected = (law(q + error, rate, reference, dt) for law in (predicted, classical))
    hold = model.gravity_torque(q)
    assert_allclose(tau - hold, expected - hold, rtol=0, atol=0.05 * np.abs(expected - hold).max())


def test_gains_without_a_cost_are_refused():
    with pytest.raises(ArmError, match=r"kd of joint 'joint_2' is 20; .* >= sqrt\(2 kp\) = 28.28"):
        Mpc(PLAIN.load().robot.model, MpcParameters(kd=(40.0, 20.0, 40.0)))
