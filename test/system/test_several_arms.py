"""Namespaces: everything of an arm is below its own, and two arms do not notice each other."""

import os
import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import rclpy
import yaml
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from domains import fresh_domain
from launch_ros.actions import Node
from long_wait import LONG_WAIT, ask
from rclpy.action import ActionClient
from repository import ROOT
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.running import make_executor
from arm_dynamics.checks import ArmError
from arm_sim.launching.arguments import namespace_of, usual_values
from arm_sim.launching.arm import arm_nodes
from arm_sim.ros.config import config_file
from arm_tools.view.ros import tools

PAGE = ROOT / 'docs' / 'several_arms.md'
USUAL = usual_values() | {
    'engine': 'mujoco',
    'record': 'false',
}


@pytest.mark.parametrize(
    ('given', 'wanted'),
    [('', ''), ('/', ''), ('left', '/left'), ('/cell_1/left/', '/cell_1/left')],
)
def test_a_namespace_is_taken_with_and_without_slashes_around_it(given, wanted):
    assert namespace_of({'namespace': given}) == wanted


@pytest.mark.parametrize('given', ['left arm', '1st', 'a//b', 'a-b', '~left', 'ä'])
def test_what_no_namespace_can_be_is_refused(given):
    with pytest.raises(
        ArmError, match=re.escape(f'namespace is {given!r}; it must be of letters')
    ):
        namespace_of({'namespace': given})


@pytest.mark.parametrize(('space', 'wanted'), [('/', ''), ('/left', 'left/'), ('/a/b', 'a/b/')])
def test_frames_and_names_in_messages_have_the_namespace_before_them(space, wanted):
    rclpy.init(domain_id=int(fresh_domain()))
    node = rclpy.create_node('simulator', namespace=space)
    try:
        assert prefix_of(node) == wanted
    finally:
        node.destroy_node()
        rclpy.shutdown()


@pytest.mark.parametrize('composed', ['true', 'false'])
def test_every_node_of_an_arm_and_its_parameters_are_below_the_namespace(composed):
    nodes = arm_nodes(USUAL | {'namespace': 'left', 'composed': composed, 'viewer': 'true'})
    assert {each._Node__node_namespace for each in nodes if isinstance(each, Node)} == {'/left'}
    enclaves = [each._Node__ros_arguments[1] for each in nodes if isinstance(each, Node)]
    assert all(enclave.startswith('/arm_sim/left/') for enclave in enclaves)
    sections = yaml.safe_load(Path(config_file('ur5e', '', '/left')).read_text())
    assert '/left/simulator' in sections
    assert [name for name in sections if not name.startswith('/left/')] == ['/**']


def test_rviz_gets_the_namespace(tmp_path, monkeypatch):
    monkeypatch.setattr(tools, 'tool', lambda package: tmp_path / package)
    words = [word.perform(None) for (word,) in tools.rviz('base_link', '/left').cmd]
    assert words[words.index('-f') + 1] == 'left/base_link'
    shown = yaml.safe_load(Path(words[words.index('-d') + 1]).read_text())
    (arm,) = (
        each for each in shown['Visualization Manager']['Displays'] if each['Name'] == 'RobotModel'
    )
    assert arm['TF Prefix'] == 'left'
    assert arm['Description Topic']['Value'] == '/left/robot_description'


def test_the_pages_two_arms_move_one_by_one_under_one_clock(tmp_path):
    (tmp_path / 'two.launch.py').write_text(
        re.search(r'```python\n(.*?)```', PAGE.read_text(), re.DOTALL)[1]
    )
    domain = fresh_domain()
    log = (tmp_path / 'log.txt').open('w+')
    launch = subprocess.Popen(
        ['ros2', 'launch', tmp_path / 'two.launch.py'],
        env=os.environ | {'ROS_DOMAIN_ID': domain},
        stdout=log,
        stderr=log,
    )
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(domain))
    node = rclpy.create_node('client', context=context)
    executor = make_executor(context)
    executor.add_node(node)

    def until(condition, state=lambda: ''):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            alive = launch.poll() is None and time.monotonic() < end
            assert alive, f'{state()}\n{(tmp_path / "log.txt").read_text()}'
            executor.spin_once(timeout_sec=0.05)

    try:
        seen: dict[str, list[list[float]]] = {'left': [], 'right': []}
        for name, rows in seen.items():
            take = rows.append
            node.create_subscription(
                JointState, f'/{name}/joint_states', lambda m, take=take: take([*m.position]), 100
            )
        follow = ActionClient(
            node, FollowJointTrajectory, '/left/computed_torque_controller/follow_joint_trajectory'
        )
        until(lambda: follow.server_is_ready() and all(len(rows) > 100 for rows in seen.values()))
        point = JointTrajectoryPoint(positions=[0.3, -0.2, 0.1])
        point.time_from_start = Duration(sec=1)
        way = JointTrajectory(joint_names=['joint_1', 'joint_2', 'joint_3'], points=[point])
        goals = SimpleNamespace(
            service_is_ready=follow.server_is_ready, call_async=follow.send_goal_async
        )
        # A goal that is sent again ends the first one: not before that is surely lost.
        handle = ask(until, goals, FollowJointTrajectory.Goal(trajectory=way), 60.0)
        ended = handle.get_result_async()
        until(ended.done)
        result = ended.result().result
        assert result.error_code == 0, result.error_string
        # The result may come before the states that led to it.
        until(lambda: seen['left'][-1] == pytest.approx([0.3, -0.2, 0.1], abs=0.01))
        assert set(map(tuple, seen['right'])) == {(0.0, 0.0, 0.0)}
        until(lambda: node.count_publishers('/clock') == 1)
        shared = {'/clock', '/diagnostics', '/parameter_events', '/rosout', '/tf', '/tf_static'}

        def others():
            names = {name for name, _ in node.get_topic_names_and_types()} - shared
            return [name for name in names if not name.startswith(('/left/', '/right/'))]

        # Topics of a process that was killed in this domain stay for a while.
        until(lambda: not others(), others)
    finally:
        launch.terminate()  # its nodes end with it
        node.destroy_node()
        context.try_shutdown()
        launch.wait(LONG_WAIT)
