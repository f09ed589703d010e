"""The loop without ROS gives what the nodes give over topics, to the last bit."""

import os
from dataclasses import replace

import numpy as np
import pytest
from domains import fresh_domain
from plugins import FEELING_LAW, write_plugins

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import LAWS
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.over_topics import run_over_topics
from arm_lab.experiments.runs import record_of
from arm_sim.devices import SensorParameters
from arm_sim.devices.drive_trains import JointParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.goals import goal_reference
from arm_sim.loop.loop import Loop
from arm_sim.robot import Robot
from arm_sim.tasks import make_task

_FAULTS = (
    '[{kind: stuck_joint, joint: elbow_joint, time: 0.5, duration: 0.1}, '
    '{kind: offset_wrench, axis: fx, value: 20.0, time: 0.7, duration: 0.1}, '
    '{kind: frozen_feedback, joint: wrist_3_joint, time: 1.0, duration: 0.003}, '
    '{kind: dropped_commands, time: 1.2, duration: 0.01}]'
)
_WRENCH = f"""
simulator:
  ros__parameters:
    faults: "{_FAULTS}"
    force_torque.frame: wrist_3_link
    force_torque.force_noise: 0.5
    force_torque.bias: [1.0, 0.0, 0.0, 0.0, 0.1, 0.0]
    force_torque.bandwidth: 50.0
    force_torque.delay: 2
    joint_torque.enabled: true
    joint_torque.noise: 0.2
    joint_torque.drift: [0.1]
"""
_WRENCH_SENSOR = SensorParameters(
    force_torque_frame='wrist_3_link',
    force_noise=0.5,
    wrench_bias=(1.0, 0.0, 0.0, 0.0, 0.1, 0.0),
    wrench_bandwidth=50.0,
    wrench_delay=2,
    joint_torque=True,
    joint_torque_noise=0.2,
    torque_drift=(0.1,),
)


_BALL = '[{name: ball, shape: sphere, size: [0.1], position: [-0.25, 0.35, 0.13], damping: 50}]'


@pytest.fixture
def feeling_law(tmp_path, monkeypatch):
    """A package of a user that brings a law with a force-torque sensor."""
    entries = {'arm_sim.laws': {'feeling_law': 'feeling:FeelingLaw'}}
    site = write_plugins(tmp_path / 'site', {'feeling': FEELING_LAW}, entries)
    monkeypatch.setenv('PYTHONPATH', f'{site}:{os.environ["PYTHONPATH"]}')
    monkeypatch.syspath_prepend(site)
    LAWS.refresh()
    compared_laws.cache_clear()
    yield
    monkeypatch.undo()
    LAWS.refresh()
    compared_laws.cache_clear()


def after_the_first_state(task, model):
    """Return the reference of a controller that gets the goal once it has answered a state."""
    follower = TrajectoryFollower(model, FollowerParameters())
    follower.activate(0, task.start.q, task.start.v)

    def reference(t, reference):
        if t > 0.0 and reference.future is not None and not follower.goals:  # not looking ahead
            follower.set_goal(task.goal(), 0)
        reference.row[:] = follower.peek(round(t * 1e9)).row

    return reference


@pytest.mark.parametrize(
    ('task', 'law', 'files', 'sensors'),
    [
        ('sinusoid', 'feeling_law', _WRENCH, _WRENCH_SENSOR),
        ('payload_drop', 'momentum_observer', '', SensorParameters()),
        ('sinusoid', 'mpc', '', SensorParameters()),
    ],
)
def test_a_law_over_topics_equals_the_loop_without_ros_bit_for_bit(
    task, law, files, sensors, tmp_path, monkeypatch, feeling_law
):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    (tmp_path / 'config.yaml').write_text(files)
    config = str(tmp_path / 'config.yaml') if files else ''
    (tmp_path / 'scene.yaml').write_text(_BALL)
    scene = '' if files else str(tmp_path / 'scene.yaml')
    case, robot = Experiment('ur5e', task, law, config=config, scene=scene), Robot.load('ur5e')
    topics = run_over_topics(case)

    made = make_task(task, robot)
    goal = after_the_first_state(made, robot.model)
    faults = _FAULTS if files else ''
    own = LoadedExperiment(replace(case, config='', sensors=sensors, faults=faults), robot)
    loop = made.run(own.law(), *own.plants(), reference=goal)
    assert len(loop.t) == 2000
    if files:
        again = Loop(own.plants()[0], own.law(), after_the_first_state(made, robot.model))
        read = [(*again.step().measured[:2], again.plant.measured.effort) for _ in loop.t]
        q, v, effort = (np.array(each) for each in zip(*read, strict=True))
        assert np.abs(effort - loop.effort).max() > 0.5
        np.testing.assert_array_equal(
            np.flatnonzero((q != loop.q).any(axis=1)), [1000, 1001, 1002]
        )
        loop = replace(loop, q=q, v=v, effort=effort)
    for name in ('t', 'q', 'v', 'q_reference', 'v_reference', 'effort', 'q_end', 'contacts'):
        np.testing.assert_array_equal(getattr(topics, name), getattr(loop, name), err_msg=name)

    # The comparison's own reference is a formula where the goal has quintics between samples.
    if files:  # the wrench alone keeps the law from following the sinusoid
        assert np.abs(loop.q - loop.q_reference).max() > 1e-4
    else:
        assert np.nanmax(loop.contacts[:, 1]) > 5.0  # N
        atol = 1e-4 if law == 'mpc' else 1e-9  # its future before the goal is known is braking
        np.testing.assert_allclose(record_of(case).q, topics.q, atol=atol)


