"""Messages of the control loop, gathered by a simulator for a recorder."""

from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message  # noqa: E402
from std_msgs.msg import UInt8MultiArray  # noqa: E402

from arm_controllers.ros.cdr import stamp_ns  # noqa: E402
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.ros.loop_messages import COMMAND, OBJECTS, STATE, LoopMessages, Takeover, gathered  # noqa: E402

PERIOD = 2_000_000


def message(k):
    return JointStateWriter(('joint_1', 'joint_2', 'joint_3'), FIELDS).serialized(k * PERIOD)


def gathering(*messages):
    """Return messages (what, number of the period), gathered in one as a simulator does it."""
    sent = []
    node = SimpleNamespace(
        create_publisher=lambda *_: SimpleNamespace(publish=sent.append),
        create_timer=lambda *_: None,
        timers=(),
    )
    gatherer = LoopMessages(node)
    for what, k in messages:
        gatherer.add(what, message(k))
    gatherer.publish()
    return sent[0]


def test_gathered_messages_are_those_that_were_added_and_cut_off_ones_are_refused():
    raw = gathering((STATE, 0), (COMMAND, 0), (STATE, 1))
    assert list(gathered(raw)) == [(STATE, message(0)), (COMMAND, message(0)), (STATE, message(1))]
    assert bytes(deserialize_message(raw, UInt8MultiArray).data) == raw[16:]
    for size in range(len(raw)):
        with pytest.raises(ArmError, match='^gathered messages|are no gathered messages$'):
            list(gathered(raw[:size]))
    unknown = bytearray(raw)
    unknown[16] = 7  # what the first one is
    with pytest.raises(ArmError, match='cut off at byte'):
        list(gathered(bytes(unknown)))


@pytest.mark.parametrize('late', [0, 3, 30])  # [periods] gathered messages come so late,
@pytest.mark.parametrize('late_commands', [0, 1, 20])  # and commands one by one
def test_gathered_messages_take_over_without_a_gap_and_without_a_second_copy(late, late_commands):
    first, periods, many = 7, 100, 5
    takeover, got, done = Takeover(), [[], [], []], 0
    for now in range(periods):
        if not takeover.done:  # one by one
            got[STATE].append(now)
            if now >= late_commands:
                got[COMMAND].append(now - late_commands)
        begin = first + many * done
        if now >= begin + many + late:
            newest = (each[-1] * PERIOD if each else -1 for each in got[:OBJECTS])
            kinds = STATE, COMMAND, OBJECTS
            all_three = ((what, k) for k in range(begin, begin + many) for what in kinds)
            for what, data in takeover.take(gathering(*all_three), *newest):
                got[what].append(stamp_ns(data) // PERIOD)
            done += 1
    assert takeover.done
    *one_by_one, objects = got
    for numbers in one_by_one:
        assert numbers == list(range(first + many * done))
    # Only batches have these, also of states that came one by one before.
    assert objects == list(range(first, first + many * done))
    reset = takeover.take(gathering((STATE, 0)), -1, -1)
    assert reset == [(STATE, message(0))]
