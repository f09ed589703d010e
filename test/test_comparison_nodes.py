"""What the nodes are told of a case of the comparison."""

import numpy as np
import pytest

from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import ArmError
from arm_dynamics.model import BESIDE_URDF
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.commands.compare_controllers import main
from arm_sim.comparison.cases import Case
from arm_sim.comparison.laws import compared_laws
from arm_sim.comparison.over_topics import (
    case_of,
    controller_parameters,
    launch_arguments,
    run_over_topics,
    simulator_parameters,
)
from arm_sim.comparison.sweeps import SWEEPS, case_at
from arm_sim.plants.plant import PlantParameters
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.runs.closed_loop import Imperfections
from arm_sim.runs.robot import Robot, model_error_of
from arm_sim.tasks import make_task


@pytest.fixture(scope='module')
def planar():
    return Robot.load('planar_3r')


@pytest.mark.parametrize('sweep', SWEEPS)
def test_a_swept_case_survives_the_launch_files_arguments(sweep):
    case = case_at(sweep, 1.25, Case('planar_3r', 'push', 'pd', 'analytical', natural_frequency=9))
    assert case_of(launch_arguments(case)) == case


@pytest.mark.parametrize('law', compared_laws())
def test_every_compared_law_is_a_node_whose_parameters_it_is_told(law, planar):
    told = controller_parameters(Case('planar_3r', 'sinusoid', law), planar)
    assert compared_laws()[law][0] in law_names()
    known = law_class(compared_laws()[law][0]).Parameters.__dataclass_fields__
    others = {'robot', 'tool_frame', *BESIDE_URDF, 'timestep', 'control_decimation', 'autostart'}
    assert set(told) <= set(known) | others
    assert all(value != [] for value in told.values())  # ROS has no type for an empty list


@pytest.mark.parametrize('sweep', [name for name in SWEEPS if name != 'frequency'])
def test_the_simulator_is_told_every_error(sweep, planar):
    exact = Case('planar_3r', 'payload_drop', 'pd')
    case = case_at(sweep, 1.25, exact)
    task = make_task(case.task, planar)
    told = simulator_parameters(case, planar, task)
    plain = simulator_parameters(exact, planar, task)
    assert told != plain
    if told['robot'] != 'planar_3r':
        with open(told['robot']) as urdf:
            assert urdf.read() == with_error(planar.model, case.error).urdf
    assert {k for k in told if k not in SimulatorParameters.__dataclass_fields__} <= set(
        PlantParameters.__dataclass_fields__
    )
    assert (told['payload'], told['payload_end']) == (2.0, task.drop_at)


def test_a_payload_falls_off_later_by_the_way_that_leads_to_the_task(planar):
    task = make_task('payload_drop', planar)
    told = task.scene(ModelError(), False, 1_000_000)
    way = 0.1 + 1.0  # the goal's start, and half a cycle
    np.testing.assert_allclose(told['payload_end'], way + task.drop_at, rtol=1e-12)
    assert 'initial_positions' not in told
    assert task.goal_from(planar.start, 1_000_000)[1] == round(way * 1e9)


@pytest.mark.parametrize('name', ['sinusoid', 'step', 'push', 'payload_drop'])
def test_a_tasks_goal_starts_on_its_reference_and_ends_at_rest(name, planar):
    task = make_task(name, planar)
    goal, start = task.goal(), task.start
    np.testing.assert_array_equal(goal.positions[0], start.q)
    np.testing.assert_array_equal(goal.velocities[0], start.v)
    np.testing.assert_array_equal(goal.velocities[-1], 0.0)
    assert goal.times[-1] >= task.duration
    assert np.all(np.diff(goal.times) > 0.0)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('{nose: 1.0}', 'the error is .*nose.*; it must be'),
        ('[1.0]', 'the error is'),
        ('{mass_scale: [0.0]}', 'model_error.mass_scale is 0'),
    ],
)
def test_an_unusable_error_is_refused(text, message):
    with pytest.raises(ArmError, match=message):
        model_error_of(text)


def test_no_error_is_none():
    assert model_error_of('{}') == ModelError()


def test_what_nodes_cannot_do_is_refused(capsys):
    with pytest.raises(ArmError, match='delay and noise'):
        run_over_topics(Case('planar_3r', 'sinusoid', 'pd', imperfections=Imperfections(delay=1)))
    assert main(['--over', 'topics', '--samples', '3', '--output-dir', '/tmp']) == 1
    assert "a Monte Carlo runs over 'loop' only" in capsys.readouterr().err
