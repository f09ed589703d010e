"""The messages of a simulator's control loop, many in one, for tasks and recorders.

To publish each state and each command to one more reader takes the loop as long as to compute and
publish it once (`benchmarks/recording.py`). So a simulator collects the serialised states that it
publishes and the commands that it receives, and publishes them together, in their order.
"""

import struct
from collections.abc import Iterator

from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import UInt8MultiArray

from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import ArmError

TOPIC = 'simulator/loop_messages'
KIND = 'std_msgs/msg/UInt8MultiArray'
STATE, COMMAND, OBJECTS, CONTACTS, WRENCH = 0, 1, 2, 3, 4
# A batch has at least this number of messages, or has waited this long [s].
_BATCH, _LONGEST_WAIT = 40, 0.02
# Number of messages that `Takeover` keeps while it also receives them one by one.
_KEPT = 4000
_NEVER = 2**63
_HEAD = struct.Struct('=BI')  # STATE or COMMAND, length [bytes]
# A serialised UInt8MultiArray: encoding, no dimensions, no offset; then the length of the data.
_LENGTH = struct.Struct('=I')
_BEFORE = bytes(serialize_message(UInt8MultiArray()))[: -_LENGTH.size]


class LoopMessages:
    """Collects and publishes serialised messages while the topic has subscribers.

    Attributes:
        wanted: whether it has; otherwise `add` need not be called.
    """

    def __init__(self, node: Node):
        """Open the topic."""
        self._publisher = node.create_publisher(UInt8MultiArray, '~/loop_messages', STATE_QOS)
        self._parts: list[bytes] = []
        self.wanted = False
        now_and_then(node, _LONGEST_WAIT, self._look)

    def add(self, what: int, raw: bytes) -> None:
        """Add a STATE, a COMMAND or, behind their state, its OBJECTS, CONTACTS and WRENCH.

        These three are in the batch of their state.
        """
        if what in (STATE, COMMAND) and len(self._parts) >= 2 * _BATCH:
            self.publish()
        self._parts += (_HEAD.pack(what, len(raw)), raw)

    def _look(self) -> None:
        self.wanted = self._publisher.get_subscription_count() > 0
        if self._parts:
            self.publish()

    def publish(self) -> None:
        """Publish the messages that were added since the last batch."""
        data = b''.join(self._parts)
        self._parts.clear()
        self._publisher.publish(_BEFORE + _LENGTH.pack(len(data)) + data)


def gathered(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what each message of a batch is, STATE to WRENCH, and its bytes.

    Raises:
        ArmError: the batch is cut off, or is none.
    """
    at = len(_BEFORE) + _LENGTH.size
    if raw[: len(_BEFORE)] != _BEFORE or len(raw) < at:
        raise ArmError(f'{len(raw)} bytes on {TOPIC} are no gathered messages')
    end = at + _LENGTH.unpack_from(raw, len(_BEFORE))[0]
    while at < end:
        start = at + _HEAD.size
        what, length = _HEAD.unpack_from(raw, at) if start <= len(raw) else (STATE, len(raw))
        at = start + length
        if what > WRENCH or not at <= end <= len(raw):
            raise ArmError(f'gathered messages on {TOPIC} are cut off at byte {start}')
        yield what, raw[start:at]


class Takeover:
    """Changes from messages received one by one to batches, without a gap.

    Both arrive for a while: batches are kept until they begin before the newest state and the
    newest command that came one by one.

    Attributes:
        done: whether batches are all that is needed.
    """

    def __init__(self) -> None:
        """Begin with messages one by one."""
        self.done = False
        self._until_ns = [-1, -1]
        self._kept: list[tuple[int, bytes]] = []

    def take(self, raw: bytes, *newest_ns: int) -> list[tuple[int, bytes]]:
        """Return the messages of a batch that are new.

        Args:
            raw: the batch.
            newest_ns: stamps [ns] of the newest state and the newest command that came one by one.

        Raises:
            ArmError: as `gathered`.
        """
        batch = list(gathered(raw))
        if not self.done:
            batch = self._kept = [*self._kept, *batch][-_KEPT:]
            states = (_stamp_ns(data) for what, data in batch if what == STATE)
            self.done = min(newest_ns) >= next(states, _NEVER)
            if not self.done:
                return []
            self._kept, self._until_ns = [], list(newest_ns)
        elif max(self._until_ns) < 0:
            return batch
        return [each for each in batch if self._is_new(*each)]

    def _is_new(self, what: int, data: bytes) -> bool:
        """Whether a message follows all that came one by one."""
        if what not in (STATE, COMMAND):
            return True  # these do not come one by one, also where their state did
        new = _stamp_ns(data) > self._until_ns[what]
        if new:
            self._until_ns[what] = -1  # a reset may follow
        return new


def _stamp_ns(data: bytes) -> int:
    """Return a message's stamp [ns], or -1 where the message is cut off and thus useless."""
    try:
        return stamp_ns(data)
    except ArmError:
        return -1
