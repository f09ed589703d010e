"""An arm as hardware under ros2_control: a stand-in moves it, and nothing is refused."""

import os
import re
import runpy
import signal
import subprocess
import time
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
import rclpy
from arm_system import NAMES, ArmSystem
from domains import fresh_domain
from launch.actions import LogInfo
from launch_ros.actions import Node, SetRemap
from long_wait import LONG_WAIT
from mimic_arm import MIMICS, mimic_arm
from rclpy.executors import SingleThreadedExecutor
from repository import ROOT
from ros2_control_stand_in import StandIn

from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.launching.arguments import usual_values
from arm_sim.robot import Robot
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up, timing
from arm_sim.simulation.plant import PlantParameters
from arm_tools.standards.manager_pacing import UNCLAIMED
from arm_tools.standards.ros2_control import (
    COMMANDS,
    PLUGINS,
    STATES,
    controllers_of,
    one_period,
    with_hardware,
)

FACTOR = 5.0  # simulated seconds per second at most
START, STOP, END = 20.0, 40.0, 60.0  # of the motion, and of all [s]


@pytest.mark.parametrize('stamps', ['wall', 'sim', 'zero'])
def test_a_minute_under_a_topic_based_hardware_has_no_brake_and_no_refusal(stamps):
    with ArmSystem('realtime', actuator='servo') as system:
        options = ('command_stamp:=arrival', f'real_time_factor:={FACTOR}')
        at_rest = ('gravity:=[0.0, 0.0, 0.0]', 'control_decimation:=5')  # at its start
        system.simulator(*options, *at_rest)
        hardware = StandIn(system.context, NAMES, stamps)
        system.executor.add_node(hardware)
        system.wait(lambda: hardware.unset > 5, 'a manager whose controller is not active')
        system.wait(lambda: hardware.t > 1.0, 'time that runs before the first command')
        there, message, moved = hardware.q[::-1].copy(), set(), []
        passed, seen = 0.0, hardware.t

        def motion(t):
            nonlocal passed, seen  # where a process is stalled, the motion waits
            passed, seen = passed + min(max(t - seen, 0.0), 0.1), t
            moved.append(np.abs(hardware.q[::-1] - there).max())
            s = 0.5 * (1.0 - np.cos(np.pi * (np.clip(passed, START, STOP) - START) / 5.0))
            return there + 0.2 * s

        cycles, sent = hardware.cycles, hardware.sent
        hardware.motion = motion
        system.words('simulator', 'running')

        def ended():
            message.add(system.diagnostics['simulator'][1])
            return passed > END

        system.wait(ended, 'a simulated minute')
        assert [words for words in message if not words.startswith('running')] == []
        assert max(moved) > 0.19
        assert moved[-1] < 1e-3
        assert 0 < hardware.unset < hardware.sent
        assert hardware.sent - sent < 0.9 * (hardware.cycles - cycles)
        assert system.values['simulator']['refused inputs'] == '0'
        assert system.values['simulator']['stale commands'] == '0'
        assert not re.search('refus|brak|not finite', system.log('simulator'))
        system.executor.remove_node(hardware)
        hardware.destroy_node()
        system.wait(lambda: 'no node publishes commands' in system.log('simulator'), 'its end')


