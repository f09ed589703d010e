"""What a beginner types: each mistake is one line that says what to type, before any process."""

import atexit
import signal
import sys
from types import SimpleNamespace

import pytest
from policies import policy_file
from repository import ROOT
from scripts import load_script
from started_launches import started

from arm_dynamics.checks import ArmError
from arm_sim import executables
from arm_sim.launching.arguments import CONTROLLERS, usual_values

TASK, ARM, PICK = 'task.launch.py', 'arm.launch.py', 'pick_and_place.launch.py'
MISTAKES = [
    (TASK, 'task:=sinusiod', "unknown value of task 'sinusiod'; nearest known: 'sinusoid'"),
    (TASK, 'taks:=push', "unknown launch argument 'taks'; nearest known: 'task'"),
    (TASK, 'law:=computed_torqe', "'computed_torqe'; nearest known: 'computed_torque'"),
    (TASK, 'controller:=pd_gravit', "'pd_gravit'; nearest known: 'pd_gravity'"),
    (TASK, 'law:=pd controller:=servo', 'two words for one law: leave one out'),
    (TASK, 'task:=press law:=computed_torque', "task 'press' .*: law:=hybrid_force_motion, or"),
    (TASK, 'task:=press controller:=servo', "task 'press' .*: law:=hybrid_force_motion, or"),
    (TASK, 'task:=press robot:=five_joint_arm', "'five_joint_arm' .* none .*robot:=ur5e engine:="),
    (TASK, 'task:=press robot:=five_joint_arm law:=pd', 'none of their .*robot:=ur5e '),
    (TASK, 'task:=press robot:=five_joint_arm law:=pose_pid', 'none .*robot:=ur5e engine:='),
    (TASK, 'task:=press engine:=analytical integrator:=lagged_euler', 'engine:=mujoco$'),
    (TASK, 'task:=pick_and_place', 'task pick_and_place .*: gripper:=parallel, in Python'),
    (PICK, 'scene:=blocks', "task 'pick_and_place' brings 'block', .*: leave scene:=blocks out"),
    (TASK, 'gains:=files', "gains is 'files'; allowed: designed, file"),
    (TASK, 'law:=hybrid_force_motion gains:=designed', 'law:=hybrid_force_motion gains:=file'),
    (TASK, 'mode:=real_time', "mode is 'real_time'; allowed: lockstep, realtime"),
    (TASK, 'engine:=mujoko', "'mujoko'"),
    (TASK, 'parameters:={cycls:3}', "'cycls:3'; nearest known: 'cycles'"),
    (TASK, 'natural_frequency:=fast', "natural_frequency is 'fast'; it must be a number"),
    (ARM, 'robot:=ur5_e', "robot 'ur5_e' is neither .*, nearest 'ur5e',"),
    (ARM, 'robot:=/nowhere/my.urdf', '/nowhere/my.urdf'),
    (ARM, 'robt:=ur5e', "unknown launch argument 'robt'; nearest known: 'robot'"),
    (ARM, 'viewer:=yes', "viewer is 'yes'; allowed: true, false"),
    (ARM, 'scene:=block', "unknown scene 'block'; nearest known: 'blocks'"),
    (ARM, 'gripper:=paralel', "'paralel'"),
    (ARM, 'law:=servoo', "unknown value of law 'servoo'; nearest known: 'servo'"),
    (ARM, 'config:=gains.yaml', 'gains.yaml'),
    ('drive.launch.py', 'drives:=ur_torque', 'ur_direct_torque'),
    # of the nodes, before they start
    (TASK, 'TASK:=press', "unknown launch argument 'TASK'; nearest known: 'task'"),
    (TASK, 'task:=Press', "unknown value of task 'Press'; nearest known: 'press'"),
    (TASK, 'task:=', "task is ''; allowed: collide, .*, wipe"),
    (ARM, 'robot:=UR5e', "robot 'UR5e' is neither .*, nearest 'ur5e',"),
    (ARM, 'tip_frame:=base_link', "'base_link', which no joint moves; .* is 'tool0'"),
    (ARM, 'integrator:=rk5', "'rk5'; allowed: continuous, euler, rk4, implicit, implicitfast"),
    (ARM, 'contacts:=true srdf:=no.srdf', "srdf is 'no.srdf': there is no such file"),
    (
        ARM,
        'contacts:=true table:=true',
        "'table' is True; it must be a number or a list of numbers",
    ),
    (ARM, 'contacts:=true table:=[0.5,0,0]', 'table is .*; it must be six finite numbers'),
    (ARM, 'faults:=[{kind:frozen}]', 'faults'),
    (
        ARM,
        'controller:=none',
        "'mujoco' needs a controller; .*: leave controller:=none out",
    ),
    (TASK, 'task:=press engine:=analytical', 'only engine mujoco has contacts: engine:=mujoco'),
    (ARM, 'mjcf:=converted', "mjcf:=converted is for an MJCF; 'ur5e' is none: leave it out"),
    (ARM, 'mjcf:=native', 'mjcf:=native has no effect: it needs an MJCF'),
    (ARM, 'robot:=ur5e engine:=analytical integrator:=euler', "'euler'; allowed: explicit_euler"),
    (
        ARM,
        'view_port:=9000',
        'has no effect: it needs view:=true; or leave it out',
    ),
    (ARM, 'controller:=pd feedforward:=discrete', "it needs law:=servo; the law is 'pd'"),
    (ARM, 'controller:=external policy:=a.onnx', "controller is 'external'; or leave it out"),
    (ARM, f'srdf:={__file__}', 'has no effect: it needs contacts:=true'),
    (ARM, 'table:=[1,0,0,1,1,0.1]', 'has no effect: it needs contacts:=true, view'),
    (TASK, 'controller:=pd timestep:=0.0005', 'has no effect: it needs gains:=designed'),
    (TASK, 'task:=step frequency:=0.5', 'has no effect: it needs task:=sinusoid'),
    (TASK, 'learning_cutoff:=4.0', 'has no effect: it needs passes:=2 or more'),
    (TASK, 'latency_seed:=4', "has no effect: it needs a policy's latency:=TIME"),
    (
        'sinusoid.launch.py',
        'sweep:=loop cycles:=3',
        'has no effect: it needs sweep:=none, one run',
    ),
    ('motion_models.launch.py', 'overshoot:=0.1', 'it needs settling_time:=TIME in joint space'),
    ('drive.launch.py', 'policy:=a.onnx', "controller 'servo' is no policy: law:=policy"),
    (TASK, 'law:=policy', 'needs its file: policy:=FILE.onnx'),
    (TASK, 'law:=policy policy:=no.onnx', "policy 'no.onnx': there is no such file"),
    (TASK, 'law:=pd policy:=a.onnx', "controller 'pd' is no policy: law:=policy"),
    (TASK, 'passes:=two', "'passes' is 'two'; it must be a whole number"),
    (TASK, 'passes:=0', 'passes is 0; it must be finite, >= 1 and <= 1000'),
    # of the writing: commas, case, units, quotes, folders, files elsewhere
    (
        TASK,
        'task:=peg_in_hole robot:=planar_3r',
        r'^planar_3r does not reach the path of the task',
    ),
    (TASK, 'task:=press,push', "'press,push'; nearest known: 'press'"),
    (TASK, 'law:=mpc,', "'mpc,'; nearest known: 'mpc'"),
    (TASK, 'law:=MPC', "'MPC'; nearest known: 'mpc'"),
    (TASK, 'law:=computed-torque', "nearest known: 'computed_torque'"),
    (TASK, "task:='press'", "nearest known: 'press'"),
    (TASK, 'frequency:=1Hz', "frequency is '1Hz'; it must be a number"),
    (TASK, 'frequency:=0,5', "frequency is '0,5'; it must be a number"),
    (TASK, 'timestep:=1ms', "timestep is '1ms'; it must be a number"),
    (TASK, 'timestep:=-0.001', 'timestep is -0.001; it must be finite, >= 0 and <= 0.1'),
    (TASK, 'passes:=1.5', "'passes' is 1.5; it must be a whole number"),
    (TASK, 'start:=Rest', "start is 'Rest'; allowed: moving, rest"),
    (TASK, 'record:=mcap', "record is 'mcap'; allowed: true, false, bag"),
    (TASK, 'parameters:={cycles=3}', "'cycles=3'; nearest known: 'cycles'"),
    (TASK, 'parameters:=[3]', 'it must be {name: value}'),
    (TASK, 'plant_error:=payload=2', 'it must be {name: value} of mass_scale, .* payload'),
    (ARM, 'robot:=./x.urdf', "'.*/x.urdf' does not exist"),
    (ARM, 'robot:=ur5e.urdf', "nearest 'ur5e'"),
    (ARM, f'robot:={ROOT}', 'is a folder'),
    (ARM, f'config:={ROOT}', 'is not a file'),
    (ARM, 'engine:=Mujoco', "engine is 'Mujoco'; allowed: analytical, motion_model, mujoco"),
    (ARM, 'composed:=True', "composed is 'True'; allowed: true, false"),
    (ARM, 'namespace:=1left', 'no digit first, such as left or cell_1/left'),
    (ARM, 'actuator:=Torque controller:=external', "'Torque'; allowed: servo, torque"),
    (ARM, 'joints:=[a,b]', 'unknown joint in joints:= .*; known: elbow_joint, '),
    ('cube.launch.py', 'side:=10cm', "'side' is '10cm'; it must be a number"),
    ('cube.launch.py', 'center:=[0.4,0]', 'center is .*; it must be three finite numbers'),
    ('cube.launch.py', 'center:={a:1}', "'center' is {'a:1': None}; .* a number or a list"),
    ('cube.launch.py', 'side:=-1', 'side is -1'),
    ('cube.launch.py', 'plant_error:={mas_scale:[1.1]}', "'mas_scale'; nearest known: 'm"),
    ('cube.launch.py', 'plant_error:={mass_scale:[1.1}', 'plant_error is .*: not YAML: '),
    ('cube.launch.py', 'model_error:={mass_scale:[1,2]}', 'mass_scale has 2 values; allowed: 1'),
    (
        'cube.launch.py',
        'table:=[0.3,0.2,0.3,0.4,0.4,0.4]',
        r"link '\w+' is .* the table at .* t = ",
    ),
    (TASK, 'plant_error:={mass_scale:[0.0]}', 'plant_error: mass_scale is 0; .* finite, > 0'),
    ('sinusoid.launch.py', 'amplitude:=20deg', "'amplitude' is '20deg'; it must be a number"),
    ('drive.launch.py', 'rate:=500Hz', "rate is '500Hz'; it must be a number"),
    (TASK, 'output_dir:=setup.py/out', 'output_dir .*setup.py. is no folder'),
]


