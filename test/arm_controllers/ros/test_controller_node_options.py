"""Parameters and topics of joint_trajectory_controller on a controller node, in this process."""

import json
import re
import sys

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.msg import JointTrajectoryControllerState, SpeedScalingFactor  # noqa: E402
from domains import fresh_domain  # noqa: E402
from following import HOME, NAMES, REST, goal  # noqa: E402
from long_wait import spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

from arm_controllers.cycle_state import CycleState  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.goal_server import NOT_ACTIVE  # noqa: E402
from arm_controllers.ros.messages import goal_from_bytes, trajectory_message  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.ros.known_parameters import check_parameter_file  # noqa: E402


@pytest.fixture
def start(monkeypatch):
    """Return what makes a controller with further command-line arguments."""
    monkeypatch.setattr('arm_controllers.ros.diagnostics.SILENCE', float('inf'))
    made = []

    def make(*further):
        arguments = ['--ros-args', *as_arguments(files_of('ur5e')), *further]
        monkeypatch.setattr(sys, 'argv', ['controller', *arguments])
        rclpy.init(args=arguments, domain_id=int(fresh_domain()))
        made.append(ControllerNode('computed_torque'))
        return made[0]

    yield make
    for node in made:
        node.destroy_node()
    rclpy.try_shutdown()


def show(node, time_ns, q=HOME, v=REST):
    """Hand a state to a controller's cycle."""
    state = JointState(name=list(NAMES), position=list(q), velocity=list(v), effort=[0.0] * 6)
    state.header.stamp.sec, state.header.stamp.nanosec = divmod(time_ns, 1_000_000_000)
    node.cycle.states.take(serialize_message(state))


def test_a_state_that_arrives_after_the_clean_up_is_ignored(start):
    node = start()
    node.trigger_configure()
    cycle = node.cycle
    cycle.state = CycleState.RELEASING  # it would answer with its release message
    node.trigger_cleanup()
    state = JointState(name=list(NAMES), position=HOME, velocity=REST, effort=[0.0] * 6)
    cycle.states.take(serialize_message(state))  # the executor had the state already
    assert cycle.state is CycleState.INACTIVE


@pytest.mark.parametrize(
    ('claimed', 'why'),
    [
        (True, "'other' commands this arm; deactivate it before 'computed_torque_controller'"),
        (False, 'the controller was deactivated and is not active'),
    ],
)
def test_a_goal_ends_with_the_reason_for_which_the_controller_does(start, claimed, why):
    node = start()
    node.trigger_configure()
    node.trigger_activate()
    inputs = {each.topic_name: each.callback for each in node.subscriptions}
    message = serialize_message(trajectory_message(goal([1.0], [np.array(HOME) + 0.1])))
    send = inputs[f'/{node.get_name()}/joint_trajectory']
    send(bytes(message))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    show(node, 0)
    spin_until(executor, lambda: node.cycle.follower.goals)
    if claimed:
        text = json.dumps({'claims': {'other': list(NAMES)}, 'rejected': {}})
        inputs['/active_controllers'](String(data=text))
    else:
        node.trigger_deactivate()
    goals = node.cycle.goals
    assert goals.problem.endswith(why)
    inputs['/active_controllers'](String(data='{"claims": {}, "rejected": {}}'))
    send(bytes(message))  # a later one hears the same
    assert (goals.refused, goals.problem) == (1, f'goal refused: {why}')
    node.trigger_activate()
    assert goals.refusal == NOT_ACTIVE


def test_parameters_without_meaning_are_named_in_one_line_and_never_refused(start, capfd):
    node = start(
        *('-p', 'command_interfaces:=[position]', '-p', 'gains.elbow_joint.p:=100.0'),
        *('-p', 'interpolate_from_desired_state:=true'),
    )
    lines = [line for line in capfd.readouterr().err.splitlines() if 'without meaning' in line]
    assert len(lines) == 1
    assert 'command_interfaces, gains.elbow_joint.p, interpolate_from_desired_state' in lines[0]
    assert node.get_parameter('gains.elbow_joint.p').value == 100.0  # as it was given


def test_a_file_written_for_the_other_controller_is_admitted_a_typo_in_it_is_not(tmp_path):
    file = tmp_path / 'jtc.yaml'
    text = """computed_torque_controller:
  ros__parameters:
    joints: [shoulder_pan_joint]
    command_interfaces: [position]
    state_interfaces: [position, velocity]
    allow_partial_joints_goal: true
    constraints: {goal_time: 0.5, decelerate_on_cancel: true, elbow_joint: {trajectory: 0.1}}
    gains: {elbow_joint: {p: 1.0}}
"""
    file.write_text(text)
    check_parameter_file(file, NAMES)
    file.write_text(text.replace('state_interfaces', 'state_interface'))
    with pytest.raises(ArmError, match='state_interface'):
        check_parameter_file(file, NAMES)


def test_joints_are_checked_against_the_robot(start):
    with pytest.raises(ArmError, match="unknown joint 'elbow'; nearest known: 'elbow_joint'"):
        start('-p', 'joints:=[elbow]')


def test_the_model_of_a_controller_has_the_joints_that_it_commands(start):
    node = start('-p', 'joints:=[elbow_joint, shoulder_pan_joint]', '-p', 'autostart:=true')
    model = node.cycle.model
    assert model.joint_names == ('shoulder_pan_joint', 'elbow_joint')
    assert node.cycle.follower.joint_names == model.joint_names


