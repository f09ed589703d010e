"""try_robots: which arms it tries, that a fault of each kind is found, and what it prints."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from arms import chain, examples, revolute

from arm_dynamics import ArmError
from arm_dynamics.robots import find_urdf, robot_names
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_tools.commands import try_robots
from arm_tools.robot_trials import tried
from arm_tools.robot_trials.arms import all_arms, is_serial
from arm_tools.robot_trials.report import Trials
from arm_tools.robot_trials.tried import SIZE, RobotTrial, Tried, drives_of, try_robot, write_mjcf
from arm_tools.view import arm_picture as pictures
from arm_tools.view.arm_picture import arm_picture

JOINTS = [revolute('a', 'xyz="0 0 0.3"', '0 1 0'), revolute('b', 'xyz="0 0 0.2"', '1 0 0')]
ARM = chain('arm', JOINTS)
HANDFUL = ['planar_3r', 'ur5e', 'panda', 'so100', 'finger_edu', 'talos_left_arm']


@pytest.fixture
def written(tmp_path):
    def write(text, name='arm.urdf'):
        file = tmp_path / name
        file.write_text(text)
        return file

    return write


@pytest.mark.slow
def test_all_arms_are_the_shipped_ones_and_the_serial_ones_of_the_package():
    arms = all_arms()
    assert {*robot_names(), 'panda', 'so100', 'ur10_robot', 'z1'} <= {*arms}
    assert not {'anymal-kinova', 'allegro_left_hand', 'talos_reduced', 'iris_simple'} & {*arms}
    assert len(arms) == len({*arms}) >= 35
    for name in arms[len(robot_names()) :]:
        Robot.load(name) if 'chain' in name else find_urdf(name)


def test_a_serial_arm_has_its_joints_on_one_chain(written):
    assert is_serial(written(ARM))
    fork = revolute('c', 'xyz="0 0 0.1"', '0 0 1').format(parent='a_link')
    forked = ARM.replace('</robot>', f'{fork}</robot>')
    assert not is_serial(written(forked))
    mimic = '<mimic joint="c"/></joint>\n  <link name="d_link">'
    follower = revolute('d', 'xyz="0 0 0.1"', '0 0 1').format(parent='a_link')
    follower = follower.replace('</joint>\n  <link name="d_link">', mimic)
    gripper = forked.replace('</robot>', f'{follower}</robot>')
    assert is_serial(written(gripper))
    assert not is_serial(written('<robot name="none"><link name="base"/></robot>'))


@pytest.mark.slow
def test_a_handful_of_arms_is_as_it_should_be(tmp_path, capsys):
    arguments = [*HANDFUL, '--poses', '20', '--no-pictures', '--workers', '1']
    assert try_robots.main([*arguments, '--output-dir', str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert 'arms: 6 of 6' in printed
    assert '6 arms: 6 as they should be, 0 with a fault, 0 refused; 5 also as an MJCF' in printed
    assert "1. no MJCF: MuJoCo writes no inertia like that of link 'finger_lower_link'" in printed
    arms = json.loads((tmp_path / 'robots.json').read_text())['arms']
    assert [arm['robot'] for arm in arms] == HANDFUL
    for arm in arms:
        for each in filter(None, (arm['own'], arm['mjcf'])):
            assert each['parity'] < 1e-9
            assert max(each['hold'], each['goal']) < 1e-3
            assert each['reached'] == 1.0
    table = (tmp_path / 'robots.md').read_text()
    assert table.count('\n| ') == 2 + len(HANDFUL)
    assert not (tmp_path / 'robots.png').exists()


@pytest.mark.slow
def test_ctrl_c_leaves_the_table_of_the_arms_that_were_tried(tmp_path, monkeypatch):
    def tried(name, **options):
        if name == 'ur5e':
            raise KeyboardInterrupt
        return try_robot(name, **options)

    monkeypatch.setattr(try_robots, 'try_robot', tried)
    given = ['planar_3r', 'ur5e', '--poses', '2', '--no-pictures', '--workers', '1']
    assert try_robots.main([*given, '--output-dir', str(tmp_path)]) == 130
    arms = json.loads((tmp_path / 'robots.json').read_text())['arms']
    assert [arm['robot'] for arm in arms] == ['planar_3r']


@pytest.mark.slow
def test_json_is_all_that_is_printed(tmp_path, capsys):
    given = ['planar_3r', '--poses', '2', '--no-pictures', '--workers', '1', '--json']
    assert try_robots.main([*given, '--output-dir', str(tmp_path)]) == 0
    parameters = json.loads(capsys.readouterr().out)
    assert parameters == json.loads((tmp_path / 'robots.json').read_text())
    assert parameters['arms'][0]['own']['joints'] == 3


def test_an_arm_that_cannot_carry_itself_is_refused_by_joint_and_share(written):
    tilted = ARM.replace('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="0 1.5 0"')
    weak = try_robot(str(written(tilted.replace('effort="50"', 'effort="2"'))), 1, 0)
    assert weak.own.reason.startswith("joint 'a': gravity near the start asks for ")
    assert weak.faults == []


@pytest.mark.slow
def test_a_joint_too_weak_for_poses_far_from_the_start_is_noted(written, tmp_path, capsys):
    weak = written(ARM.replace('effort="50"', 'effort="2"'), 'weak.urdf')
    given = [str(weak), 'planar_3r', '--poses', '5', '--no-pictures', '--workers', '1']
    assert try_robots.main([*given, '--output-dir', str(tmp_path)]) == 0
    notes = [x for x in capsys.readouterr().out.splitlines() if 'gravity asks' in x]
    assert len(notes) >= 1
    assert "joint 'a' for " in notes[0]
    assert notes[0].endswith('% of its effort limit in some poses')


@pytest.mark.slow
def test_a_servo_that_sags_is_a_fault(written, tmp_path, capsys):
    file = written(ARM.replace('xyz="0 0 0.3"', 'xyz="0 0 0.3" rpy="0 1.5 0"'))
    gains = "servo_controller: {ros__parameters: {feedforward: 'none'}}\n"
    written(gains, 'arm.arm_sim.yaml')
    arm = try_robot(str(file), 5, 0)
    assert [fault.partition(': ')[0] for fault in arm.own.faults] == ['hold', 'goal']
    assert arm.mjcf.faults == []  # the file next to the URDF is not the MJCF's
    given = [str(file), '--poses', '5', '--no-pictures', '--workers', '1']
    assert try_robots.main([*given, '--output-dir', str(tmp_path)]) == 1
    assert '1 arm: 0 as they should be, 1 with a fault' in capsys.readouterr().out


def test_the_law_is_that_of_the_arms_parameter_file(written):
    file = written(ARM)
    motion = 'servo_controller: {ros__parameters: {reference_motion: discrete}}'
    written(motion, 'arm.arm_sim.yaml')
    assert 'reference_motion' in try_robot(str(file), 1, 0).own.reason


def test_poses_that_are_not_found_are_a_fault(monkeypatch, written):
    answers = iter([True, False, True, True] * 2)
    monkeypatch.setattr(tried, 'solve_ik', lambda *_: SimpleNamespace(success=next(answers)))
    arm = try_robot(str(written(ARM)), 4, 0)
    assert arm.own.reached == 0.75
    fault = 'IK: 75.0% of the poses, at least 99% is asked'
    assert arm.faults == [fault, f'as MJCF: {fault}']


def test_an_error_of_a_library_costs_one_arm_and_not_the_others(monkeypatch):
    def broken(*_):
        raise RuntimeError('Too many neighbors')

    monkeypatch.setattr(tried, 'trial_of', broken)
    assert try_robot('planar_3r', 1, 0).own.reason == 'RuntimeError: Too many neighbors'
    monkeypatch.setattr(tried.Robot, 'load', broken)
    assert try_robot('planar_3r', 1, 0).own.reason == 'RuntimeError: Too many neighbors'


@pytest.mark.slow
def test_a_file_that_is_refused_fails_where_it_is_named(written, tmp_path, capsys):
    locked = str(written(ARM.replace('lower="-2.5" upper="2.2"', 'lower="0" upper="0"')))
    given = [locked, 'planar_3r', '--poses', '2', '--no-pictures', '--workers', '1']
    assert try_robots.main([*given, '--output-dir', str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert '1. joint \'a\': <limit lower="0" upper="0">: lower must be below upper' in printed
    assert str(tmp_path) not in printed.partition('2 arms: ')[0]
    assert '2 arms: 1 as they should be, 0 with a fault, 1 refused' in printed


def test_the_mjcf_is_the_arm_with_its_servos_and_its_start(tmp_path):
    robot = Robot.load('ur5e')
    file = tmp_path / 'arm.xml'
    write_mjcf(robot, drives_of(robot), file)
    same = Robot.load(f'{file} tip_frame:={robot.model.tip_frame}')
    assert same.model.joint_names == robot.model.joint_names
    np.testing.assert_allclose(same.start, robot.start, atol=1e-5)
    for name in ('servo_kp', 'servo_kd'):
        gains = [each.parameters('simulator')[name] for each in (robot, same)]
        np.testing.assert_allclose(*gains, rtol=1e-5)
    q = robot.start
    np.testing.assert_allclose(same.model.mass_matrix(q), robot.model.mass_matrix(q), atol=1e-4)


def test_what_no_mjcf_can_say_is_reported(written, tmp_path):
    odd = ARM.replace('izz="0.035"', 'izz="0.2"')
    with pytest.raises(ArmError, match=r"no inertia like that of link 'a_link': 0\.0\d+, "):
        write_mjcf(Robot.load(str(written(odd))), PlantParameters(), tmp_path / 'arm.xml')


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', ['ur5e', 'talos_left_arm'])
def test_a_picture_has_the_whole_arm_in_its_middle_and_no_floor_before_it(name):
    robot = Robot.load(name)
    picture = arm_picture(robot.model, robot.start, 120, 100).astype(int)
    assert picture.shape == (100, 120, 3)
    dark = picture.min(axis=2) < 120  # neither paper nor shadow
    rows, columns = np.nonzero(dark)
    assert 3 < rows.min() < 30
    assert 70 < rows.max() < 97
    assert columns.min() > 3
    assert columns.max() < 117
    assert picture[0, 0].min() > 215  # paper


def test_the_sheet_shows_each_arm_that_has_a_picture():
    picture = np.full((SIZE, SIZE, 3), 200, dtype=np.uint8)
    arms = [Tried(name, RobotTrial(), picture=picture) for name in ('a', 'b')]
    figure = Trials([*arms, Tried('c', RobotTrial())]).sheet()
    assert [axis.get_title() for axis in figure.axes if axis.images] == ['a', 'b']
    assert Trials([Tried('c', RobotTrial())]).sheet() is None


@pytest.mark.slow
def test_without_a_way_to_draw_everything_else_is_reported(monkeypatch, tmp_path, capsys):
    def refuse(*_):
        raise ArmError('no OpenGL without a window here')

    monkeypatch.setattr(pictures, 'Offscreen', refuse)
    given = ['planar_3r', '--poses', '2', '--workers', '1', '--output-dir', str(tmp_path)]
    assert try_robots.main(given) == 0
    assert 'no OpenGL without a window here\n1 arm: 1 as' in capsys.readouterr().out


def test_the_folders_of_the_package_are_not_reported():
    arm = tried.try_robot('double_pendulum', 1, 0)
    assert "(in 'double_pendulum')" in arm.own.reason
    assert str(examples()) not in Trials([arm]).markdown()


def test_an_mjcf_is_tried_as_it_is_without_another_one_of_it(tmp_path):
    robot = Robot.load('planar_3r')
    file = tmp_path / 'arm.xml'
    write_mjcf(robot, drives_of(robot), file)
    tried = try_robot(str(file), 1, 0)
    assert tried.own.parity < 1e-12
    assert (tried.mjcf, tried.no_mjcf) == (None, 'the robot is an MJCF already')
    assert not tried.faults
