"""What the page's node reads: bytes that are no message harm it nowhere."""

import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from domains import fresh_domain
from long_wait import AGAIN, LONG_WAIT, spin_until

rclpy = pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from arm_controllers.ros import log  # noqa: E402
from arm_controllers.ros.goal_endpoints import EventActionServer  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402
from arm_dynamics import ArmError, RobotModel  # noqa: E402
from arm_dynamics.robots import find_urdf  # noqa: E402
from arm_interfaces.srv import ComputeIK  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402
from arm_tools.view.event_log import ALARM  # noqa: E402
from arm_tools.view.monitor import ArmMonitor  # noqa: E402
from arm_tools.view.ros.arm_commands import ArmCommands  # noqa: E402
from arm_tools.view.ros.arm_input import ArmInput  # noqa: E402
from arm_tools.view.ros.view_node import ViewNode  # noqa: E402

UR5E = RobotModel.from_urdf(find_urdf('ur5e'))
BYTES = {'one': b'\x00', 'header only': b'\x00\x01\x00\x00', 'noise': bytes(range(256))}


def wait(condition):
    """Ask until a condition holds."""
    end = time.monotonic() + LONG_WAIT
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        time.sleep(0.02)


@pytest.mark.parametrize(
    'topic',
    ['joint_states', 'simulator/objects', 'c/controller_state', 'c/goals', 'c/results'],
)
def test_bytes_that_are_no_message_are_refused_and_the_next_one_is_shown(topic):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('looks_on', context=context)
    arm = ArmMonitor(UR5E)
    source = ArmInput(node, arm)
    source.use('c')
    kinds = {each.topic_name: each.msg_type for each in source.subscriptions}
    hostile = node.create_publisher(kinds[f'/{topic}'], topic, 10)
    states = node.create_publisher(JointState, 'joint_states', 1)
    wait(lambda: hostile.get_subscription_count() and states.get_subscription_count())
    refused = []

    def publish(publisher, message):
        publisher.publish(message)
        try:
            source.read()
        except ArmError as error:
            refused.append(str(error))

    for raw in BYTES.values():
        refused.clear()
        wait(lambda raw=raw: publish(hostile, raw) or refused)
        assert '\n' not in refused[0]
    state = JointState(name=UR5E.joint_names, position=[0.1] * 6)
    state.header.stamp.sec = 7
    wait(lambda: publish(states, state) or arm.time == 7.0)
    marker = Marker(type=Marker.SPHERE, ns='ball')
    marker.scale.x = marker.scale.y = marker.scale.z = 0.1
    objects = node.create_publisher(MarkerArray, 'simulator/objects', 1)
    wait(lambda: publish(objects, MarkerArray(markers=[marker])) or arm.objects)
    assert [(each.name, each.kind) for each in arm.objects] == [('ball', 'sphere')]
    source.close()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


class Page:
    """A page that no browser shows."""

    url, port, has_browser, refused = 'http://localhost:8080', 8080, False, {}

    def __init__(self, host, port, ask):
        self.ask = ask
        self.done = []

    def __getattr__(self, name):
        return lambda *given: self.done.append(name)


def test_a_controller_of_other_joints_is_not_the_arms_and_warns_never():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('looks_on', context=context)
    arm = ArmMonitor(UR5E)
    source = ArmInput(node, arm)
    for name, joints in (('gripper_controller', ['finger']), ('pd_controller', UR5E.joint_names)):
        source.use(name)
        reports = node.create_publisher(
            JointTrajectoryControllerState, f'{name}/controller_state', 1
        )
        report = JointTrajectoryControllerState(joint_names=joints)
        report.feedback.positions = report.reference.positions = [0.01] * len(joints)
        report.header.stamp.sec = 5
        wait(reports.get_subscription_count)

        def seen(reports=reports, report=report):
            reports.publish(report)
            source.read()  # without an error
            return source.others and (arm.reference is not None or len(report.joint_names) == 1)

        wait(seen)
    assert source.others == {'gripper_controller'}
    source.close()
    node.destroy_node()
    context.try_shutdown()


def test_a_tab_that_asks_each_second_with_an_old_address_costs_a_line_a_minute(monkeypatch, capfd):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    now = [0.0]
    monkeypatch.setattr(log, 'time', SimpleNamespace(monotonic=lambda: now[0]))
    rclpy.init()
    node = ViewNode(Page)
    node.page.refused = Counter()
    for now[0] in range(100, 220):
        node.page.refused['no token'] += 1
        for timer in node.timers:
            timer.callback()
    node.destroy_node()
    rclpy.try_shutdown()
    lines = [each for each in capfd.readouterr().err.splitlines() if 'has refused' in each]
    assert len(lines) == 2
    assert 'has refused no token (1): open the address that the start printed' in lines[0]