@pytest.mark.quick(13)
@pytest.mark.parametrize(('file', 'words', 'answer'), MISTAKES, ids=[x[1] for x in MISTAKES])
def test_a_mistake_is_refused_in_one_line_before_any_process(monkeypatch, file, words, answer):
    with pytest.raises((ArmError, OSError, RuntimeError, ValueError), match=answer) as error:
        started(monkeypatch, file, *words.split())
    text = str(error.value)
    assert '\n' not in text
    assert len(text) < 500
    assert text.count('nearest known') <= 1


def test_a_fault_of_an_unknown_joint_has_a_nearest_one(monkeypatch):
    with pytest.raises(ArmError, match="joint 'elbow'; nearest known: 'elbow_joint'"):
        started(monkeypatch, ARM, 'faults:=[{kind: stuck_joint, joint: elbow}]')


def nodes(actions):
    """Return the executables that actions of a launch start."""
    return {x.node_executable for x in actions if hasattr(x, 'node_executable')}


@pytest.mark.parametrize('words', ['law:=policy', 'controller:=policy', 'law:=policy gains:=file'])
def test_a_policys_file_reaches_its_controller(monkeypatch, tmp_path, words):
    file, _ = policy_file(tmp_path / 'plain.onnx')
    given = 'robot:=planar_3r', 'task:=step', f'policy:={file}', *words.split()
    assert 'policy_controller' in nodes(started(monkeypatch, TASK, *given))  # else refused


