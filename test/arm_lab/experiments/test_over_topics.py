"""Parameters of the nodes for a case of the comparison."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import law_for, loaded

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import parameter_fields
from arm_dynamics.checks import ArmError
from arm_dynamics.model import ARM_PARAMETERS
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.commands.compare_controllers import main
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.over_topics import (
    controller_parameters,
    experiment_of,
    launch_arguments,
    run_over_topics,
    simulator_parameters,
    with_guard_in_file,
)
from arm_lab.experiments.runs import record_of
from arm_lab.experiments.sweeps import OF_JOINTS, SWEEPS, case_at
from arm_sim.devices import SensorParameters
from arm_sim.robot import Robot, model_error_of
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task, simulator_of

OF_DRIVES = ('command_delay', 'compensation_scale', 'encoder_resolution')
SWEEPS = [
    name for name in SWEEPS if name not in (*OF_DRIVES, *OF_JOINTS, 'errors')
]  # by launch arguments
_VALUES = {'fault': 'stuck_joint'}


@pytest.fixture(scope='module')
def planar():
    return Robot.load('planar_3r')


@pytest.mark.parametrize('sweep', SWEEPS)
def test_a_swept_case_survives_the_launch_files_arguments(sweep, planar):
    case = Experiment(
        'planar_3r', 'push', 'pd', natural_frequency=9, config='/my.yaml', scene='blocks'
    )
    case = case_at(sweep, _VALUES.get(sweep, 1.25), case)
    assert experiment_of(launch_arguments(case), planar, {}).experiment == case
    assert 'config' not in launch_arguments(replace(case, config=''))  # ROS takes no empty value


def test_a_feedforward_level_is_used_by_a_designed_servo_and_refused_for_others(planar):
    given = launch_arguments(Experiment('planar_3r', 'sinusoid', 'servo')) | {
        'feedforward': 'discrete'
    }
    assert experiment_of(given, planar, {}).law_parameters.feedforward == 'discrete'
    with pytest.raises(ArmError, match="feedforward is 'discrete'; law 'pd' has none"):
        experiment_of(given | {'law': 'pd'}, planar, {})


def test_a_guard_goes_to_the_nodes_with_the_parameter_file(tmp_path):
    own = tmp_path / 'own.yaml'
    own.write_text(
        '/**: {ros__parameters: {guard.force: 7.0, guard.step_threshold: [3.0]}}\n'
        'pd_controller: {ros__parameters: {guard.threshold: [1.0], friction_velocity: reference}}'
    )
    guard = GuardParameters(reaction='stop', threshold=(15.0,), float_time=0.3)
    case = Experiment('planar_3r', 'push', 'pd', config=str(own))
    of_file = GuardParameters(force=7.0, step_threshold=(3.0,), threshold=(1.0,))
    assert case.load().guard == of_file
    sent = with_guard_in_file(replace(case, guard=guard), tmp_path)
    for frequency in (20.0, 0.0):  # designed, and with the gains of the files
        there = replace(sent, natural_frequency=frequency).load()
        assert there.guard == guard
        parameters = controller_parameters(there)
        assert parameters['guard.reaction'] == 'stop'
        assert parameters['guard.threshold'] == [15.0]
    assert there.robot.controller_parameters('pd')['friction_velocity'] == 'reference'


def test_a_controller_has_the_period_of_the_simulator_also_that_of_the_files(planar):
    case = Experiment.of_files('planar_3r', 'push', 'pd')
    made = LoadedExperiment(case, planar)
    of_arm, of_controller = simulator_parameters(made), controller_parameters(made)
    for name in ('timestep', 'control_decimation'):
        assert of_controller[name] == of_arm[name] > 0.0


@pytest.mark.parametrize('law', compared_laws())
def test_every_compared_law_is_a_node_whose_parameters_it_gets(law, planar):
    parameters = controller_parameters(loaded(planar, law))
    assert compared_laws()[law][0] in law_names()
    known = law_class(compared_laws()[law][0]).Parameters.__dataclass_fields__
    others = {
        'robot',
        'tool_frame',
        *ARM_PARAMETERS,
        'timestep',
        'control_decimation',
        'autostart',
    }
    of_guard = {field.name for field in parameter_fields(GuardParameters, 'guard.')}
    assert set(parameters) <= set(known) | others | of_guard
    assert all(value != [] for value in parameters.values())  # ROS has no type for an empty list


@pytest.mark.parametrize('sweep', [name for name in SWEEPS if name != 'frequency'])
def test_the_simulator_gets_every_error(sweep, planar):
    exact = Experiment('planar_3r', 'payload_drop', 'pd')
    case = case_at(sweep, _VALUES.get(sweep, 1.25), exact)
    own = LoadedExperiment(case, planar)
    task = own.task
    parameters = simulator_parameters(own)
    plain = simulator_parameters(LoadedExperiment(exact, planar))
    assert parameters != plain
    if parameters.get('robot', 'planar_3r') != 'planar_3r':
        with open(parameters['robot']) as urdf:
            assert urdf.read() == with_error(planar.model, case.error).urdf
    of_plant = {field.name for field in parameter_fields(PlantParameters)}
    assert {k for k in parameters if k not in SimulatorParameters.__dataclass_fields__} <= of_plant
    assert (parameters['payload'], parameters['payload_end']) == (2.0, task.drop_at)


def test_a_payload_falls_off_later_by_the_way_that_leads_to_the_task(planar):
    task = make_task('payload_drop', planar)
    parameters = simulator_of(task, ModelError(), False, 1_000_000)
    way = 0.1 + 1.0  # the goal's start, and half a cycle
    np.testing.assert_allclose(parameters['payload_end'], way + task.drop_at, rtol=1e-12)
    assert 'initial_positions' not in parameters
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
        ('{nose: 1.0}', "unknown name in plant_error: 'nose'; known: armature, "),
        ('{mas_scale: [1.0]}', "'mas_scale'; nearest known: 'mass_scale'"),
        ('[1.0]', r"plant_error is '\[1.0\]'; it must be {name: value} of mass_scale, "),
        ('{mass_scale: [1.0}', r"plant_error is '{mass_scale: \[1.0}': not YAML: "),
        ('{mass_scale: [0.0]}', 'plant_error: mass_scale is 0; it must be finite, > 0'),
        ('{mass_scale: [1, 2]}', r'plant_error: mass_scale has 2 values; allowed: 1 or 3'),
        ('{payload: heavy}', "plant_error: parameter 'payload' is 'heavy'; it must be a number"),
    ],
)
def test_an_unusable_error_is_refused_in_one_line_with_its_argument(text, message, planar):
    with pytest.raises(ArmError, match=message) as refused:
        model_error_of(text, 'plant_error', planar.model)
    assert '\n' not in str(refused.value)


def test_no_error_is_none(planar):
    assert model_error_of('{}', 'plant_error', planar.model) == ModelError()


def test_a_comparison_uses_the_arm_and_the_task_in_a_parameter_file(tmp_path):
    case, file = Experiment('planar_3r', 'sinusoid', 'pd', timestep=0.002), tmp_path / 'mine.yaml'
    file.write_text(
        '/**: {ros__parameters: {armature: [0.2]}}\n'
        'simulator: {ros__parameters: {initial_positions: [0.1, 0.2, 0.3]}}\n'
        'sinusoid_task: {ros__parameters: {amplitude: [0.05], cycles: 0.2}}\n'
    )
    parameters = record_of(replace(case, config=str(file)))
    robot = Robot.load('planar_3r', file)
    by_hand = Robot('planar_3r', robot.model, np.array([0.1, 0.2, 0.3]), {})
    task = make_task('sinusoid', by_hand, {'amplitude': [0.05], 'cycles': 0.2})
    np.testing.assert_array_equal(robot.model.armature, 0.2)
    law = law_for('pd', by_hand)
    expected = task.run(law, *LoadedExperiment(case, by_hand).plants())
    assert parameters.checksum() == expected.checksum()
    assert parameters.checksum() != record_of(case).checksum()


def test_what_nodes_cannot_do_is_refused(capsys, tmp_path):
    case = Experiment('planar_3r', 'sinusoid', 'pd')
    late = replace(case, sensors=SensorParameters(position_noise=1e-3))
    for each in (late, *(case_at(sweep, 2, case) for sweep in OF_DRIVES)):
        with pytest.raises(
            ArmError, match='takes drives, joints and sensors from parameter files'
        ):
            run_over_topics(each)
    assert main(['--over', 'topics', '--samples', '3', '--output-dir', str(tmp_path)]) == 1
    assert "--samples is for runs over 'loop' only" in capsys.readouterr().err
