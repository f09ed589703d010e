"""Options that a beginner types: other words for a law, words of the robot and of a task."""

import pytest

import arm_sim
from arm_dynamics.checks import ArmError
from arm_lab.command_line import read
from arm_lab.commands.compare_controllers import Options as Compared
from arm_lab.commands.run import Options
from arm_lab.options import UsageError, from_python


def test_controller_is_another_word_for_law():
    assert from_python(Options, {'controller': 'pd'}).law == 'pd'
    assert read(Options, 'run', ['--controller', 'pd']).law == 'pd'
    assert read(Options, 'run', ['--controller=pd']).law == 'pd'
    assert read(Compared, 'compare_controllers', ['--controllers', 'pd,servo']).laws == (
        'pd', 'servo',
    )  # fmt: skip


@pytest.mark.parametrize('word', ['gripper', 'mjcf', 'tip_frame', 'xacro_args'])
def test_words_of_the_robot_say_where_they_belong(word):
    answer = f"{word} is a word of the robot, such as 'ur5e {word}:=...'"
    with pytest.raises(ArmError, match=answer):
        from_python(Options, {word: 'parallel'})
    with pytest.raises(UsageError, match=answer):
        read(Options, 'run', [f'--{word.replace("_", "-")}', 'parallel'])


def test_a_parameter_of_the_task_says_where_it_belongs():
    with pytest.raises(ArmError, match="'side'; side is a parameter of task 'cube': parameters="):
        from_python(Options, {'task': 'cube', 'side': 0.1})
    with pytest.raises(ArmError, match="unknown argument 'side'; nearest known: 'scene'"):
        from_python(Options, {'task': 'step', 'side': 0.1})


def test_faults_may_be_a_list():
    faults = [{'kind': 'stuck_joint', 'joint': 'elbow'}]
    assert from_python(Options, {'faults': faults}).faults == '[{joint: elbow, kind: stuck_joint}]'
    with pytest.raises(ArmError, match="unknown faults: joint 'elbow'; nearest known: 'elbow_jo"):
        arm_sim.run('ur5e', task='step', faults=faults)


def test_of_many_values_the_nearest_comes_first():
    with pytest.raises(ArmError, match="law is 'computed_torqe'; nearest known: 'computed_torque"):
        arm_sim.run('planar_3r', task='step', law='computed_torqe')
    with pytest.raises(ArmError, match="task is 'Stpe'; nearest known: 'step'; allowed: "):
        arm_sim.run('planar_3r', task='Stpe')


def test_explore_needs_a_function():
    with pytest.raises(TypeError, match=r"a function, not 'run'; arm_sim.run is one"):
        arm_sim.explore('run')
