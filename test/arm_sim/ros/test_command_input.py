"""Commands that controllers of the same process hand to the simulator, and their claims."""

from types import SimpleNamespace

import pytest
from clocked_arm import GRAVITY, lockstep
from domains import fresh_domain
from following import NAMES
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from arm_controllers.ros.in_process import InProcessTransport  # noqa: E402
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402
from arm_controllers.ros.serialized_messages import JointStateWriter  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.ros.command_input import CommandInput  # noqa: E402
from arm_sim.ros.strange_commands import refuse  # noqa: E402

ARM, WRIST = list(range(4)), [4, 5]
CLAIMS = SimpleNamespace(refuse_rejected=lambda _: None, reject=lambda *_, **__: None)


@pytest.fixture
def commands():
    """Return an input of commands with its clock, and why commands were refused."""
    rclpy.init(domain_id=int(fresh_domain()))
    node = rclpy.create_node('simulator')
    clock, transport, refused = lockstep()[0], InProcessTransport(), []
    loop = SimpleNamespace(wanted=False)
    made = CommandInput(
        node, clock, lambda error: refused.append(str(error)), loop, transport, lambda: 1
    )
    made.clock, made.refused, made.node = clock, refused, node

    def take(raw):
        transport.command_server('/joint_commands')(raw, 1)

    def send(name, joints, time_ns=0):
        command = JointStateWriter([NAMES[k] for k in joints], ('effort',), name)
        command.effort[:] = GRAVITY[joints]
        take(command.serialized(time_ns))

    made.take, made.send = take, send
    yield made
    node.destroy_node()
    rclpy.try_shutdown()


def claims(commands):
    return {claim.source: claim.joint_names for claim in commands.clock.claims}


def test_a_claim_after_a_timeout_has_the_joints_of_the_command_that_makes_it(commands):
    commands.send('wrist', WRIST)
    commands.send('arm', ARM)
    assert claims(commands) == {
        'wrist': tuple(NAMES[k] for k in WRIST),
        'arm': tuple(NAMES[k] for k in ARM),
    }
    commands.clock.claims.expire()
    # Another controller was the last one whose command no reader of a claim had opened.
    now_ns = commands.clock.simulation.time_ns
    commands.send('wrist', WRIST, now_ns)
    assert claims(commands) == {'wrist': tuple(NAMES[k] for k in WRIST)}
    assert not commands.refused


def test_a_controller_that_commands_what_no_actuator_takes_is_told_so(commands):
    # It would answer for ever, and its goals would never end.
    messages, executor = [], make_executor()
    commands.node.create_subscription(
        String, 'active_controllers', lambda message: messages.append(message.data), LATCHED_QOS
    )
    executor.add_node(commands.node)
    command = JointStateWriter(NAMES, ('position',), 'servo')
    commands.take(command.serialized(0))
    why = (
        "'servo' commands position, which the actuators of its joints do not take: start the "
        'simulator with actuator servo'
    )
    assert commands.refused == [why]
    spin_until(executor, lambda: any(why in message for message in messages))
    for k in range(110):  # of as many others no more is kept
        other = JointStateWriter(NAMES, ('position',), f'servo{k}')
        commands.take(other.serialized(0))
    assert len(commands.clock.claims.rejections) == 100
    commands.send('other', [*ARM, *WRIST])  # without a claim of the first one in the way
    assert {*claims(commands)} == {'other'}


def strange(name):
    return JointStateWriter(NAMES, ('position',), name).serialized(0)


def test_a_name_that_is_too_long_is_not_remembered_and_published(commands):
    # A message of 1 MB, and active_controllers had it for ever.
    commands.take(strange(100_000 * 'x'))
    assert commands.refused == ['a command source has a name of 100000 characters; allowed: 255']
    assert commands.clock.claims.rejections == {}


def test_why_two_publishers_of_a_name_are_rejected_is_kept(commands):
    # The false one of the two commands what no actuator takes, under the name of a proper one.
    why = "another publisher commands as 'arm': the arm brakes"
    commands.clock.claims.reject('arm', why)
    commands.take(strange('arm'))
    assert commands.refused == [f"'arm' gets no claim for 10 s after a rejection: {why}"]
    assert commands.clock.claims.rejections == {'arm': why}


@pytest.mark.parametrize(
    ('field', 'actuator'), [('position', 'servo'), ('velocity', 'velocity'), ('effort', 'torque')]
)
def test_the_remedy_is_the_actuator_that_takes_such_commands(field, actuator):
    with pytest.raises(ArmError, match=f'commands {field}, .* with actuator {actuator}$'):
        refuse(CLAIMS, 'x', [field])


def test_commands_of_several_controllers_that_come_at_once_are_all_used(commands):
    # One of two answers was lost, and asked for again after 5 ms.
    other, executor = rclpy.create_node('controllers'), make_executor()
    executor.add_node(commands.node)
    publishers = {
        name: other.create_publisher(JointState, 'joint_commands', STATE_QOS)
        for name in ('arm', 'wrist')
    }
    matched = [each.get_subscription_count for each in publishers.values()]
    spin_until(executor, lambda: all(count() for count in matched))
    for name, joints in ('arm', ARM), ('wrist', WRIST):
        command = JointStateWriter([NAMES[k] for k in joints], ('effort',), name)
        command.effort[:] = GRAVITY[joints]
        publishers[name].publish(command.serialized(0))
    spin_until(executor, lambda: len(claims(commands)) == 2)
    assert {*claims(commands)} == {'arm', 'wrist'}
    other.destroy_node()
