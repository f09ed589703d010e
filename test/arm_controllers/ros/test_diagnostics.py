"""What a controller says of itself on /diagnostics: every state in words of its own."""

import math
import time

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from domains import fresh_domain  # noqa: E402
from following import goal  # noqa: E402
from long_wait import spin_until  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.cycle_times import CycleTimes  # noqa: E402
from arm_controllers.ros.controller_node import ControllerNode  # noqa: E402
from arm_controllers.ros.messages import trajectory_message  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402

HOME = np.array([-1.57, -1.57, 1.57, -1.57, -1.57, 0.0])


class Controller:
    """A controller in this process; its states are handed to it one by one."""

    def __init__(self):
        arguments = ['--ros-args', *as_arguments(files_of('ur5e'))]
        rclpy.init(args=arguments, domain_id=int(fresh_domain()))
        self.node = ControllerNode('computed_torque')
        self.time_ns = 0

    def close(self):
        self.node.destroy_node()
        rclpy.try_shutdown()

    @property
    def words(self):
        return self.node.diagnostics.words(self.node.cycle)[1]

    @property
    def level(self):
        return self.node.diagnostics.words(self.node.cycle)[0]

    def show(self, seconds=0.0, q=HOME, v=(0.0,) * 6):
        """Show the next state, `seconds` later."""
        self.time_ns += max(2_000_000, round(seconds * 1e9))
        state = JointState(name=list(self.node.cycle.model.joint_names))
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(self.time_ns, 1_000_000_000)
        state.position, state.velocity, state.effort = q.tolist(), list(v), [0.0] * 6
        self.node.cycle.states.take(serialize_message(state))

    def ask(self, wanted):
        self.node.cycle.goals.take(bytes(serialize_message(trajectory_message(wanted))))


@pytest.fixture
def controller(monkeypatch):
    for name in ('SILENCE', 'MEMORY'):  # this process may be suspended between two lines
        monkeypatch.setattr(f'arm_controllers.ros.diagnostics.{name}', math.inf)
    made = Controller()
    yield made
    made.close()


def test_every_state_of_a_controller_has_its_own_words(controller):
    assert controller.words == 'not configured: configure and activate it'
    controller.node.trigger_configure()
    assert controller.words == 'inactive: activate it to command the arm'
    controller.node.trigger_activate()
    waits = 'waiting for a state on /joint_states: is the simulator running'
    assert controller.words.startswith(waits)
    controller.show()
    assert controller.words == 'holding'
    controller.ask(goal([1.0], [HOME + 0.1]))
    controller.ask(goal([1.0], [HOME], start_ns=20_000_000_000))
    for _ in range(2):
        controller.show(0.25, controller.node.cycle.follower.reference.q.copy())
    assert controller.words.startswith('following a goal, 0.5')
    assert controller.words.endswith('of 1.00 s, 1 more waiting for their start')
    follower = controller.node.cycle.follower
    follower.set_parameters(follower.parameters)
    for _ in range(3):
        controller.show(0.25)
    assert controller.words == 'holding, 1 more waiting for their start'


def test_a_state_that_comes_again_is_a_pause_and_goals_that_wait_are_logged_once(
    controller, monkeypatch, capfd
):
    words = 'time is stopped at 0.002 s: the simulator is paused, or waits for another node; '
    words += 'this ends a pause: ros2 service call /simulator/pause std_srvs/srv/SetBool '
    words += "'{data: false}'"
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    controller.show()

    def second_of_a_pause():
        controller.time_ns -= 2_000_000
        controller.show()  # again
        assert controller.words == words
        controller.node.diagnostics.report(controller.node.cycle, None)

    monkeypatch.setattr('arm_controllers.ros.diagnostics.SILENCE', 0.0)
    monkeypatch.setattr('arm_controllers.ros.state_input.STILL', 0.2)
    time.sleep(0.3)
    assert controller.words.startswith('no state for 0 s: is the simulator')
    for _ in range(12):
        second_of_a_pause()
    controller.ask(goal([1.0], [HOME + 0.1]))  # it does not wait for long yet
    for _ in range(9):
        second_of_a_pause()
    assert 'goals wait' not in capfd.readouterr().err
    for _ in range(5):
        second_of_a_pause()
    controller.show()
    controller.node.diagnostics.report(controller.node.cycle, None)
    assert capfd.readouterr().err.count(f'goals wait: {words}') == 1


def test_goal_that_waits_for_the_arm_is_said_to_settle(controller):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    controller.show()
    follower = controller.node.cycle.follower
    tolerances = {'goal_tolerance': (0.01,), 'goal_time_limit': 5.0}
    follower.set_parameters(type(follower.parameters)(**tolerances))
    controller.ask(goal([0.5], [HOME + 0.1]))
    for _ in range(3):
        controller.show(0.25)
    assert controller.words == 'settling, 0.25 s after the end of the goal'