@pytest.mark.parametrize(
    ('file', 'words', 'controller'),
    [
        (TASK, 'task:=press', 'hybrid_force_motion_controller'),
        (TASK, 'task:=press law:=mpc', 'mpc_controller'),
        (TASK, 'law:=hybrid_force_motion task:=press', 'hybrid_force_motion_controller'),
        (TASK, 'law:=pd', 'pd_controller'),
        (TASK, 'law:=pd gains:=file', 'pd_controller'),
        (TASK, 'controller:=pd', 'pd_controller'),
        (TASK, 'controller:=pd gains:=designed', 'pd_controller'),
        (TASK, '', 'computed_torque_controller'),
        (TASK, 'controller:=pd natural_frequency:=0', 'pd_controller'),  # 0: of the file
        (ARM, 'law:=pd', 'pd_controller'),
        (ARM, 'controller:=pd', 'pd_controller'),
        (PICK, 'law:=computed_torque', 'computed_torque_controller'),
    ],
)
def test_both_words_for_the_law_start_its_controller(monkeypatch, file, words, controller):
    assert controller in nodes(started(monkeypatch, file, *words.split()))


@pytest.mark.parametrize(
    ('law', 'controller', 'gains', 'wanted'),
    [
        ('pd', '', '', 'designed'),
        ('', 'pd', '', 'file'),
        ('pd', '', 'file', 'file'),
        ('', 'pd', 'designed', 'designed'),
        ('pd', 'pd', '', 'file'),
        ('hybrid_force_motion', '', '', 'file'),  # it has no design
        ('servo_discrete', '', '', 'designed'),  # a variant of a law
        ('', 'servo_discrete', '', 'designed'),
        ('external', '', '', 'file'),
        ('policy', '', '', 'designed'),
    ],
)
def test_where_gains_come_from_is_an_argument_of_its_own(
    monkeypatch, law, controller, gains, wanted
):
    script = load_script('launch/task.launch.py')
    monkeypatch.setattr(script, 'run_task', lambda given, task: ['file', given['controller']])
    monkeypatch.setattr(script, 'run_designed', lambda given: ['designed', given['law']])
    given = usual_values() | {'task': 'step', 'parameters': '{}'}
    given |= {'law': law, 'controller': controller, 'gains': gains}
    assert script.task(given) == [wanted, law or controller]