def test_joints_may_be_named_in_any_order(start):
    start('-p', f'joints:=[{", ".join(reversed(NAMES))}]')


@pytest.mark.slow
def test_speed_is_scaled_by_topic_and_shown_with_the_time_in_the_goal(start):
    node = start('-p', 'state_publish_rate:=500.0', '-p', 'autostart:=true')
    seen = []
    node.create_subscription(
        JointTrajectoryControllerState, '~/controller_state', seen.append, 1000
    )
    speed = node.create_publisher(SpeedScalingFactor, '~/speed_scaling_input', 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    scaling = node.cycle.follower.scaling
    for factor in (0.5, float('nan'), -0.1, 1.5):  # refused in a line, but for the first
        speed.publish(SpeedScalingFactor(factor=factor))
    spin_until(executor, lambda: scaling.wanted == 0.5)
    time_ns = 10_000_000_000
    show(node, time_ns)
    wanted = goal([1.0], [HOME + 0.2], [REST], [REST])
    node.cycle.goals.take(bytes(serialize_message(trajectory_message(wanted))))
    for _ in range(500):
        time_ns += 2_000_000
        reference = node.cycle.follower.reference
        show(node, time_ns, reference.q, reference.v)
    words = node.diagnostics.words(node.cycle)[1]
    assert words.startswith('following a goal, 0.50 of 1.00 s')
    assert words.endswith('at 50% of its speed')
    spin_until(executor, lambda: seen and seen[-1].header.stamp.sec == 11)
    last = seen[-1]
    assert scaling.wanted == last.speed_scaling_factor == 0.5
    t = last.reference.time_from_start.sec + last.reference.time_from_start.nanosec * 1e-9
    assert abs(t - 0.5) < 0.003  # half of a second of states; one step is shared with the rest
    assert last.feedback.time_from_start == last.reference.time_from_start
    assert np.abs(np.array(last.reference.positions) - HOME - 0.1).max() < 1e-3


@pytest.mark.parametrize('points', [1, 3])  # read one by one, or as arrays
def test_a_message_without_positions_is_a_goal_of_velocities(points):
    message = JointTrajectory(joint_names=list(NAMES))
    for k in range(points):
        point = JointTrajectoryPoint(velocities=[0.1 * k] * 6)
        point.time_from_start.sec = k + 1
        message.points.append(point)
    asked = goal_from_bytes(serialize_message(message))
    assert not asked.has_position
    np.testing.assert_array_equal(asked.velocities[:, 0], 0.1 * np.arange(points))
    message.points[-1].velocities = []
    if points == 1:
        with pytest.raises(ArmError, match='0 positions for 6 joints'):
            goal_from_bytes(serialize_message(message))


def test_a_file_for_the_admittance_controller_of_ros2_controllers_is_admitted(tmp_path):
    file, text = (
        tmp_path / 'theirs.yaml',
        """admittance_controller:
  ros__parameters:
    joints: [shoulder_pan_joint]
    chainable_command_interfaces: [position, velocity]
    kinematics: {plugin_name: kdl, plugin_package: kdl, base: base_link, tip: tool0, alpha: 0.05}
    ft_sensor: {name: tcp_fts_sensor, frame: {id: tool0, external: false}, filter_coefficient: 0.5}
    control: {frame: {id: tool0, external: false}}
    fixed_world_frame: {frame: {id: base_link, external: false}}
    gravity_compensation:
      frame: {id: tool0, external: false}
      CoG: {pos: [0.1, 0.0, 0.0], force: 23.0}
    admittance:
      selected_axes: [true, true, true, true, true, false]
      mass: [3.0, 3.0, 3.0, 0.05, 0.05, 0.05]
      damping_ratio: [2.8, 2.8, 2.8, 2.8, 2.8, 2.8]
      stiffness: [50.0, 50.0, 50.0, 1.0, 1.0, 1.0]
      joint_damping: 5.0
    enable_parameter_update_without_reactivation: true
""",
    )
    file.write_text(text)
    check_parameter_file(file, NAMES)
    file.write_text(text.replace('plugin_name', 'plugin'))
    with pytest.raises(ArmError, match='kinematics.plugin'):
        check_parameter_file(file, NAMES)
    file.write_text(text.replace('admittance_controller', 'servo_controller'))
    with pytest.raises(ArmError, match='servo_controller'):
        check_parameter_file(file, NAMES)


def test_gains_too_high_for_the_period_are_named_before_the_arm_moves_and_when_they_are_set(
    start, capfd
):
    node = start('-p', 'kp:=1e9', '-p', 'kd:=0.0')
    node.trigger_configure()
    said = "kp and kd shake joint '.*': at rest its error grows 1997 times in each control period "
    logged = capfd.readouterr().err
    assert re.search(f'{said}of 2 ms; without damping it carries no stiffness', logged)
    for kp, kd, shakes in ((400.0, 40.0, False), (400.0, 1e4, True)):
        values = [rclpy.Parameter('kp', value=kp), rclpy.Parameter('kd', value=kd)]
        assert node.set_parameters_atomically(values).successful
        assert ('it carries 0.1 of this damping' in capfd.readouterr().err) == shakes
