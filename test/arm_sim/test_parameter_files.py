"""Parameter files: merged key by key, holding only what differs, refused in one line."""

import re
import typing

import pytest
from launch import LaunchContext
from launch.actions import DeclareLaunchArgument
from repository import ROOT

from arm_controllers import parameter_file
from arm_controllers.parameter_file import SHARED, read_parameter_file, read_yaml
from arm_controllers.parameter_values import from_ros_value
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf, share_folder
from arm_sim.launching.arguments import description
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.ros.known_parameters import check_parameter_file, known_nodes, known_parameters

FILES = sorted((share_folder() / 'config').glob('*.yaml'))  # of the shipped robots


def value_of(name: str, value: typing.Any, kind: typing.Any) -> typing.Any:
    """Return a value as the node has it, one number for all joints written once."""
    value = from_ros_value(name, value, kind)
    return value[:1] if isinstance(value, tuple) and len(set(value)) == 1 else value


def joints_of(robot: str) -> tuple[str, ...]:
    return RobotModel.from_urdf(find_urdf(robot)).joint_names


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.stem)
def test_a_shipped_file_holds_only_names_that_exist_with_values_of_their_type(file):
    check_parameter_file(file, joints_of(file.stem))


def test_the_file_of_a_noisy_wrist_holds_only_names_that_exist():
    file = share_folder() / 'config' / 'sensors' / 'noisy_wrist.yaml'
    check_parameter_file(file, joints_of('ur5e'))


@pytest.mark.parametrize('robot', [file.stem for file in FILES])
def test_a_robots_file_holds_only_values_that_differ_from_what_is_beneath(robot):
    joints = joints_of(robot)
    *files, own = files_of(robot)
    assert own.stem == robot
    beneath = merged(files)
    for section, values in read_parameter_file(own).items():
        nodes = known_nodes() if section == SHARED else [section]
        for name, value in values.items():
            if name == 'robot':  # each file says whose it is
                assert value == robot
                continue
            differs = []
            for node in nodes:
                field = known_parameters(node, joints).get(name)
                if field is not None and not field.names:
                    was = parameters_of(beneath, node).get(name, field.default)
                    kind = field.kind
                    differs.append(value_of(name, was, kind) != value_of(name, value, kind))
            assert any(differs) or not differs, f'{section}: {name}'


def test_the_listed_values_are_the_nodes_own(tmp_path):
    listed = (ROOT / 'docs' / 'parameters.md').read_text().split('```')[1]
    (tmp_path / 'listed.yaml').write_text(listed.removeprefix('yaml'))
    default = merged([tmp_path / 'listed.yaml'])
    for node in known_nodes():
        fields = known_parameters(node, ())
        for name, value in parameters_of(default, node).items():
            if name in fields:
                kind, own = fields[name].kind, fields[name].default
                assert value_of(name, value, kind) == value_of(name, own, kind), f'{node}: {name}'


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
        'ur5e',
        'ur5e_menagerie',
    ]
    assert files_of('/tmp/ur5e_menagerie.urdf') == []