_DRIVES = """
/**:
  ros__parameters:
    effort_convention: gravity_compensated
    friction_compensation: true
    armature: [0.05]
simulator:
  ros__parameters:
    command_delay: 1
    command_jitter: 1
    effort_rate_limit: [300.0]
    joints.stiffness: [0.0, 0.0, 1.0e+4]
    joints.damping: [5.0]
    joints.static_friction: [0.2]
    joints.ripple_amplitude: [0.1]
    joints.encoders: link
    joints.substeps: 10
"""


def test_drives_and_joints_of_a_parameter_file_are_those_of_the_loop_bit_for_bit(
    tmp_path, monkeypatch
):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    (tmp_path / 'drives.yaml').write_text(_DRIVES)
    case = Experiment(
        'planar_3r', 'sinusoid', 'computed_torque', config=str(tmp_path / 'drives.yaml')
    )
    topics = run_over_topics(case)

    parameters = DriveParameters(
        effort_convention='gravity_compensated',
        friction_compensation=True,
        command_delay=1,
        command_jitter=1,
        effort_rate_limit=(300.0,),
    )
    joints = JointParameters(
        joint_stiffness=(0.0, 0.0, 1e4),
        joint_damping=(5.0,),
        static_friction=(0.2,),
        ripple_amplitude=(0.1,),
        encoders='link',
        joint_substeps=10,
    )
    robot, driven = case.load().robot, replace(case, drives=parameters, joints=joints)
    task = make_task('sinusoid', robot)
    goal = goal_reference(task.goal(), robot.model, task.start.q, task.start.v)
    own = LoadedExperiment(driven, robot)
    loop = task.run(own.law(), *own.plants(), reference=goal)
    assert np.array_equal(topics.q, loop.q)
    assert np.array_equal(topics.effort, loop.effort)
    assert not np.array_equal(record_of(case).q, topics.q)


_SENSORS = """
simulator:
  ros__parameters:
    encoder_resolution: [1.0e-5]
    sensors.position_bias: [1.0e-4]
    sensors.position_noise: 1.0e-5
    sensors.velocity_noise: 1.0e-3
    sensors.delay: 1
    sensors.dropout: 0.1
    sensors.seed: 5
"""


def test_sensors_of_a_parameter_file_report_over_topics_what_they_report_in_the_loop(
    tmp_path, monkeypatch
):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    (tmp_path / 'sensors.yaml').write_text(_SENSORS)
    case = Experiment(
        'planar_3r', 'sinusoid', 'computed_torque', config=str(tmp_path / 'sensors.yaml')
    )
    topics = run_over_topics(case)

    sensors = SensorParameters(
        encoder_resolution=(1e-5,),
        position_bias=(1e-4,),
        position_noise=1e-5,
        velocity_noise=1e-3,
        sensor_delay=1,
        dropout=0.1,
        sensor_seed=5,
    )
    own = LoadedExperiment(replace(case, sensors=sensors), case.load().robot)
    loop = Loop(own.plants()[0], own.law(), own.task.reference)
    steps = [loop.step(effort) for effort in topics.effort]  # torques act as they are commanded
    np.testing.assert_array_equal(topics.effort, [step.command for step in steps])
    np.testing.assert_array_equal(topics.q, [step.measured.q for step in steps])
    np.testing.assert_array_equal(topics.v, [step.measured.v for step in steps])
    assert np.abs(topics.q - [step.q for step in steps]).max() > 1e-4  # the bias and the noise