def test_lockstep_has_the_bits_of_the_plant_alone_and_counts_what_is_not_proven():
    with ArmSystem('lockstep', actuator='servo') as system:
        options = ('clock_rate:=100.0', 'control_decimation:=5', 'servo_compensation:=true')
        system.simulator('command_stamp:=arrival', *options)
        hardware = StandIn(system.context, NAMES, 'sim', broadcast='simulator/read_states')
        system.executor.add_node(hardware)
        system.wait(lambda: 'lock-step' in system.log('simulator'), 'lock-step')
        system.wait(lambda: hardware.unset > 5, 'a manager whose controller is not active')
        there, sent, unproven = hardware.q[::-1].copy(), {}, 0

        def counted(what):
            return int(system.values['simulator'][what])

        for _ in range(10):  # a machine that holds us up between the halves of an answer
            sent.clear()
            begin = hardware.t

            def motion(t, begin=begin):
                sent[t] = there + 0.2 * np.sin(2.0 * (t - begin)) ** 2
                return sent[t]

            hardware.motion = motion
            system.wait(lambda begin=begin: hardware.t > begin + 3.0, 'a motion')
            for _ in range(2):  # the first report may have been on its way
                system.values.clear()
                system.wait(lambda: 'simulator' in system.values, 'diagnostics')
            before, unproven = unproven, counted('unproven cycles')
            if unproven == before:
                break
        assert unproven == before
        stamps = sorted(sent)[5:255]
        states = {round(t, 6): (q[:6], v[:6]) for t, q, v in list(system.states)}
        robot = Robot.load('ur5e')
        of_plant = read_fields(PlantParameters, robot.parameters('simulator'))
        own = replace(of_plant, control_decimation=5, servo_compensation=True)
        plant = MujocoPlant(robot.model, own)
        plant.reset(*states[round(stamps[0], 6)])
        for t in stamps:
            assert np.array_equal(plant.q, states[round(t, 6)][0])
            plant.step(sent[t])
        assert np.ptp([sent[t] for t in stamps]) > 0.19
        for fault, why in (
            ('stale', 'the hardware component read an earlier state'),
            ('lost', 'no message of joint_state_broadcaster'),
            ('silent', 'not one command of the hardware component'),
            ('late', 'not one command of the hardware component'),  # none, then two at once
        ):
            what = f'unproven: {why}'
            before, hardware.fault = counted(what), fault
            system.wait(lambda what=what, before=before: counted(what) > before, fault)
        assert not re.search('refus|brak|not finite', system.log('simulator'))
        system.executor.remove_node(hardware)
        hardware.destroy_node()
        system.wait(lambda: 'no node publishes commands' in system.log('simulator'), 'its end')


def test_controllers_are_awaited_in_lockstep_only():
    p = SimulatorParameters(robot='planar_3r', mode='realtime', awaited_controllers=('arm',))
    with pytest.raises(ArmError, match="^awaited_controllers is for mode 'lockstep', not 'realt"):
        set_up(p, PlantParameters())


def test_a_silent_hardware_is_never_lost_a_silent_controller_is():
    p = SimulatorParameters(robot='planar_3r', mode='realtime')
    assert timing(p)['timeout'] == p.command_timeout
    silent = SimulatorParameters(robot='planar_3r', mode='realtime', command_stamp='arrival')
    assert timing(silent)['timeout'] == np.inf


@pytest.mark.parametrize('package', PLUGINS)
def test_the_urdf_names_the_hardware_its_topics_and_interfaces(package):
    model = RobotModel.from_urdf(find_urdf('planar_3r'))
    drives = 'servo', 'velocity', 'torque'
    text = with_hardware(model, package, 'torque')
    same = RobotModel(with_hardware(RobotModel(text), package, drives))
    assert same.joint_names == model.joint_names
    (tag,) = ElementTree.fromstring(same.urdf).findall('ros2_control')
    assert tag.findtext('hardware/plugin') == f'{package}/{PLUGINS[package]}'
    topics = {param.get('name'): param.text for param in tag.iter('param')}
    wanted = {'joint_states_topic': f'/{STATES}', 'joint_commands_topic': f'/{COMMANDS}'}
    assert topics == wanted | {'trigger_joint_command_threshold': '-1'}
    assert tag.find('gpio').get('name') == UNCLAIMED  # a command that no controller claims is NaN
    assert [each.get('name') for each in tag.find('gpio')] == ['position', 'position']
    found = [each.get('name') for each in tag.findall('joint/command_interface')]
    assert found == ['position', 'velocity', 'effort']
    alone = ElementTree.fromstring(text).find('ros2_control/gpio')
    assert [each.get('name') for each in alone] == ['effort', 'effort']  # as all its joints
    assert [joint.get('name') for joint in tag.findall('joint')] == [*model.joint_names]


