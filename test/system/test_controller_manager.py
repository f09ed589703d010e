"""controller_manager next to an arm: who starts it, in which namespace; without its package."""

import os
import signal
import subprocess
import sys
import time

import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from launch.actions import LogInfo  # noqa: E402
from long_wait import LONG_WAIT, ask, spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402

from arm_sim.launching.arguments import usual_values  # noqa: E402
from arm_sim.launching.arm import arm_nodes  # noqa: E402
from arm_tools.standards.ros import controller_manager_launch, controller_manager_node  # noqa: E402

USUAL = usual_values() | {
    'engine': 'mujoco',
    'record': 'false',
}


def started(**given):
    """The executables that a launch starts, and the lines that it says."""
    found = arm_nodes(USUAL | given)
    lines = [each for each in found if isinstance(each, LogInfo)]
    names = [each.node_executable for each in found if each not in lines]
    return names, ''.join(part.text for line in lines for part in line.msg)


def test_only_who_requests_it_gets_it(monkeypatch):
    monkeypatch.setattr(controller_manager_launch, 'find_spec', lambda name: object())
    assert 'controller_manager' not in started()[0]
    assert 'controller_manager' in started(controller_manager='true')[0]


def test_without_its_package_the_arm_starts_and_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(controller_manager_launch, 'find_spec', lambda name: None)
    names, line = started(controller_manager='true')
    assert names == started()[0]
    assert line.startswith('controller_manager: controller_manager_msgs is not installed; get it')
    assert '\n' not in line


def test_by_hand_without_its_package_the_node_ends_with_one_line():
    code = """import sys
sys.modules['controller_manager_msgs'] = None
from arm_sim.executables import controller_manager
sys.exit(controller_manager())"""
    done = subprocess.run(
        [sys.executable, '-c', code],
        env=os.environ | {'ROS_DOMAIN_ID': fresh_domain()},
        capture_output=True,
        text=True,
        check=False,
    )
    line = 'controller_manager_msgs is not installed: no service can be offered'
    assert (done.returncode, done.stderr) == (1, f'controller_manager: {line}\n')


@pytest.mark.skipif(
    controller_manager_node.srv is None,
    reason='no controller_manager_msgs: ./ws builds it, and a ROS 2 gets it by rosdep',
)
def test_in_a_namespace_it_lists_and_loads_the_controllers_of_its_own_arm(tmp_path):
    srv, domain = controller_manager_node.srv, fresh_domain()
    words = 'robot:=planar_3r controller:=servo namespace:=left controller_manager:=true'
    log = (tmp_path / 'log.txt').open('w+')
    launch = subprocess.Popen(
        ['ros2', 'launch', 'arm_sim', 'arm.launch.py', *words.split()],
        env=os.environ | {'ROS_DOMAIN_ID': domain},
        stdout=log,
        stderr=log,
    )
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(domain))
    node = rclpy.create_node('pd_controller', context=context)  # of another arm
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    # Made at once: ROS can lose the first answer to a client that has just come.
    kinds = (
        srv.ListControllers,
        srv.LoadController,
        srv.ConfigureController,
        srv.SwitchController,
    )
    names = ('list_controllers', 'load_controller', 'configure_controller', 'switch_controller')
    clients = {
        name: node.create_client(kind, f'/left/controller_manager/{name}')
        for name, kind in zip(names, kinds, strict=True)
    }

    def wait(condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            alive = launch.poll() is None and time.monotonic() < end
            assert alive, (tmp_path / 'log.txt').read_text()
            executor.spin_once(timeout_sec=0.05)

    def call(service, **request):
        client = clients[service]
        return ask(wait, client, client.srv_type.Request(**request))

    def listed():
        return call('list_controllers').controller

    def states():
        return {each.name: each.state for each in listed()}

    try:
        while not (found := listed()) or not found[0].claimed_interfaces:
            assert launch.poll() is None, (tmp_path / 'log.txt').read_text()
        assert [(each.name, each.state) for each in found] == [('servo_controller', 'active')]
        assert list(found[0].claimed_interfaces) == [f'joint_{k}/position' for k in (1, 2, 3)]
        loaded = 'computed_torque_controller'
        # Where an answer is lost, the second one says that it is there already.
        assert call('load_controller', name=loaded).ok or loaded in states()
        assert [each.name for each in listed()] == [loaded, 'servo_controller']
        wait(
            lambda: call('configure_controller', name=loaded).ok or states()[loaded] == 'inactive'
        )
        wanted = {'activate_controllers': [loaded], 'strictness': 4}
        message = call('switch_controller', **wanted)
        while 'is unknown' in message.message:  # it did not answer within the second of a list
            message = call('switch_controller', **wanted)
        assert not message.ok
        assert message.message == (
            f"'{loaded}' requires joint_1/effort, which the arm does not offer; "
            'it offers joint_1/position, joint_2/position, joint_3/position'
        )
    finally:
        launch.send_signal(signal.SIGINT)
        node.destroy_node()
        context.try_shutdown()
        launch.wait(LONG_WAIT)
    assert 'Traceback' not in (tmp_path / 'log.txt').read_text()


@pytest.mark.skipif(
    controller_manager_node.srv is None,
    reason='no controller_manager_msgs: ./ws builds it, and a ROS 2 gets it by rosdep',
)
def test_a_load_succeeds_whenever_its_controller_appears(monkeypatch):
    started, looks = [], []

    def names(clients):
        looks.extend(started)
        return ['pd_controller'] if len(looks) > 1 else []  # from the second look on

    monkeypatch.setattr(controller_manager_node.ControllerClients, 'names', names)
    processes = controller_manager_node.ControllerProcesses
    monkeypatch.setattr(processes, 'start', lambda self, name: started.append(name))
    monkeypatch.setattr(processes, 'code', lambda self, name: None)
    monkeypatch.setattr(sys, 'argv', ['controller_manager'])
    rclpy.init(domain_id=int(fresh_domain()))
    manager, node = controller_manager_node.ControllerManagerNode(), rclpy.create_node('user')
    executor = SingleThreadedExecutor()
    try:
        for each in (manager, node):
            executor.add_node(each)
        load = controller_manager_node.srv.LoadController
        client = node.create_client(load, 'controller_manager/load_controller')
        spin_until(executor, client.service_is_ready)
        answer = client.call_async(load.Request(name='pd_controller'))
        spin_until(executor, answer.done)
        assert started == ['pd_controller']
        assert answer.result().ok
    finally:
        manager.destroy_node()
        rclpy.try_shutdown()
