"""Engines by name: those of the folder, and a user's own by an entry point."""

import sys

import numpy as np
import pytest
from plugins import write_plugins

import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.experiments.compared_laws import rigid_body_engines
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import record_of
from arm_sim.simulation.plant import ENGINES, engine_names, plant_class

MIDPOINT = '''
    """A physics engine: the explicit midpoint rule on Pinocchio's forward dynamics."""

    import numpy as np

    from arm_sim.simulation.plant import Plant


    class MidpointPlant(Plant):
        def __init__(self, model, parameters):
            super().__init__(model, parameters)
            self.q, self.v, self.effort = np.zeros((3, model.nv))
            self.reset(model.neutral())

        def act(self, command):
            dt = self.parameters.timestep
            for _ in range(self.parameters.control_decimation):
                self.effort[:] = command
                a = self._model.forward_dynamics(self.q, self.v, self.effort)
                v_half, q_half = self.v + 0.5 * dt * a, self.q + 0.5 * dt * self.v
                self.v += dt * self._model.forward_dynamics(q_half, v_half, self.effort)
                self.q += dt * v_half
    '''


@pytest.fixture
def midpoint(tmp_path, monkeypatch):
    """A package of a user that brings the engine `midpoint`, and one that cannot be imported."""
    entries = {'midpoint': 'midpoint:MidpointPlant', 'broken': 'nowhere:Nothing'}
    folder = write_plugins(tmp_path / 'user', {'midpoint': MIDPOINT}, {'arm_sim.engines': entries})
    monkeypatch.syspath_prepend(folder)
    ENGINES.refresh()
    yield
    monkeypatch.undo()
    ENGINES.refresh()
    for name in [name for name in sys.modules if name.startswith('plugins_of_a_user')]:
        del sys.modules[name]


def test_an_engine_is_a_file_of_the_folder_and_no_file_is_loaded_for_its_name():
    assert engine_names() == ('analytical', 'motion_model', 'mujoco')
    assert rigid_body_engines() == ('mujoco', 'analytical')
    with pytest.raises(ArmError, match="engine is 'bullet'; allowed: analytical, motion_model"):
        plant_class('bullet')


def test_an_engine_of_a_user_runs_experiments_and_agrees_with_mujoco(midpoint):
    cases = [
        Experiment('planar_3r', 'sinusoid', 'computed_torque', engine)
        for engine in ('midpoint', 'mujoco')
    ]
    mine, reference = (record_of(case) for case in cases)
    assert mine.completed
    np.testing.assert_allclose(mine.q, reference.q, atol=3e-4)  # MuJoCo's step is of first order
    run = arm_sim.run(robot='planar_3r', law='computed_torque', engine='midpoint')
    np.testing.assert_allclose(run.record.q, mine.q, atol=1e-3)  # with the friction of the files


def test_an_engine_that_cannot_be_imported_is_named_and_harms_no_other(midpoint):
    assert {'midpoint', 'broken'} < set(engine_names())
    assert rigid_body_engines() == ('mujoco', 'analytical', 'midpoint')
    with pytest.raises(ArmError, match=r"^engine 'broken' \(.*\) cannot be imported: Module"):
        plant_class('broken')


@pytest.mark.parametrize('engine', ['analytical', 'mujoco'])
def test_a_reset_to_the_plants_own_state_keeps_it(engine):
    plant, _ = Experiment('planar_3r', 'step', 'pd', engine=engine).load().plants()
    q, v = np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, -0.3])
    plant.reset(q, v)
    plant.reset(plant.q, plant.v)
    np.testing.assert_array_equal([plant.q, plant.v], [q, v])
