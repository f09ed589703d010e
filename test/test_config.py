"""Parameter files: merged key by key, what differs only, and refused in one line."""

import dataclasses
import re
import typing

import pytest

from arm_controllers.follower.parameter_names import parameter_names
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import from_ros_value
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_dynamics.robots import find_urdf, share_folder
from arm_sim.parameter_files import SHARED, files_of, merged, parameters_of, read
from arm_sim.plants.engines import ENGINES, plant_class
from arm_sim.ros.comparison_task_node import ComparisonTaskParameters
from arm_sim.ros.cube_plan import CubePlanParameters
from arm_sim.ros.cube_task_node import CubeTaskParameters
from arm_sim.ros.inverse_kinematics_node import InverseKinematicsParameters
from arm_sim.ros.pose_hold_task_node import PoseHoldTaskParameters
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.tasks.cube import Cube
from arm_sim.tasks.sinusoid_run import SinusoidTaskParameters

NODES = {
    'simulator': (SimulatorParameters, *(plant_class(engine).Parameters for engine in ENGINES)),
    **{
        f'{law}_controller': (law_class(law).Parameters, ControllerParameters)
        for law in law_names()
    },
    'inverse_kinematics': (InverseKinematicsParameters,),
    'cube_task': (CubeTaskParameters, Cube, CubePlanParameters),
    'sinusoid_task': (SinusoidTaskParameters,),
    'pose_hold_task': (PoseHoldTaskParameters,),
    'comparison_task': (ComparisonTaskParameters,),
}
FILES = sorted((share_folder() / 'config').glob('*.yaml'))


def known(node: str, joints: tuple[str, ...]) -> dict[str, tuple[typing.Any, typing.Any]]:
    """Return type and default of each parameter of a node."""
    found: dict[str, tuple[typing.Any, typing.Any]] = {}
    for kind in NODES[node]:
        hints = typing.get_type_hints(kind)
        found |= {f.name: (hints[f.name], f.default) for f in dataclasses.fields(kind)}
    if node.endswith('_controller'):
        hints = typing.get_type_hints(ModelError)
        for f in dataclasses.fields(ModelError):
            found[f'model_error.{f.name}'] = (hints[f.name], f.default)
        hints = typing.get_type_hints(FollowerParameters)
        for name, (field, joint) in parameter_names(joints).items():
            default = getattr(FollowerParameters(), field)
            if joint is not None:
                found[name] = (float, default[0])
            else:
                found.setdefault(name, (hints[field], default))
    if node == 'cube_task':
        found |= {
            f'path_limit.{path}': (tuple[float, ...], None) for path in ('edges', 'published')
        }
    return found


def value_of(name: str, value: typing.Any, kind: typing.Any) -> typing.Any:
    """Return a value as the node has it, one number for all joints written once."""
    value = from_ros_value(name, value, kind)
    return value[:1] if isinstance(value, tuple) and len(set(value)) == 1 else value


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.stem)
def test_a_robots_file_holds_only_names_that_exist_with_values_of_their_type(file):
    joints = RobotModel.from_urdf(
        find_urdf('ur5e' if file.stem == 'default' else file.stem)
    ).joint_names
    everybodys = {name: v for node in NODES for name, v in known(node, joints).items()}
    for section, values in read(file).items():
        names = everybodys if section == SHARED else known(section, joints)
        for name, value in values.items():
            if not name.startswith('tracking_limit.'):
                from_ros_value(name, value, names[name][0])


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.stem)
def test_a_robots_file_holds_only_values_that_differ_from_what_is_beneath(file):
    if file.stem == 'default':
        return
    joints = RobotModel.from_urdf(find_urdf(file.stem)).joint_names
    *beneath, own = files_of(file.stem)
    assert own == file
    beneath = merged(beneath)
    for section, values in read(file).items():
        nodes = NODES if section == SHARED else [section]
        for name, value in values.items():
            if name == 'robot':  # each file says whose it is
                continue
            differs = []
            for node in nodes:
                kind, default = known(node, joints).get(name, (None, None))
                if default is not None:
                    before = parameters_of(beneath, node).get(name, default)
                    differs.append(value_of(name, before, kind) != value_of(name, value, kind))
            assert any(differs) or not differs, f'{section}: {name}'