def test_followers_of_other_joints_have_states_and_no_command():
    tag = ElementTree.fromstring(with_hardware(mimic_arm(), next(iter(PLUGINS)), 'servo')).find(
        'ros2_control'
    )
    commanded = [each.get('name') for each in tag.findall('joint[command_interface]')]
    assert commanded == ['pan', 'lift', 'grip']
    assert all(len(each.findall('state_interface')) == 3 for each in tag.findall('joint'))
    assert len(tag.findall('joint')) == 3 + MIMICS


def test_a_gripper_is_commanded_by_the_manager_and_its_urdf_is_one_for_urdfdom(monkeypatch):
    model = RobotModel.from_urdf(find_urdf('ur5e gripper:=parallel'))
    rotor = model.urdf.replace('damping="0" armature', 'armature')
    assert rotor != model.urdf
    robot = ElementTree.fromstring(with_hardware(RobotModel(rotor), next(iter(PLUGINS)), 'servo'))
    (found,) = (x for x in robot.iterfind('joint/dynamics') if x.get('armature'))
    assert found.attrib == {'damping': '0', 'armature': '0.3'}
    group, *_ = launched(monkeypatch, robot='ur5e gripper:=parallel')
    nodes = [each for each in group.get_sub_entities() if isinstance(each, Node)]
    assert [each.node_executable for each in nodes] == ['simulator', 'inverse_kinematics']


def test_the_controllers_file_is_filled_in_and_must_have_a_rate(tmp_path):
    file = ROOT / 'config' / 'ros2_control' / 'controllers.yaml'
    message = controllers_of(file, ['a', 'b'], 'effort')
    of_ours = message['joint_trajectory_controller']['ros__parameters']
    assert (of_ours['joints'], of_ours['command_interfaces']) == (['a', 'b'], ['effort'])
    for text, why in (
        ('{}', 'has no update_rate of a controller_manager'),
        ('controller_manager: {ros__parameters: {update_rate: fast}}', "update_rate is 'fast'"),
    ):
        (tmp_path / 'mine.yaml').write_text(text)
        with pytest.raises(ArmError, match=why):
            controllers_of(tmp_path / 'mine.yaml', [], 'position')


def launched(monkeypatch, packages=(), **given):
    """The actions of the launch file, where these packages are installed."""
    file = runpy.run_path(str(ROOT / 'launch' / 'ros2_control.launch.py'))
    monkeypatch.setitem(
        file['manager'].__globals__, 'get_packages_with_prefixes', lambda: packages
    )
    usual = usual_values() | {'engine': 'mujoco'}
    own = {'actuator': 'servo', 'controllers': '', 'hardware': next(iter(PLUGINS))}
    own |= {'spawn': 'joint_trajectory_controller', 'mode': 'realtime'}
    own |= {'gravity_compensation': 'true'}
    return file['hardware'](usual | own | {'robot': 'planar_3r'} | given)


def simulator_of(monkeypatch, **given):
    """The simulator's parameters in the launch file, and its log lines."""
    file, found = runpy.run_path(str(ROOT / 'launch' / 'ros2_control.launch.py')), []
    monkeypatch.setitem(
        file['hardware'].__globals__, 'arm_nodes', lambda arm, own, **_: found.append(own) or []
    )
    own = {'actuator': 'servo', 'controllers': '', 'hardware': next(iter(PLUGINS))}
    own |= {'spawn': 'joint_trajectory_controller', 'mode': 'realtime'}
    own |= {'gravity_compensation': 'true', 'engine': 'mujoco'}
    actions = file['hardware'](usual_values() | own | {'robot': 'ur5e'} | given)
    lines = [each for each in actions if isinstance(each, LogInfo)]
    return found[0], [''.join(part.text for part in line.msg) for line in lines]


