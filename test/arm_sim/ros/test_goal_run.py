"""What a task receives: it repeats a request without an answer, and drops invalid messages."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT

rclpy = pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.task import Future  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from arm_controllers.follower.goal import Goal  # noqa: E402
from arm_controllers.ros.cdr import serialized  # noqa: E402
from arm_controllers.ros.goal_endpoints import EventActionServer  # noqa: E402
from arm_controllers.ros.messages import wrench_message  # noqa: E402
from arm_controllers.ros.serialized_messages import (  # noqa: E402
    FIELDS,
    JointStateReader,
    JointStateWriter,
)
from arm_controllers.ros.services import serve  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.ros import goal_run, waiting  # noqa: E402
from arm_sim.ros.goal_run import GoalRun, joint_states  # noqa: E402
from arm_sim.ros.loop_messages import COMMAND, STATE, WRENCH, LoopMessages  # noqa: E402
from arm_sim.ros.waiting import Waiting  # noqa: E402


def batch(*messages):
    """Return messages of the control loop as a simulator publishes them."""
    sent = []
    publisher = SimpleNamespace(publish=sent.append)
    node = SimpleNamespace(
        create_publisher=lambda *_: publisher, create_timer=lambda *_: None, timers=()
    )
    loop = LoopMessages(node)
    for message in messages:
        loop.add(*message)
    loop.publish()
    return sent[0]


class Client:
    """A service whose first answers are lost."""

    srv_name = 'simulator/pause'

    def __init__(self, lost):
        self.lost, self.asked = lost, 0

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.asked += 1
        known = self.asked > self.lost
        return SimpleNamespace(done=lambda: known, result=lambda: request, add_done_callback=len)


@pytest.fixture
def waiting_for(monkeypatch):
    """Return `Waiting` of a timeout [s], of a task without a graph."""
    monkeypatch.setattr(waiting, 'REPEAT_PERIOD', 0.01)
    monkeypatch.setattr(waiting, 'wait_until', waited)
    return partial(Waiting, SimpleNamespace(get_name=lambda: 'task'), None)


def waited(executor, condition, what, timeout, news=None):
    if not condition():
        raise ArmError(f'no {what} within {timeout:g} s')


def test_a_goal_whose_answer_is_lost_is_sent_again_and_only_the_newest_answer_holds(waiting_for):
    sent = []

    def send():
        if sent:
            sent[0].set_result('of the goal that is replaced')
        sent.append(Future())
        if len(sent) == 2:
            sent[1].set_result('of the newest')
        return sent[-1]

    assert waiting_for(30.0).answer(send, 'controller') == 'of the newest'
    with pytest.raises(ArmError, match=r'no answer from controller within 0\.05 s'):
        waiting_for(0.05).answer(Future, 'controller')


def test_a_service_whose_answer_is_lost_is_asked_again(waiting_for):
    client = Client(lost=2)
    assert waiting_for(30.0).call(client, 'pause') == 'pause'
    assert client.asked == 3


def test_an_answer_of_a_service_that_takes_longer_than_the_period_of_requests_holds(waiting_for):
    sent = []

    def call_async(request):
        sent.append(Future())
        if len(sent) == 2:
            sent[0].set_result(request)  # what was asked first is done; the second one waits
        return sent[-1]

    client = SimpleNamespace(srv_name='slow', service_is_ready=lambda: True, call_async=call_async)
    assert waiting_for(30.0).call(client, 'solved') == 'solved'
    assert len(sent) == 2


def test_a_service_that_never_answers_is_logged_with_the_whole_time(waiting_for):
    with pytest.raises(ArmError, match=r'no answer from simulator/pause within 0\.05 s'):
        waiting_for(0.05).call(Client(lost=10**9), 'pause')


def test_a_task_with_a_force_torque_sensor_reads_each_wrench_behind_its_state(task):
    run, node, _ = task
    writer, felt = JointStateWriter(('joint',), FIELDS), np.arange(12.0).reshape(2, 6)
    for time_ns, wrench in enumerate(felt):
        raw = serialized(wrench_message('tool0', wrench, time_ns))
        run.on_batch(batch((STATE, writer.serialized(time_ns)), (WRENCH, raw)))
    np.testing.assert_array_equal(run.joint_states().wrench, felt)
    assert 'force_torque_sensor_broadcaster/wrench' not in {
        each.topic_name.lstrip('/') for each in node.subscriptions
    }


@pytest.fixture
def task(monkeypatch):
    """Return a task's run, the node of the run, and the batches that the run has passed on."""
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node, executor, passed = rclpy.create_node('task'), SingleThreadedExecutor(), []
    executor.add_node(node)
    run = GoalRun(node, executor, ('joint',), 'pd_controller', 30.0, passed.append)
    yield run, node, passed
    node.destroy_node()
    rclpy.try_shutdown()


def publish_status(node, values):
    """Publish diagnostics again and again, as a simulator of these values does."""
    arguments = [KeyValue(key=key, value=value) for key, value in values.items()]
    status = DiagnosticStatus(name='simulator', values=arguments)
    publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    node.create_timer(0.01, lambda: publisher.publish(DiagnosticArray(status=[status])))


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    'values',
    [
        {'mode': 'realtime'},
        {'skipped periods': 'some', 'oldest command [ms]': 'long'},
        {'skipped periods': 'nan', 'oldest command [ms]': 'inf'},
    ],
)
def test_an_invalid_status_under_the_simulators_name_ends_no_task(task, values):
    run, node, _ = task
    publish_status(node, values)
    assert run.too_slow() == ''
    assert run.diagnostics == values


