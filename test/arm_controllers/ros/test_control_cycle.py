"""From a state to a command: which answers a control cycle gives, and when it begins again."""

import time

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from control_msgs.srv import QueryTrajectoryState  # noqa: E402
from domains import fresh_domain  # noqa: E402
from following import HOME, NAMES, REST, goal  # noqa: E402
from long_wait import LONG_WAIT, spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.cycle_state import CycleState, Event  # noqa: E402
from arm_controllers.measurement import Measurement  # noqa: E402
from arm_controllers.ros.cdr import serialized  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.messages import set_numbers, set_stamp, to_ns, trajectory_message  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402

PERIOD_NS = 2_000_000
START = 5_000  # number of the first state


class Setup:
    """A controller in this process, to which states are handed one by one."""

    def __init__(self, *given):
        files = as_arguments(files_of('ur5e'))
        rclpy.init(args=['--ros-args', *files, *given], domain_id=int(fresh_domain()))
        transport, self.raw = InProcessTransport(), []
        self.node = ControllerNode('computed_torque', transport)
        self.node.trigger_configure()
        self.node.trigger_activate()
        self.cycle = self.node.cycle
        transport.serve_commands('/joint_commands', lambda raw, count: self.raw.append(raw))
        (self.take,) = transport.state_subscribers('/joint_states')

    @property
    def answers(self):
        """Stamp in periods and effort of each command; a release message has none."""
        messages = [deserialize_message(each, JointState) for each in self.raw]
        return [(to_ns(each.header.stamp) // PERIOD_NS, list(each.effort)) for each in messages]

    def state(self, period, q=HOME, v=REST, sender=''):
        message = JointState(name=list(NAMES))
        message.header.frame_id = sender
        set_numbers(message, position=q, velocity=v)
        set_stamp(message.header.stamp, period * PERIOD_NS)
        self.take(serialized(message))

    def follow(self, seconds=1.0):
        """Send a goal that turns every joint by 0.1 rad."""
        message = trajectory_message(goal([seconds], [HOME + 0.1], [REST], [REST]))
        self.cycle.goals.take(serialized(message))


@pytest.fixture
def setup(request):
    made = Setup(*getattr(request, 'param', ()))
    yield made
    made.node.destroy_node()
    rclpy.try_shutdown()


@pytest.mark.slow
def test_the_answer_is_the_laws_command_towards_the_followers_reference(setup):
    setup.state(START)
    setup.follow()
    q, v = HOME + 0.01, np.full(6, 0.05)
    for period in (1, 2):
        setup.state(START + period, q, v)
    law, reference = setup.cycle.law, setup.cycle.follower.reference
    measured = Measurement(q, v)
    expected, _ = law(law.start(measured, reference), measured, reference, 2e-3)
    stamp, effort = setup.answers[-1]
    assert stamp == START + 2
    np.testing.assert_array_equal(effort, expected)


@pytest.mark.slow
def test_a_state_is_answered_once_and_a_repeated_one_with_the_same_bytes(setup):
    for period in (0, 1, 1, 0, 2):
        setup.state(START + period)
    assert [stamp - START for stamp, _ in setup.answers] == [0, 1, 1, 2]
    assert setup.raw[1] == setup.raw[2]
    assert (setup.cycle.states.received, setup.cycle.states.overtaken) == (4, 1)


@pytest.mark.parametrize('setup', [('-p', 'mode:=realtime')], indirect=True)
def test_in_real_time_goals_are_checked_while_time_is_stopped(setup):
    setup.state(START)
    times = np.arange(1, 1001) * 0.01  # so many points are checked in slices
    long = trajectory_message(goal(times, HOME + 0.01 * times[:, np.newaxis]))
    setup.cycle.goals.take(serialized(long))
    end = time.monotonic() + LONG_WAIT
    while not setup.cycle.follower.goals and time.monotonic() < end:
        setup.state(START)
    assert len(setup.cycle.follower.goals) == 1


def test_a_state_that_came_too_early_is_answered_once_the_arm_is_free(setup):
    setup.cycle.handle(Event.REJECT, 'another controller')
    setup.cycle.handle(Event.DEACTIVATE)
    setup.state(START)
    assert setup.raw == []
    setup.cycle.handle(Event.ACTIVATE)
    setup.node.cycle.states.take_again()
    assert setup.raw == []  # an inactive controller keeps no state
    setup.state(START + 1, sender='simulator')  # which has not said whether the joints are free
    assert setup.raw == []
    setup.node.cycle.handle(Event.GRANT)
    setup.node.cycle.states.take_again()
    assert [stamp - START for stamp, _ in setup.answers] == [1]
    assert setup.cycle.state is CycleState.COMMANDING


@pytest.mark.parametrize('event', [Event.DEACTIVATE, Event.REJECT, Event.BEGIN])
def test_goals_wait_from_the_activation_until_the_first_state_or_the_end(setup, event):
    cycle = setup.cycle
    assert cycle.goals.awaited
    if event is Event.BEGIN:
        setup.state(START)
    else:
        cycle.handle(event, 'why')
    assert not cycle.goals.awaited
    cycle.handle(Event.DEACTIVATE)
    cycle.handle(Event.ACTIVATE)
    assert cycle.goals.awaited


def test_a_goal_without_states_is_refused_with_the_reason_why_none_comes(setup):
    setup.state(START)
    setup.cycle.handle(Event.LOSE, 'no state for 3 s')
    assert setup.cycle.goals.refusal == 'no state for 3 s'
    setup.cycle.handle(Event.DEACTIVATE, 'the controller was deactivated')
    assert setup.cycle.goals.refusal == 'the controller was deactivated'


def test_a_controller_that_stops_repeats_its_release_until_the_simulator_has_it(setup):
    setup.state(START)
    setup.follow()
    setup.cycle.handle(Event.DEACTIVATE, 'enough')
    assert not setup.cycle.follower.goals
    assert 'enough' in setup.cycle.goals.problem
    setup.state(START + 1)
    assert setup.answers[1:] == [(START, []), (START, [])]
    setup.cycle.handle(Event.RELEASED)
    setup.state(START + 2)
    assert len(setup.raw) == 3


def test_another_simulator_ends_the_goals_and_the_arm_holds_where_it_is(setup):
    setup.state(START, sender='one')
    assert setup.raw == []  # it publishes no claims
    setup.cycle.handle(Event.GRANT)
    setup.state(START, sender='one')
    setup.follow()
    setup.state(START + 1, HOME + 0.001, sender='another')
    assert not setup.cycle.follower.goals
    expected = "states come from 'another', no longer from 'one'; the arm holds"
    assert expected in setup.cycle.goals.problem
    assert setup.cycle.goals.refusal == expected  # of goals that waited for a state
    np.testing.assert_array_equal(setup.cycle.follower.reference.q, HOME + 0.001)
    assert len(setup.raw) == 2


def test_a_goal_that_waited_while_time_jumped_back_is_refused_with_the_jump(setup):
    setup.state(START)
    setup.follow()
    setup.state(START + 100)
    setup.state(0)
    expected = f'time jumped back by {(START + 100) * PERIOD_NS * 1e-9:g} s; the arm holds'
    assert setup.cycle.goals.refusal == expected
    assert expected in setup.cycle.goals.problem


def test_a_step_that_is_missing_in_lock_step_ends_no_goal_and_moves_the_reference_without_one(
    setup,
):
    for period in (0, 1):
        setup.state(START + period)
    setup.state(START + 4, HOME + 1e-4)  # the simulator has braked
    np.testing.assert_array_equal(setup.cycle.follower.reference.q, HOME + 1e-4)
    setup.follow()
    setup.state(START + 5, HOME + 1e-4)
    setup.state(START + 9, HOME + 1e-4)
    assert setup.cycle.follower.goals
    assert not setup.cycle.goals.problem


def test_the_reference_is_known_from_the_newest_state_on_while_the_controller_commands(setup):
    executor = SingleThreadedExecutor()
    executor.add_node(setup.node)
    client = setup.node.create_client(QueryTrajectoryState, '~/query_state')
    spin_until(executor, client.service_is_ready)

    def reference(period):
        request = QueryTrajectoryState.Request()
        set_stamp(request.time, period * PERIOD_NS)
        answer = client.call_async(request)
        spin_until(executor, answer.done)
        return answer.result()

    answer = reference(START)
    assert not answer.success
    assert answer.message == 'the controller is not active, or has not seen a state yet'
    setup.state(START)
    setup.follow(seconds=0.5)
    setup.state(START + 1)
    answer = reference(START + 260)
    assert answer.success
    assert answer.name == list(NAMES)
    np.testing.assert_allclose(answer.position, HOME + 0.1)
    np.testing.assert_allclose(answer.velocity, REST, atol=1e-12)
    answer = reference(START)
    assert answer.message == '0.002 s before the newest state; what has passed is not kept'


def test_a_report_has_the_command_and_the_measured_effort(setup):
    seen = []
    setup.node.create_subscription(
        JointTrajectoryControllerState, '~/controller_state', seen.append, 1000
    )
    executor = SingleThreadedExecutor()
    executor.add_node(setup.node)
    setup.state(START)
    for period in range(1, 12):
        setup.state(START + period)
    spin_until(executor, lambda: len(seen) == 2)
    np.testing.assert_array_equal(seen[0].output.effort, setup.answers[0][1])
    assert list(seen[0].feedback.effort) == []  # the states have none
