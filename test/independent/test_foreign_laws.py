"""Laws on an arm that SciPy moves over Pinocchio: the errors are those of the default plant."""

import numpy as np
import pytest
from foreign_plant import FAST, TASKS, error, error_on_foreign, experiment

from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES

SHORT = {'cycles': 0.5}
LAWS = [
    'servo:discrete', 'servo:observed', 'servo:inverse_dynamics', 'computed_torque',
    'momentum_observer', 'adaptive_computed_torque', 'mpc',
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize('law', LAWS)
def test_a_law_has_the_error_of_the_default_plant_on_a_foreign_one(law, monkeypatch):
    monkeypatch.setitem(TASKS, 'sinusoid', SHORT)
    ours = error(law, 'sinusoid', 'continuous')
    np.testing.assert_allclose(error_on_foreign(experiment(law, 'sinusoid')), ours, rtol=0.01)
    one_step = error(law, 'sinusoid', 'one step')  # says nothing about either
    assert one_step > 1.5 * ours or one_step < ours / 1.5


@pytest.mark.slow
@pytest.mark.parametrize('law', ['computed_torque', 'mpc', 'servo:inverse_dynamics'])
def test_saturated_torques_cost_what_they_cost_on_a_foreign_arm(law):
    loaded = experiment(law, FAST)
    record, most = loaded.run(), loaded.robot.model.effort_limit
    assert (np.abs(record.effort) > 0.999 * most).any(axis=1).mean() > 0.5
    ours = 1e3 * np.sqrt(np.mean(track(loaded.robot.model, record).error ** 2))
    np.testing.assert_allclose(error_on_foreign(loaded), ours, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize('law', ['computed_torque', 'momentum_observer', 'servo:observed'])
@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_unknown_dry_friction_costs_what_it_costs_on_a_foreign_arm(law, engine):
    rough = ModelError(friction=(2.0, 2.0, 2.0, 0.5, 0.5, 0.5))
    case = Experiment('ur5e', 'sinusoid', law, timestep=0.002, engine=engine, error=rough)
    loaded = LoadedExperiment(case, Robot.load('ur5e'), SHORT)
    ours = 1e3 * np.sqrt(np.mean(track(loaded.robot.model, loaded.run()).error ** 2))
    np.testing.assert_allclose(error_on_foreign(loaded), ours, rtol=0.01)