def test_a_machine_that_was_too_slow_for_real_time_is_reported_with_its_numbers(task):
    run, node, _ = task
    publish_status(node, {'skipped periods': '12', 'oldest command [ms]': '61.5'})
    expected = '12 control periods were skipped, a command was 62 ms old'
    assert expected in run.too_slow()


def test_a_task_collects_states_once_drops_a_batch_that_is_cut_off_and_forgets_before_a_reset(
    task, monkeypatch
):
    run, _, passed = task
    dropped = []
    monkeypatch.setattr(goal_run.Log, 'warning', lambda self, text: dropped.append(text))
    writer = JointStateWriter(('joint',), FIELDS)
    states = [writer.serialized(2 * k) for k in range(4)]
    mine, other = (
        JointStateWriter(('joint',), ('effort',), name).serialized(0)
        for name in ('pd_controller', 'gripper_controller')
    )
    run.on_batch(
        batch((STATE, states[1]), (COMMAND, mine), (STATE, states[1]), (STATE, states[2]))
    )
    assert (run.states, run.latest_ns, run.answers) == (states[1:3], 4, 0)
    run.on_batch(batch((STATE, states[3]))[:-1])
    assert (len(dropped), len(run.states), len(passed)) == (1, 2, 1)
    run.on_batch(batch((COMMAND, mine), (STATE, states[0]), (COMMAND, other), (COMMAND, b'3')))
    assert (run.states, run.latest_ns, run.answers) == (states[:1], 0, 0)
    run.on_batch(batch((COMMAND, mine), (COMMAND, mine)))
    assert run.answers == 2


def test_states_are_read_in_one_pass_as_one_by_one_and_each_stamp_once():
    reader, rng = JointStateReader(('b', 'a'), FIELDS), np.random.default_rng(0)
    raw = []
    for names in (('b', 'a'), ('a', 'b'), ('b', 'a')):
        writer = JointStateWriter(names, FIELDS)
        for k in range(3):
            for field in FIELDS:
                getattr(writer, field)[:] = rng.normal(size=2)
            raw.append(writer.serialized((k + 3 * len(raw)) * 10**9 // 2))
    for some in (raw[:3], raw, raw[3:6]):
        found = joint_states([*some, some[-1]], reader)
        assert len(found.time_ns) == len(some)
        for row, data in enumerate(some):
            reader.open(data)
            assert found.time_ns[row] == reader.time_ns
            for name, values in (('position', found.q), ('effort', found.effort)):
                np.testing.assert_array_equal(values[row], reader.values(name))


def test_a_goal_that_the_controller_published_before_it_knew_the_recorder_is_sent_again(
    monkeypatch,
):
    monkeypatch.setattr(goal_run, 'REPEAT_PERIOD', 0.05)
    rclpy.init(domain_id=int(fresh_domain()))
    node, executor, taken = rclpy.create_node('task'), SingleThreadedExecutor(), []
    executor.add_node(node)
    name = 'pd_controller/follow_joint_trajectory'
    EventActionServer(node, FollowJointTrajectory, name, taken.append)
    serve(node, SetBool, 'simulator/pause', lambda *_: 'paused')
    try:
        recorded = lambda: len(taken) == 2  # noqa: E731
        run = GoalRun(node, executor, ('joint',), 'pd_controller', LONG_WAIT, is_recorded=recorded)
        goal = Goal(('joint',), np.array([1.0]), np.zeros((1, 1)), None, None)
        run.follow(goal, -1, 2_000_000, lambda t: None)
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    assert [each.request.trajectory for each in taken] == 2 * [taken[0].request.trajectory]


def test_a_controller_on_the_graph_may_compile_for_longer_than_the_timeout(task, monkeypatch):
    _, node, _ = task
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    run = GoalRun(node, executor, ('joint',), 'slow_controller', 0.2)
    slow = rclpy.create_node('slow_controller')
    node.create_subscription(Time, 'simulator/run_until', lambda _: None, 1)
    state = JointStateWriter(('joint',), FIELDS, 'simulator').serialized(0)
    command = JointStateWriter(('joint',), ('effort',), 'slow_controller').serialized(0)
    run.on_batch(batch((STATE, state)))
    monkeypatch.setattr(run, 'call', lambda *_: run.on_batch(batch((STATE, state))))

    def configured():  # later than the timeout
        timer.cancel()
        name = 'slow_controller/follow_joint_trajectory'
        EventActionServer(slow, FollowJointTrajectory, name, lambda _: None)
        run.on_batch(batch((COMMAND, command)))

    timer = node.create_timer(0.6, configured)
    q, _ = run.reset()
    assert q.shape == (1,)
    slow.destroy_node()


def test_a_node_that_never_gets_ready_is_waited_for_ten_times_as_long_and_no_longer(task):
    _, node, _ = task
    executor = SingleThreadedExecutor()
    waits = Waiting(node, executor, 0.05).wait_until
    for of, longest in (('', '0.05'), (node.get_name(), '0.5')):
        with pytest.raises(ArmError, match=rf'^no answer within {longest} s$'):
            waits(lambda: False, 'answer', of)
