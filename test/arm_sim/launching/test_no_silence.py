"""A launch argument that is given changes what is started, or is refused: none is ignored.

Each argument of each launch file is given once, beside several robots, engines, laws and tasks,
and the processes are compared with those without it.
"""

from pathlib import Path

import pytest
from foreign_files import PINCER
from launch import LaunchContext
from launch.actions import GroupAction
from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions
from launch_ros.utilities import evaluate_parameters
from policies import policy_file
from scripts import load_script
from started_launches import started

from arm_tools.view.ros import view_launch

# One value for each argument; of several, the first that is not the default one.
VALUES = {
    'robot': ('mr_three_link',),
    'law': ('pd',),
    'controller': ('pd',),
    'mode': ('realtime', 'lockstep'),
    'record': ('false', 'bag'),
    'start': ('rest',),
    'passes': ('2',),
    'config': ('{folder}/own.yaml',),
    'output_dir': ('{folder}/out',),
    'engine': ('analytical',),
    'integrator': ('implicitfast',),
    'joints': ('joint_1,joint_2',),
    'tip_frame': ('link_2', 'wrist_2_link'),
    'gripper': ('parallel',),
    'gripper_frame': ('link_2',),
    'xacro_args': ('a:=b',),
    'inertia': ('estimate',),
    'density': ('2000',),
    'total_mass': ('30',),
    'mjcf': ('converted', 'native'),
    'actuator': ('torque',),
    'feedforward': ('gravity',),
    'policy': ('{folder}/plain.onnx',),
    'latency': ('0.002',),
    'latency_seed': ('5',),
    'reference_motion': ('discrete',),
    'friction_velocity': ('reference',),
    'learning_cutoff': ('5.0',),
    'srdf': ('{folder}/own.srdf',),
    'scene': ('table',),
    'faults': ('[{kind: frozen_feedback, time: 1.0}]',),
    'table': ('[1.5, 0, -0.5, 1, 1, 0.1]',),
    'plant_error': ('{payload: 1.0}',),
    'model_error': ('{payload: 1.0}',),
    'namespace': ('left',),
    'clock': ('false',),
    'view_port': ('9001',),
    'view_host': ('0.0.0.0',),
    'camera': ('{folder}/cameras.yaml',),
    'gains': ('file', 'designed'),
    'timestep': ('0.0005',),
    'natural_frequency': ('11.0',),
    'frequency': ('0.7',),
    'parameters': ('{approach_time: 3.0}',),
    'task': ('push',),
    'sweep': ('topics', 'damping_scale'),
    'values': ('1.1',),
    'over': ('topics',),
    'amplitude': ('[0.1]',),
    'cycles': ('3',),
    'limit': ('0.4',),
    'speed': ('2.0',),
    'seek': ('1.0',),
    'file': ('{folder}/other.mcap',),
    'drives': ('xarm',),
    'robot_controller': ('mine',),
    'states': ('/mine',),
    'rate': ('250',),
    'workspace': ('[1, 1, 1, -1, -1, -1]',),
    'spawn': ('mine',),
    'hardware': ('topic_based_ros2_control',),
    'controllers': ('{folder}/none.yaml',),
    'robots': ('mr_three_link',),
    'tasks': ('step',),
    'laws': ('pd',),
    'motion_type': ('pd',),
    'damping_ratio': ('0.5',),
    'settling_time': ('0.7',),
    'overshoot': ('0.1',),
    'kp': ('30.0',),
    'kd': ('2.0',),
    'number': ('3',),
    'seed': ('4',),
    'max_effort': ('21.0',),
    'target': ('[0.0, -1.0, 0.0, 0.0, 0.0]',),
    'duration': ('3.0',),
    'path': ('published',),
    'center': ('[0.45, 0.0, 0.4]',),
    'side': ('0.12',),
    'edge_time': ('2.5',),
}  # fmt: skip
SWITCH = ('true', 'false')
ARM, TASK = 'robot:=planar_3r', 'robot:=planar_3r task:=step'
BASES = [
    ('arm', ARM),
    ('arm', f'{ARM} engine:=analytical controller:=momentum_observer'),
    ('arm', f'{ARM} engine:=motion_model controller:=none'),
    ('arm', f'{ARM} controller:=external'),
    ('arm', f'{ARM} contacts:=true view:=true'),
    ('arm', 'robot:={folder}/pincer.xml controller:=pd'),
    ('task', TASK),
    ('task', 'robot:=planar_3r law:=policy policy:={folder}/plain.onnx'),
    ('task', f'{TASK} controller:=pd'),
    ('task', f'{TASK} controller:=external engine:=analytical'),
    ('task', f'{TASK} controller:=none engine:=motion_model'),
    ('cube', ''),
    ('sinusoid', ARM),
    ('sinusoid', f'{ARM} sweep:=loop'),
    ('motion_models', ARM),
    ('motion_models', f'{ARM} task:=none mode:=realtime motion_type:=task_space'),
    ('ros2_control', ARM),
    ('pick_and_place', ''),
    ('pose_hold', ''),
    ('drive', ARM),
    ('replay', 'file:=some.mcap'),
    ('compare', ''),
    ('model_mismatch', ARM),
]
# What says the same as the default where a law commands torques, by the word `controller`.
SAME = {'actuator': 'torque', 'gains': 'file', 'law': 'pd'}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the files that arguments name."""
    made = tmp_path_factory.mktemp('given')
    (made / 'own.yaml').write_text('simulator: {ros__parameters: {speed_limit_factor: 0.9}}')
    (made / 'own.srdf').write_text('<robot name="own"/>')
    (made / 'cameras.yaml').write_text('- {name: overview, position: [1.5, 0.0, 1.0]}')
    (made / 'pincer.xml').write_text(PINCER)
    policy_file(made / 'plain.onnx')
    return made


def written(action):
    """Return what an action of a launch starts, as text."""
    context = LaunchContext()

    def text(words):
        parts = map(normalize_to_list_of_substitutions, words)
        return [perform_substitutions(context, part) for part in parts]

    if isinstance(action, GroupAction):
        return [each for one in action.get_sub_entities() for each in written(one)]
    if hasattr(action, 'node_executable'):
        given = evaluate_parameters(context, vars(action)['_Node__parameters'])
        values = [
            sorted((k, str(v)) for k, v in each.items())
            if isinstance(each, dict)
            else Path(str(each)).read_text()
            for each in given
        ]
        options = vars(action)['_Node__arguments'], vars(action)['_Node__node_namespace']
        return [f'{action.node_executable} {values} {text(options[0] or [])} {options[1]}']
    if hasattr(action, 'cmd'):
        return [' '.join(text(action.cmd))]
    return [action.msg[0].text] if hasattr(action, 'msg') else [type(action).__name__]


def starts(monkeypatch, file, words):
    """Return what a launch file starts, sorted; the refusal where it starts nothing."""
    try:
        return sorted(x for each in started(monkeypatch, file, *words) for x in written(each))
    except (RuntimeError, OSError, ValueError) as error:
        return str(error)


def values_of(argument, given):
    """Return the value to give an argument, none where the launch has it or names no other."""
    usual = argument.default_value[0].text if argument.default_value else ''
    choices = VALUES.get(argument.name, SWITCH)
    allowed = [x for x in choices if x != usual and x in (argument.choices or choices)]
    return [] if argument.name in given else allowed[:1]


@pytest.mark.quick(1)
@pytest.mark.parametrize(('file', 'base'), BASES, ids=[f'{x} {y}' for x, y in BASES])
def test_no_argument_is_ignored_in_silence(monkeypatch, folder, file, base):
    monkeypatch.setattr(view_launch, 'has_viser', lambda: True)
    file = f'{file}.launch.py'
    words = [word.replace('{folder}', str(folder)) for word in base.split()]
    before = starts(monkeypatch, file, words)
    assert isinstance(before, list), before
    names = {word.partition(':=')[0] for word in words}
    made = load_script(f'launch/{file}').generate_launch_description().get_launch_arguments()
    found = {
        each.name: (value, starts(monkeypatch, file, [*words, f'{each.name}:={value}']))
        for each in made
        for value in (x.replace('{folder}', str(folder)) for x in values_of(each, names))
    }
    assert len(found) > 5
    silent = {name: value for name, (value, after) in found.items() if after == before}
    assert {k: v for k, v in silent.items() if SAME.get(k) != v} == {}
    refused = {name: after for name, (_, after) in found.items() if isinstance(after, str)}
    print(refused)
    assert all('\n' not in text for text in refused.values())