def test_refused_goal_and_a_goal_that_failed_are_reported_with_their_reason(controller):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    controller.show()
    controller.ask(goal([0.5], [HOME + 9.0]))
    controller.show()
    assert controller.words.startswith("holding; goal refused: joint 'shoulder_pan_joint': ")
    controller.ask(goal([0.5], [HOME + 0.1]))
    controller.show(2.0)
    assert controller.words.startswith('holding; goal ended: time jumped forward by 2')


def test_state_that_cannot_be_used_is_an_error_that_names_the_joint(controller):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    bad = HOME.copy()
    bad[1] = np.nan
    controller.show(q=bad)
    assert controller.words == (
        'states cannot be used, the arm gets no command:'
        " joint 'shoulder_lift_joint': position nan is not finite"
    )
    assert controller.level > b'\x01'


def test_stamps_at_the_ends_of_what_a_message_holds_are_jumps_of_time_and_no_more(controller):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    controller.show()
    for sec in (2**31 - 1, -(2**31), 0, -1, 2**31 - 1, 1):
        controller.ask(goal([5.0], [HOME + 0.1]))
        controller.time_ns = sec * 1_000_000_000
        controller.show()
        assert not controller.node.cycle.follower.goals
        assert controller.node.cycle.follower.time_ns == controller.time_ns
        np.testing.assert_array_equal(controller.node.cycle.follower.reference.q, HOME)


class Broken:
    """A law with memory, which a large velocity poisons until it starts again."""

    command_interface = 'effort'

    def start(self, measured, reference):
        return np.zeros(6)

    def __call__(self, state, measured, reference, dt):
        state = state + measured.v**300
        return state - state, state  # inf - inf


def test_goal_that_is_open_when_the_node_ends_is_logged_without_a_warning(capfd):
    ending = Controller()
    ending.node.trigger_configure()
    ending.node.trigger_activate()
    ending.show()
    ending.ask(goal([5.0], [HOME + 0.1]))
    ending.close()
    logged = [line for line in capfd.readouterr().err.splitlines() if 'goal ended' in line]
    assert len(logged) == 1
    assert '[INFO]' in logged[0]
    assert logged[0].endswith('goal ended: the controller ends')


@pytest.fixture
def commands(controller):
    """Numbers of every command that the controller publishes; a release has none."""
    seen = []
    node = controller.node
    node.trigger_configure()
    node.trigger_activate()
    node.create_subscription(
        JointState, 'joint_commands', lambda m: seen.append(list(m.effort)), 10
    )
    return seen


def test_command_that_is_not_finite_is_never_published_and_the_arm_is_released_once_with_a_reason(
    controller, commands
):
    cycle = controller.node.cycle
    cycle.law = Broken()
    executor = SingleThreadedExecutor()
    executor.add_node(controller.node)

    def show(velocity):
        controller.show(v=np.full(6, velocity))

    show(0.0)
    controller.ask(goal([5.0], [HOME + 0.1]))
    for _ in range(3):
        show(100.0)
    spin_until(executor, lambda: len(commands) >= 2)
    assert commands == [[0.0] * 6, []]
    assert controller.level > b'\x01'
    assert (
        "joint 'shoulder_pan_joint': the law's command is nan at position -1.57 and velocity 100"
        in (controller.words)
    )
    assert not cycle.follower.goals
    show(0.0)
    spin_until(executor, lambda: len(commands) >= 3)
    assert commands == [[0.0] * 6, [], [0.0] * 6]


def test_a_missed_deadline_is_counted_and_logged_and_the_computing_time_is_published(
    controller, capfd
):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    cycle, published = controller.node.cycle, []
    executor = SingleThreadedExecutor()
    executor.add_node(controller.node)
    controller.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda m: published.extend(m.status), 10
    )
    controller.show()
    law = cycle.law

    class Slow:
        def __call__(self, *arguments):
            time.sleep(0.004)
            return law(*arguments)

    cycle.times = CycleTimes(0.003)  # as in real time
    cycle.law = Slow()
    controller.show()
    spin_until(executor, lambda: published)  # once a second
    values = {each.key: each.value for each in published[-1].values}
    assert values['missed deadlines'] == '1'
    worst = float(values['CPU time of a cycle, worst [ms]'])
    assert 0.0 < float(values['CPU time of a cycle, mean [ms]']) <= worst < 1e3
    said = capfd.readouterr().err
    assert '1 cycle took longer than the control period of 2 ms, up to ' in said


def test_a_goal_for_which_no_state_comes_names_the_topic(controller, monkeypatch):
    controller.node.trigger_configure()
    controller.node.trigger_activate()
    monkeypatch.setattr('arm_controllers.ros.controller_node.LONGEST_WAIT', 0.0)
    executor = SingleThreadedExecutor()
    executor.add_node(controller.node)
    spin_until(executor, lambda: not controller.node.cycle.goals.awaited)
    refusal = 'no state came on /joint_states within 0 s: is the simulator running?'
    assert controller.node.cycle.goals.refusal == refusal