def test_an_impossible_command_of_a_browser_is_refused_on_the_page(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node = ViewNode(Page)
    node.show_arm(UR5E)
    done = []
    monkeypatch.setattr(node.commands.wrenches, 'get_subscription_count', lambda: 1)

    def push():
        node.commands.push(UR5E.tip_frame, np.zeros(3), 1e300)

    for command in (lambda: round(float('nan')), lambda: {}['up'], push, lambda: done.append(1)):
        node.page.ask(command)
    node.page.ask(lambda: node.page.ask(lambda: done.append(2)))
    node.update()
    assert done == [1]  # what is asked meanwhile has its turn with the next picture
    node.update()
    assert done == [1, 2]
    message = node.arm.events.changes()
    assert 'cannot convert float NaN to integer' in message
    assert 'up' in message
    assert 'time of a push [s] is 1e+300; it must be finite, &gt;= 0 and &lt;= 3600' in message
    node.destroy_node()
    rclpy.try_shutdown()


def test_a_page_that_a_browser_has_broken_is_built_again(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node = ViewNode(Page)
    node.show_arm(UR5E)
    page = node.page
    page.has_browser = True
    node.update()
    assert page.done[-1] == 'show'

    def broken(*given):
        raise KeyError('year')

    page.show = broken
    count = page.done.count('set_arm')
    node.update()
    assert page.done.count('set_arm') == count + 1
    del page.show
    node.update()
    assert page.done[-1] == 'show'
    node.destroy_node()
    rclpy.try_shutdown()


def test_a_page_may_choose_another_controller_while_an_answer_is_on_its_way():
    rclpy.init(domain_id=int(fresh_domain()))
    nodes = node, peer = rclpy.create_node('page'), rclpy.create_node('peer')
    executor, goals = make_executor(), []
    for each in nodes:
        executor.add_node(each)
    name = '/c/follow_joint_trajectory'
    EventActionServer(peer, FollowJointTrajectory, name, goals.append)
    commands = ArmCommands(node, ArmMonitor(UR5E), lambda *_: None)

    def move():
        commands.use('/c')
        commands.move(UR5E.neutral())

    try:
        spin_until(executor, lambda: move() or goals)
        for count in (1, 2, 3):
            move()
            executor.spin_once(timeout_sec=1.0)
            time.sleep(0.1)  # the executor has the answer
            commands.use('/d')
            spin_until(executor, lambda count=count: len(goals) > count)
    finally:
        for each in nodes:
            each.destroy_node()
        rclpy.try_shutdown()


@pytest.mark.parametrize('mode', ['realtime', 'lockstep'])
def test_the_speed_of_the_page_is_the_simulators_and_lock_step_refuses(mode):
    arguments = [*as_arguments(files_of('ur5e')), '-p', f'mode:={mode}']
    rclpy.init(args=['--ros-args', *arguments], domain_id=int(fresh_domain()))
    simulator, node, executor = SimulatorNode(), ViewNode(Page), SingleThreadedExecutor()
    executor.add_node(simulator)
    executor.add_node(node)
    node.show_arm(UR5E)

    def until(condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end
            executor.spin_once(timeout_sec=0.02)

    until(node.commands.clients['speed'].service_is_ready)
    asked = [time.monotonic() - AGAIN]

    def answered():
        if time.monotonic() - asked[-1] >= 0.1 * AGAIN:  # ROS can lose an answer
            asked.append(time.monotonic())
            node.commands.set_speed(0.25)
        return 'speed: ' in (node.arm.events.changes() or '')

    until(answered)
    if mode == 'realtime':
        assert simulator.arm_clock.pacing.factor == 0.25
        assert not node.arm.events.refusals
    else:
        refusal = node.arm.events.refusals.pop()
        assert refusal == "speed: real_time_factor has no effect in mode 'lockstep'"
    for each in (simulator, node):
        each.destroy_node()
    rclpy.try_shutdown()


def test_neither_ones_own_pause_nor_a_busy_machine_is_an_alarm_and_a_fault_is(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node = ViewNode(Page)
    node.show_arm(UR5E)

    def report(name, message, level=DiagnosticStatus.OK):
        status = DiagnosticStatus(name=name, message=message, level=level)
        node.on_diagnostics(DiagnosticArray(status=[status]))

    report('simulator', 'paused')
    report('c', 'no state for 2 s: is the simulator running?', DiagnosticStatus.WARN)
    paused = node.arm.events.changes()
    assert 'no state for 2 s' in paused
    assert ALARM not in paused
    report('simulator', 'running')
    report('c', 'following a goal')
    report('simulator', 'the machine misses 18% of real time', DiagnosticStatus.WARN)
    busy = node.arm.events.changes()
    assert 'misses 18%' in busy
    assert ALARM not in busy
    report('c', 'the command is not finite', DiagnosticStatus.ERROR)
    assert ALARM in node.arm.events.changes()
    node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.parametrize(
    ('names', 'position', 'says'),
    [
        (['elbow_joint'], [0.5], "joint 'shoulder_pan_joint' is named 0 times"),
        (UR5E.joint_names, [0.5], '1 position values for 6 joint names'),
        (UR5E.joint_names, [float('nan')] * 6, 'is not finite'),
    ],
)
def test_an_invalid_answer_of_inverse_kinematics_is_refused(names, position, says, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node = ViewNode(Page)
    node.show_arm(UR5E)
    asked = []

    class Client:
        def service_is_ready(self):
            return True

        def call_async(self, request):
            asked.append(rclpy.task.Future())
            return asked[-1]

    node.commands.clients['tip'], real = Client(), node.commands.clients['tip']
    node.commands.reach(UR5E.forward_kinematics(UR5E.neutral()))
    answer = ComputeIK.Response(success=True, joint_names=names, position=position)
    asked[0].set_result(answer)
    assert says in node.arm.events.changes().replace('&#39;', "'")
    node.commands.clients['tip'] = real
    node.destroy_node()
    rclpy.try_shutdown()