def test_numbers_are_read_as_ros_reads_them(tmp_path):
    text = 'a: 1e-9, b: [1, 2.5], c: "1e-9", d: [], e: !!python/tuple [1, 2]'
    text = f'/**: {{ros__parameters: {{{text}}}}}'
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
        ('x: {ros__parameters: {a: 2024-01-45}}', "parameter 'a' must be a number, a text, true"),
        ('x: {ros__parameters: {a: [[1], [2]]}}', "parameter 'a' must be a number, a text, true"),
        ('x: {ros__parameters: {\n a: }}', "line 2: parameter 'a' must be a number, a text"),
        ('a: 1\n---\nb: 2', 'not YAML: '),
        ('a: &b {ros__parameters: {c: 1}}\nd: *b', 'line 2: not YAML: an alias (*b)'),
        ('a: &b {c: *b}', 'line 1: not YAML: an alias (*b)'),  # itself, for ever
        ('[' * 10_000, 'not YAML: maximum recursion depth exceeded'),
        ('a: \0', 'not YAML: unacceptable character #x0000'),
        ('#' * 300_001, 'cannot be read: more than 300000 bytes'),
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
        read_parameter_file(tmp_path / 'binary.yaml')
    with pytest.raises(ArmError, match="'/nowhere.yaml' is not a file"):
        files_of('ur5e', '/nowhere.yaml')


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        (
            '/**: {ros__parameters: {tmestep: 0.1}}',
            "/** in {}: 'tmestep'; nearest known: 'timestep'",
        ),
        (
            'pd_controler: {ros__parameters: {kp: 1}}',
            "{}: 'pd_controler'; nearest known: 'pd_contr",
        ),
        (
            'pd_controller: {ros__parameters: {stiffness: 1.0}}',
            "parameter of pd_controller in {}: 'stiffness'; nearest known: ",
        ),
        (
            '/**: {ros__parameters: {constraints: {elbow_jiont: {goal: 0.1}}}}',
            "nearest known: 'constraints.elbow_joint.goal'",
        ),
        ('pd_controller: {ros__parameters: {kp: {a: 1}}}', "'kp.a'; nearest known: 'kp'"),
        ('/**: {ros__parameters: {timestep: fast}}', "'timestep' is 'fast'; it must be a number"),
        (
            'cube_task: {ros__parameters: {path_limit: {edges: wide}}}',
            "'path_limit.edges' is 'wide'; it must be a number or a list of numbers",
        ),
        (
            'cube_task: {ros__parameters: {path_limit: {edgse: [0.1, 0.2]}}}',
            "'path_limit.edgse'; nearest known: 'path_limit.edges'",
        ),
        (
            'cube_task: {ros__parameters: {tracking_limit: {servo_discret: 0.1}}}',
            "'tracking_limit.servo_discret'; nearest known: 'tracking_limit.servo_discrete'",
        ),
        (
            'controller_manager: {ros__parameters: {update_rate: 500}}',
            '{} is a file of ros2_control: ros2 launch arm_sim ros2_control.launch.py',
        ),
    ],
)
def test_name_or_type_that_cannot_be_is_refused_before_anything_starts(text, says, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text(text)
    with pytest.raises(ArmError, match=re.escape(says.replace('{}', str(file)))) as refused:
        check_parameter_file(file, joints_of('ur5e'))
    assert '\n' not in str(refused.value)


def test_unknown_launch_argument_is_refused_unless_the_launch_file_is_part_of_another(monkeypatch):
    arguments = [DeclareLaunchArgument('side', default_value='0.1')]
    context = LaunchContext(argv=['sides:=0.2'])
    context.extend_locals({'current_launch_file_path': '/somewhere/cube.launch.py'})
    refuse, *_ = description(arguments, lambda given: [])().entities
    monkeypatch.setattr('sys.argv', ['ros2', 'launch', 'my_package', 'mine.launch.py'])
    assert not refuse.execute(context)
    monkeypatch.setattr('sys.argv', ['ros2', 'launch', 'arm_sim', 'cube.launch.py', 'sides:=0.2'])
    with pytest.raises(ArmError, match="unknown launch argument 'sides'; nearest known: 'side'"):
        refuse.execute(context)


@pytest.mark.parametrize(
    ('text', 'says'),
    [
        ('[' * 5000 + ']' * 5000, 'faults: more than 50 brackets in each other'),
        ('- {kind: x}\n' * 100_000, 'faults: has 1200000 characters; allowed: 100000'),
    ],
)
def test_a_text_that_would_be_read_for_seconds_is_refused_unread(text, says, monkeypatch):
    monkeypatch.setattr(parameter_file.Loader, '__init__', None)  # nothing parses it
    with pytest.raises(ArmError, match=says):
        read_yaml(text, 'faults')


LONG = '0x' + 'F' * 9000


@pytest.mark.parametrize(
    'text',
    [LONG, f'[{{kind: {LONG}}}]', f'[{"9" * 400}]', '1:' * 4000 + '1.5', "!!int ''", '!!bool x',
     "!!timestamp ''", "[!!float '.']"],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_what_yaml_has_no_value_for_is_refused_in_one_line(text, tmp_path):
    """Python raises OverflowError, KeyError and others, of which each ended the simulator."""
    with pytest.raises(ArmError, match='faults: not YAML: ') as error:
        read_yaml(text, 'faults')
    assert len(str(error.value)) < 300
    file = tmp_path / 'parameters.yaml'
    file.write_text(f'simulator: {{ros__parameters: {{faults: {text}}}}}')
    with pytest.raises(ArmError, match='line 1: (not YAML|parameter .faults. must be)'):
        read_parameter_file(file)