def test_the_default_files_values_are_the_nodes_own_but_for_the_armature():
    default = merged(files_of('no shipped robot'))
    for node in NODES:
        for name, value in parameters_of(default, node).items():
            kind, own = known(node, ()).get(name, (None, None))
            if kind is not None and (name, node) != ('timestep', 'comparison_task'):
                same = value_of(name, value, kind) == value_of(name, own, kind)
                assert same == (name != 'armature'), f'{node}: {name}'


# Merging


def sections(tmp_path, *texts):
    files = [tmp_path / f'{k}.yaml' for k in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return merged(files)


def test_files_are_merged_key_by_key(tmp_path):
    merged = sections(
        tmp_path,
        '/**: {ros__parameters: {timestep: 0.002, constraints: {goal_time: 0.1}}}',
        '/**: {ros__parameters: {constraints: {elbow: {goal: 0.2}}}}\n'
        'simulator: {ros__parameters: {timestep: 0.001}}',
    )
    assert parameters_of(merged, 'simulator') == {
        'timestep': 0.001,
        'constraints.goal_time': 0.1,
        'constraints.elbow.goal': 0.2,
    }
    assert parameters_of(merged, 'pd_controller')['timestep'] == 0.002


def test_what_the_last_file_says_to_all_counts_over_an_earlier_files_word_to_one(tmp_path):
    merged = sections(
        tmp_path,
        'pd_controller: {ros__parameters: {kp: [200.0], kd: [20.0]}}',
        '/**: {ros__parameters: {kp: [900.0]}}',
    )
    assert parameters_of(merged, 'pd_controller') == {'kp': [900.0], 'kd': [20.0]}


@pytest.mark.parametrize('name', ['simulator', '/simulator', '/left/simulator', '/**/simulator'])
def test_a_node_is_named_as_ros_and_param_dump_name_it(name, tmp_path):
    merged = sections(tmp_path, f'{name}: {{ros__parameters: {{payload: 1.0}}}}')
    assert parameters_of(merged, 'simulator') == {'payload': 1.0}


def test_a_variant_has_its_robots_values_beneath_its_own():
    assert [file.stem for file in files_of('ur5e_menagerie')] == [
        'default',
        'ur5e',
        'ur5e_menagerie',
    ]
    assert [file.stem for file in files_of('/tmp/ur5e_menagerie.urdf')] == ['default']


def test_numbers_are_read_as_ros_reads_them(tmp_path):
    text = '/**: {ros__parameters: {a: 1e-9, b: [1, 2.5], c: "1e-9", d: [], e: [1, 2]}}'
    assert sections(tmp_path, text)[SHARED] == {
        'a': 1e-9, 'b': [1.0, 2.5], 'c': '1e-9', 'd': [], 'e': [1, 2]
    }  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('a: [1', 'line 1: not YAML: '),
        ('\tb', 'line 1: not YAML: '),
        ('servo_kp: [1.0]', 'line 1: expected <node>: {ros__parameters'),
        ('simulator:\n  timestep: 0.1', 'line 2: expected <node>: {ros__parameters'),
        ('simulator:\n  ros__parameters: 3', 'line 2: expected <node>: {ros__parameters'),
        ('x: {ros__parameters: {\n a: 1,\n a: 2}}', "line 3: parameter 'a' is given twice"),
        ('x: {ros__parameters: {a.b: 1, a: {b: 2}}}', "parameter 'a.b' is given twice"),
        ('x: {ros__parameters: {a: 1}}\n/x: {ros__parameters: {a: 2}}', "'a' is given twice"),
        ('x: {ros__parameters: {a: [1, b]}}', "parameter 'a' must be a number, a text, true"),
        ('x: {ros__parameters: {a: 2024-01-01}}', "parameter 'a' must be a number, a text, true"),
        ('x: {ros__parameters: {\n a: }}', "line 2: parameter 'a' must be a number, a text"),
        ('a: 1\n---\nb: 2', 'not YAML: '),
    ],
)
def test_bad_file_is_refused_with_its_name_and_line(text, says, tmp_path):
    with pytest.raises(ArmError, match=re.escape(says)) as refused:
        sections(tmp_path, text)
    assert str(refused.value).startswith(str(tmp_path / '0.yaml'))
    assert '\n' not in str(refused.value)


def test_file_that_is_no_text_or_not_there_is_refused(tmp_path):
    (tmp_path / 'binary.yaml').write_bytes(b'\xff\xfe\x00')
    with pytest.raises(ArmError, match='cannot be read'):
        read(tmp_path / 'binary.yaml')
    with pytest.raises(ArmError, match="'/nowhere.yaml' is not a file"):
        files_of('ur5e', '/nowhere.yaml')
