"""Publishers from which a node receives nothing are named, with both policies and the remedy."""

import re
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

import rclpy
from lifecycle_msgs.srv import ChangeState
from long_wait import spin_until
from nodes_in_process import started
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from repository import ROOT

from arm_controllers.ros.nodes import LifecycleNode, log_unmatched, mismatch
from arm_controllers.ros.running import make_executor

BEST_EFFORT = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
RELIABLE = QoSProfile(depth=1)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ACTIVE = '-p', 'autostart:=true', '-p', 'mode:=lockstep', '-p', 'constraints.clearance:=0.01'
NODES = {
    'simulator': (),
    'computed_torque_controller': ACTIVE,
    'hybrid_force_motion_controller': ACTIVE,
    'gripper_controller': (),
    'supervisor': (),
    'tip_servo': (),
    'linear_move': (),
    'plan_motion': (),
    'viewer': (),
    'view': (),
    'plot': (),
}
LINE = re.compile(r'(/\S+): no message from (?:/talker|a publisher) arrives: (.*)')
OF_ROS = '/clock', '/parameter_events'


def kind_of(qos):
    words = [qos.reliability.short_key, qos.durability.short_key]
    return ', '.join(words).replace('_', ' ')


def on_the_page():
    """Return the topics of each kind."""
    text = (ROOT / 'docs' / 'reliability.md').read_text()
    rows = re.findall(r'^\| (\w[\w ]+, [\w ]+): [^|]*\| (.*) \|$', text, re.MULTILINE)
    return {kind: set(re.findall(r'`(\w+)`', topics)) for kind, topics in rows}


def expected(each):
    """Return the lines of two publishers of a topic, best effort and reliable, both volatile."""
    given = {'best_effort': BEST_EFFORT, 'volatile': RELIABLE}
    policies = {'best_effort': ('reliability', 'reliable'), 'volatile': ('durability', '')}
    for word, qos in given.items():
        if why := mismatch(qos, each.qos_profile):
            policy, needed = policies[word]
            needed = needed or each.qos_profile.durability.short_key
            assert why == (
                f'its {policy} is {word}, this node needs {needed}: publish with {policy} '
                f'{needed} (ros2 topic pub --qos-{policy} {needed})'
            )
            yield each.topic_name, why


@pytest.mark.quick(4)
@pytest.mark.parametrize('name', NODES)
def test_an_input_hears_a_best_effort_publisher_or_names_it_in_one_line(name, tmp_path, capfd):
    with started(name, tmp_path, *NODES[name]) as node:
        executor, talker = make_executor(), rclpy.create_node('talker')
        executor.add_node(node)
        inputs = [each for each in node.subscriptions if each.topic_name not in OF_ROS]
        page, awaited, heard = on_the_page(), [], []
        for each in inputs:
            topic = each.topic_name.rpartition('/')[2]
            assert topic in page[kind_of(each.qos_profile)], each.topic_name
            awaited += expected(each)
            for qos in (BEST_EFFORT, RELIABLE):
                made = talker.create_publisher(each.msg_type, each.topic_name, qos)
                heard += [] if mismatch(qos, each.qos_profile) else [made]
        assert inputs
        log = []

        def lines():
            log.append(capfd.readouterr().err)
            return LINE.findall(''.join(log))

        spin_until(executor, lambda: len(lines()) >= len(awaited))
        spin_until(executor, lambda: all(each.get_subscription_count() for each in heard))
        end = time.monotonic() + 0.3  # no second line comes
        spin_until(executor, lambda: time.monotonic() > end)
        assert sorted(lines()) == sorted(awaited)
        assert 'incompatible QoS' not in ''.join(log)
        executor.shutdown()
        talker.destroy_node()


@pytest.mark.parametrize(
    ('offered', 'needed', 'why'),
    [
        (BEST_EFFORT, RELIABLE, 'reliability is best_effort, this node needs reliable'),
        (RELIABLE, LATCHED, 'durability is volatile, this node needs transient_local'),
        (RELIABLE, RELIABLE, ''),
        (LATCHED, RELIABLE, ''),
        (LATCHED, BEST_EFFORT, ''),
    ],
)
def test_only_what_does_not_match_has_a_reason_and_the_reason_names_both_sides(
    offered, needed, why
):
    found = mismatch(offered, needed)
    assert found.startswith(f'its {why}' if why else '')
    assert bool(found) == bool(why)


def test_a_flood_of_publishers_that_do_not_match_ends_in_a_line():
    lines = []

    class Node:
        def get_logger(self):
            return SimpleNamespace(warning=lines.append)

        def get_publishers_info_by_topic(self, topic):
            return [
                SimpleNamespace(endpoint_gid=k.to_bytes(8), qos_profile=BEST_EFFORT,
                                node_namespace='/', node_name=f'p{k}')
                for k in range(100)
            ]  # fmt: skip

    known, subscription = set(), SimpleNamespace(topic_name='/a', qos_profile=RELIABLE)
    for _ in range(2):
        log_unmatched(Node(), subscription, known)
    assert len(lines) == 20
    assert lines[-1].endswith('more such publishers are not named')


def test_every_node_of_the_package_is_one_that_names_them():
    own = 'from arm_controllers.ros.nodes import '
    for package in ('arm_controllers', 'arm_sim', 'arm_tools', 'arm_lab'):
        for path in (ROOT / package).rglob('*.py'):
            text = path.read_text()
            if re.search(r'^class \w+\((Lifecycle)?Node\)', text, re.MULTILINE):
                assert own in text, path


ALLOWED = {
    'computed_torque_controller': 'active; allowed: deactivate (4), shutdown (7)',
    'gripper_controller': 'unconfigured; allowed: configure (1), shutdown (5)',
}


@pytest.mark.parametrize('name', ALLOWED)
def test_a_transition_that_is_not_allowed_is_refused_in_one_line(name, tmp_path, capfd):
    with started(name, tmp_path, *NODES[name]) as node:
        (service,) = (each for each in node.services if each.srv_type is ChangeState)
        capfd.readouterr()
        for label, number, said in ('', 0, '0'), ('', 77, '77'), ('fly\n', 3, r"'fly\n'"):
            request = ChangeState.Request()
            request.transition.label, request.transition.id = label, number
            assert not service.callback(request, ChangeState.Response(success=True)).success
            (line,) = capfd.readouterr().err.splitlines()
            words = f'transition {said} refused: the controller is {ALLOWED[name]}'
            assert line.partition(']: ')[2] == words


def test_an_error_in_a_transition_is_logged_where_rclpy_drops_it(capfd):
    class Broken(LifecycleNode):
        def on_configure(self, state):
            raise KeyError('elbow')

    rclpy.init()
    node = Broken('broken')
    assert node.trigger_configure() == TransitionCallbackReturn.ERROR
    (line,) = capfd.readouterr().err.splitlines()
    assert line.partition(']: ')[2] == "transition failed: KeyError: 'elbow'"
    assert line.startswith('[ERROR]')
    node.destroy_node()
    rclpy.shutdown()
