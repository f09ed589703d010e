"""A controller in front of a hand-made plant: how it answers good and bad states."""

from contextlib import contextmanager

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, MODEL, NAMES, ArmSystem, goal, trajectory
from long_wait import LONG_WAIT
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_QOS, STATE_QOS

CONTROLLER = 'computed_torque_controller'
DT = 0.002


class HandMadePlant:
    """Publishes the states a test wants and collects the commands that answer them."""

    def __init__(self, system):
        self.system = system
        self.states = system.node.create_publisher(JointState, 'joint_states', STATE_QOS)
        self.commands = []
        system.node.create_subscription(
            JointState, 'joint_commands', self.commands.append, CONTROL_QOS
        )
        system.wait(lambda: self.states.get_subscription_count() > 1, 'controller listening')
        system.wait(lambda: system.node.count_publishers('joint_commands') > 0, 'commands')
        self.k = 0

    def message(self, q=HOME, v=None, names=NAMES):
        message = JointState(name=list(names))
        message.position = [float(x) for x in q]
        message.velocity = [0.0] * len(q) if v is None else [float(x) for x in v]
        message.effort = [0.0] * len(q)
        return message

    def show(self, message, answered=True):
        """Publish a state at the next instant; return the command that answers it, if any."""
        self.k += 1
        message.header.stamp.sec, rest = divmod(self.k * 2, 1000)
        message.header.stamp.nanosec = rest * 1_000_000
        wanted = message.header.stamp

        def answer():
            return [c for c in self.commands if c.header.stamp == wanted]

        if answered:
            # The controller may not be listening yet: the same state is shown until it answers.
            def ask():
                self.states.publish(message)
                return answer()

            self.system.wait(ask, 'command')
            return np.array(answer()[0].effort)
        self.states.publish(message)
        self.system.spin(0.3)
        assert not answer()
        return None


@contextmanager
def plant_that_may_be_silent(seconds):
    with ArmSystem('lockstep') as system:
        timeout = f'state_timeout:={seconds}'
        system.controller('computed_torque', timeout, 'state_publish_rate:=500.0')
        made = HandMadePlant(system)
        made.show(made.message())
        yield made
        assert system.alive(CONTROLLER)
        assert 'Traceback' not in system.log(CONTROLLER)


@pytest.fixture(scope='module')
def plant():
    """Return one that a busy machine may stop between two states."""
    with plant_that_may_be_silent(LONG_WAIT) as made:
        yield made


def test_state_at_rest_is_answered_by_the_torque_that_holds_it(plant):
    tau = plant.show(plant.message())
    np.testing.assert_allclose(tau, MODEL.gravity_torque(HOME), atol=1e-9)


def test_joints_of_a_state_are_read_by_name_in_any_order_and_next_to_others(plant):
    expected = plant.show(plant.message(HOME + 0.01 * np.arange(6)))
    order = [5, 2, 0, 3, 1, 4]
    q = (HOME + 0.01 * np.arange(6))[order]
    mixed = plant.message([*q, 0.3], names=[*(NAMES[k] for k in order), 'gripper'])
    np.testing.assert_allclose(plant.show(mixed), expected, atol=1e-9)


@pytest.mark.parametrize(
    ('change', 'expected'),
    [
        (lambda m: m.position.__setitem__(1, np.nan), f"'{NAMES[1]}': position nan"),
        (lambda m: m.velocity.__setitem__(2, np.inf), f"'{NAMES[2]}': velocity inf"),
        (lambda m: (m.name.pop(), m.position.pop(), m.velocity.pop()), f"'{NAMES[5]}' is named 0"),
        (lambda m: m.name.__setitem__(3, 'wrist'), f"'{NAMES[3]}' is named 0"),
        (lambda m: m.name.__setitem__(3, NAMES[0]), f"'{NAMES[0]}' is named 2"),
        (lambda m: m.position.pop(), '5 position values for 6'),
        (lambda m: m.velocity.pop(), '5 velocity values for 6'),
    ],
)
def test_bad_state_is_dropped_with_the_joint_named_and_gets_no_command(plant, change, expected):
    message = plant.message()
    change(message)
    plant.show(message, answered=False)

    def text():
        plant.states.publish(message)  # one line per second
        return expected in plant.system.log(CONTROLLER)

    plant.system.wait(text, 'line about it')
    np.testing.assert_allclose(plant.show(plant.message()), MODEL.gravity_torque(HOME), atol=1e-6)


def test_diagnostics_say_that_states_cannot_be_used_and_why(plant):
    message = plant.message()
    message.position[4] = np.nan

    def text():
        plant.states.publish(message)
        words = plant.system.diagnostics.get(CONTROLLER, (0, ''))[1]
        return 'cannot be used' in words and NAMES[4] in words

    plant.system.wait(text, 'words on /diagnostics')
    plant.show(plant.message())


def test_time_that_jumps_forward_drops_the_goal_and_holds_the_measured_state(plant):
    system = plant.system
    plant.show(plant.message())
    _, end = system.send(CONTROLLER, goal([2.0], [HOME + 0.3]))
    for _ in range(20):
        plant.show(plant.message())
    plant.k += 2000
    tau = plant.show(plant.message())
    np.testing.assert_allclose(tau, MODEL.gravity_torque(HOME), atol=1e-6)
    answer = system.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'time jumped forward by 4' in answer.result.error_string