def test_drive_says_what_it_waits_for(monkeypatch):
    made = started(monkeypatch, 'drive.launch.py', 'controller:=servo')
    (line,) = (x.msg[0].text for x in made if hasattr(x, 'msg'))
    assert 'waiting for states of the robot on /joint_states (' in line
    assert 'its commands go to ' in line


def test_an_executable_that_is_none_has_a_nearest_one(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['arm_sim', 'rendr'])
    assert executables.main() == 2
    assert "no executable 'rendr'; nearest known: 'render'; commands: " in capsys.readouterr().err


def test_the_words_for_laws_are_one_list():
    made = load_script('launch/task.launch.py').generate_launch_description()
    choices = {x.name: x.choices for x in made.get_launch_arguments()}
    assert choices['law'] == choices['controller']
    assert {*CONTROLLERS} <= {*choices['law']}


@pytest.fixture
def run(monkeypatch):
    """Return a function that runs an executable here, and lets this process end as before."""
    monkeypatch.setattr(atexit, 'register', lambda *_: None)
    monkeypatch.setattr(signal, 'signal', lambda *_: None)

    def run(*words):
        monkeypatch.setattr(sys, 'argv', [*words])
        return getattr(executables, words[0])()

    return run


@pytest.mark.parametrize('name', ['simulator', 'pd_controller', 'step_task', 'recorder'])
@pytest.mark.parametrize('word', ['robot:=planar_3r', 'planar_3r', '--robot'])
def test_a_word_for_a_node_is_no_parameter(run, capsys, name, word):
    assert run(name, word, '--ros-args', '-p', 'robot:=planar_3r') == 2
    answer = f'{name}: {word!r}; a node has parameters only: --ros-args -p robot:=ur5e\n'
    assert capsys.readouterr().err == answer


@pytest.mark.parametrize(
    ('words', 'file'),
    [
        ((), 'config/ur5e.yaml'),
        (('-p', 'robot:=planar_3r'), 'config/planar_3r.yaml'),
        (('-p', 'robot:=planar_3r', '--params-file', 'planar_3r.yaml'), ''),
        (('-p', 'robot:=none.urdf'), ''),
    ],
)
def test_a_controller_without_a_parameter_file_says_what_its_model_lacks(
    run, monkeypatch, capsys, words, file
):
    node = SimpleNamespace(main=lambda *_: 0, use_udp=lambda: None)
    monkeypatch.setattr(executables, 'import_module', lambda name: node)
    assert run('controller', 'pd', '--ros-args', *words) == 0
    said = capsys.readouterr().err
    assert said.endswith(f'{file}\n' if file else '')
    assert ('controller: the arm is its URDF alone' in said) == bool(file)


@pytest.mark.parametrize(
    ('words', 'answer'),
    [
        ('engine:=analytical faults:=[{kind: stuck_joint, joint: elbow}]', "'elbow_joint'"),
        ('engine:=analytical faults:=[{kind: offset_torque, joint: elbow_joint}]', 'enabled$'),
        ('engine:=motion_model controller:=none faults:=[{kind: frozen_feedback}]', 'has none$'),
    ],
)
def test_a_fault_that_an_engine_cannot_have_is_refused_before_any_process(
    monkeypatch, words, answer
):
    given, _, faults = words.partition('faults:=')
    with pytest.raises(ArmError, match=f'faults: .*{answer}'):
        started(monkeypatch, ARM, *given.split(), f'faults:={faults}')


@pytest.mark.parametrize(
    ('words', 'by_udp'),
    [
        ('pd_controller', True),
        ('simulator', True),
        ('step_task', True),
        ('composed simulator pd_controller', True),
        ('doctor', False),
    ],
)
def test_nodes_send_by_udp(monkeypatch, run, words, by_udp):
    calls = []
    parts = {'main': lambda *_: 0, 'use_udp': lambda: calls.append('udp')}
    parts |= {'InProcessTransport': lambda: None, 'run_nodes': lambda makers: 0}
    parts |= {'run_node': lambda name, make: 0}
    monkeypatch.setattr(executables, 'import_module', lambda name: SimpleNamespace(**parts))
    assert run(*words.split()) == 0
    assert calls == ['udp'] * by_udp