def test_drives_compensate_gravity_unless_the_argument_says_otherwise(monkeypatch):
    parameters, lines = simulator_of(monkeypatch)
    assert parameters['servo_compensation']
    assert "the drives add the arm's weight (gravity_compensation:=false" in lines[0]
    parameters, lines = simulator_of(monkeypatch, gravity_compensation='false')
    assert 'servo_compensation' not in parameters
    assert not any('weight' in line for line in lines)
    parameters, _ = simulator_of(monkeypatch, actuator='torque')
    assert 'servo_compensation' not in parameters
    assert parameters['effort_convention'] == 'gravity_compensated'


def test_in_lockstep_the_control_period_is_that_of_the_manager(monkeypatch):
    parameters, _ = simulator_of(monkeypatch, mode='lockstep')
    assert (parameters['control_decimation'], parameters['clock_rate']) == (5, 100.0)
    assert one_period(500, {}) == {'control_decimation': 1}
    assert one_period(1000, {'timestep': 0.0005}) == {'control_decimation': 2}
    for rate, timestep in ((1000, 0.002), (300, 0.002), (333, 0.001)):
        with pytest.raises(ArmError, match=f'^update_rate is {rate} Hz; in lock-step'):
            one_period(rate, {'timestep': timestep})


def test_the_launch_file_moves_our_topics_and_says_what_is_missing(monkeypatch):
    group, weight, line = launched(monkeypatch)
    assert "the drives add the arm's weight" in ''.join(part.text for part in weight.msg)
    remaps = [each for each in group.get_sub_entities() if isinstance(each, SetRemap)]
    assert len(remaps) == 4
    assert f'the arm is on /{STATES} and /{COMMANDS}' in ''.join(part.text for part in line.msg)
    with pytest.raises(ArmError, match=r"^actuator \(ros2_control\) is 'voltage'; allowed: servo"):
        launched(monkeypatch, actuator='voltage')
    with pytest.raises(ArmError, match='differs from joint to joint: give controllers:=FILE'):
        launched(monkeypatch, actuator='[servo, servo, velocity]')


def test_where_there_is_a_manager_it_is_started_with_its_controllers(monkeypatch):
    _, _, *nodes = launched(monkeypatch, packages=('controller_manager',))
    names = [node.node_executable for node in nodes]
    assert names == ['robot_state_publisher', 'ros2_control_node', 'spawner']


def test_the_launched_arm_moves_under_the_stand_in():
    """As `ros2 launch` starts it: other topics, the manager's clock, its URDF elsewhere."""
    domain = fresh_domain()
    environment = os.environ | {
        'ROS_DOMAIN_ID': domain,
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
    }
    command = ['ros2', 'launch', 'arm_sim', 'ros2_control.launch.py', 'robot:=planar_3r']
    launch = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(domain))
    names = RobotModel.from_urdf(find_urdf('planar_3r')).joint_names
    hardware = StandIn(context, names, 'wall', states=STATES, commands=COMMANDS)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(hardware)

    def until(condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end
            assert launch.poll() is None
            executor.spin_once(timeout_sec=0.05)

    try:
        until(lambda: hardware.t > 0.5)
        there, begin = hardware.q[::-1].copy(), hardware.t
        hardware.motion = lambda t: there + min(0.3, 0.3 * (t - begin))
        until(lambda: np.abs(hardware.q[::-1] - there - 0.3).max() < 1e-3)
        until(lambda: '/arm_sim/robot_description' in dict(hardware.get_topic_names_and_types()))
        topics = dict(hardware.get_topic_names_and_types())
        assert '/joint_states' not in topics
        assert '/robot_description' not in topics
    finally:
        launch.send_signal(signal.SIGINT)
        launch.communicate(timeout=LONG_WAIT)
        context.try_shutdown()