def elsewhere(message):
    message.position = [float(x) for x in HOME + 0.1]


def of_another_simulator(message):
    message.header.frame_id = 'simulator 2'


@pytest.mark.parametrize(
    ('change', 'says'),
    [(elsewhere, 'position jumped by 0.1 rad in'), (of_another_simulator, "from 'simulator 2'")],
)
def test_another_arm_at_the_next_stamp_ends_the_goal_and_is_held_where_it_is(plant, change, says):
    system = plant.system
    plant.show(plant.message())
    _, end = system.send(CONTROLLER, goal([2.0], [HOME + 0.3]))
    for _ in range(20):
        plant.show(plant.message())
    message = plant.message()
    change(message)
    tau = plant.show(message)
    np.testing.assert_allclose(tau, MODEL.gravity_torque(np.array(message.position)), atol=1e-6)
    answer = system.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert says in answer.result.error_string


def goes_on(plant, periods):
    """Show a state some periods late during a goal; is it dropped, and the goal succeeds?"""
    system = plant.system

    def overtaken():
        return int(system.values.get(CONTROLLER, {}).get('overtaken states', 0))

    before = overtaken()
    plant.show(plant.message())
    _, end = system.send(CONTROLLER, goal([0.2], [HOME]))
    for _ in range(10):
        plant.show(plant.message())
    late = plant.message(HOME + 0.1)
    late.header.stamp.sec, rest = divmod((plant.k - periods) * 2, 1000)
    late.header.stamp.nanosec = rest * 1_000_000
    plant.states.publish(late)
    system.spin(0.1)  # the newest state pushes out those that are not taken yet
    for _ in range(100):
        plant.show(plant.message())
    status = system.result(end, 'end of the goal').status
    for _ in range(2):  # the first may have been on its way
        system.values.pop(CONTROLLER, None)
        system.wait(lambda: CONTROLLER in system.values, 'diagnostics')
    return status == GoalStatus.STATUS_SUCCEEDED and overtaken() > before


@pytest.mark.parametrize('periods', [1, 2, 4])
def test_state_that_was_overtaken_on_its_way_is_dropped_and_the_goal_goes_on(plant, periods):
    # On a busy machine it may come after a silence, and that is a reset, or not come.
    assert any(goes_on(plant, periods) for _ in range(30))


@pytest.mark.parametrize(('newest', 'first'), [(1, 0), (2, 0), (5, 0), (5, 3), (500, 499)])
def test_reset_is_taken_as_one_however_soon_after_the_start_it_comes(plant, newest, first):
    system = plant.system
    plant.k = -1  # the plant starts again, at time zero
    plant.commands.clear()
    for _ in range(newest + 1):
        plant.show(plant.message())
    _, end = system.send(CONTROLLER, goal([2.0], [HOME + 0.3]))
    plant.show(plant.message())
    plant.k = first - 1
    plant.commands.clear()
    tau = plant.show(plant.message(HOME + 0.01))
    np.testing.assert_allclose(tau, MODEL.gravity_torque(HOME + 0.01), atol=1e-6)
    answer = system.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'time jumped back by' in answer.result.error_string


def test_stream_of_single_points_at_50_hz_moves_without_stopping(plant):
    system = plant.system
    publisher = system.publisher(CONTROLLER)
    speed, horizon, first = 0.15, 0.2, plant.k
    system.references.clear()
    for step in range(1000):
        t = step * DT
        if step % 10 == 0:
            ahead = t + horizon
            way = speed * (ahead - 0.25 if ahead > 0.5 else ahead * ahead)
            publisher.publish(trajectory([horizon], [HOME + way]))
            plant.commands.clear()
        plant.show(plant.message(HOME + speed * t))
    system.wait(lambda: system.references[-1][0] > plant.k * DT - 0.1, 'last reference')
    t, _, v = (np.array(column) for column in zip(*system.references, strict=True))
    v = v[t > first * DT + 0.6]
    assert len(v) > 500
    assert v.min() > 0.5 * speed
    assert v.max() < 1.5 * speed
    assert np.abs(np.diff(v, axis=0)).max() < 0.1 * speed


def test_goal_ends_when_no_state_comes_any_more():
    with plant_that_may_be_silent(2.0) as plant:
        system = plant.system

        def ended():
            """Whether a goal ends so; one that comes after a silence is refused."""
            plant.show(plant.message())
            _, end = system.send(CONTROLLER, goal([2.0], [HOME + 0.3]))
            plant.show(plant.message())
            answer = system.result(end, 'end of the goal')
            assert answer.status == GoalStatus.STATUS_ABORTED
            return 'no state for' in answer.result.error_string

        system.wait(ended, 'end for want of states')
        system.words(CONTROLLER, 'waiting for a state')

        def holds():
            plant.show(plant.message())  # after a second without one the words are others again
            return 'holding' in system.diagnostics[CONTROLLER][1]

        system.wait(holds, 'words on /diagnostics')
