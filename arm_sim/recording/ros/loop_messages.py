"""What passes through a simulator's control loop, many messages in one, for a recorder.

To hand each message to one more reader takes the loop as long as to compute and to send it
(`benchmarks/recording.py`). So a simulator gathers those that it sends and gets while a recorder
listens, and publishes them together.
"""

import struct
from collections.abc import Iterator

from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import UInt8MultiArray

from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.running import now_and_then
from arm_controllers.ros.serialized_messages import stamp_ns
from arm_dynamics.checks import ArmError

TOPIC = 'simulator/loop_messages'
KIND = 'std_msgs/msg/UInt8MultiArray'
STATE, COMMAND = 0, 1
# A message of at most so many others, or whatever came within so long [s].
_MANY, _LATEST = 40, 0.02
# So many of them are kept while other messages come one by one.
_MOST = 4000
_NEVER = 2**63
_HEAD = struct.Struct('=BI')  # what it is, and its length in bytes
# A UInt8MultiArray in its serialised form: encoding, no dimensions, no offset; the data's length.
_LENGTH = struct.Struct('=I')
_BEFORE = bytes(serialize_message(UInt8MultiArray()))[: -_LENGTH.size]


class LoopMessages:
    """Gathers and publishes serialised messages while somebody listens.

    Attributes:
        wanted: whether somebody does; else nothing need be added.
    """

    def __init__(self, node: Node):
        """Open the topic."""
        self._publisher = node.create_publisher(UInt8MultiArray, '~/loop_messages', STATE_QOS)
        self._parts: list[bytes] = []
        self.wanted = False
        now_and_then(node, _LATEST, self._look)

    def add(self, what: int, raw: bytes) -> None:
        """Add a STATE or a COMMAND."""
        self._parts += (_HEAD.pack(what, len(raw)), raw)
        if len(self._parts) >= 2 * _MANY:
            self._send()

    def _look(self) -> None:
        self.wanted = self._publisher.get_subscription_count() > 0
        if self._parts:
            self._send()

    def _send(self) -> None:
        data = b''.join(self._parts)
        self._parts.clear()
        self._publisher.publish(_BEFORE + _LENGTH.pack(len(data)) + data)


def gathered(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield what each gathered message is, and its bytes.

    Raises:
        ArmError: they end before their time, or nobody gathered them.
    """
    at = len(_BEFORE) + _LENGTH.size
    if raw[: len(_BEFORE)] != _BEFORE or len(raw) < at:
        raise ArmError(f'{len(raw)} bytes on {TOPIC} are no gathered messages')
    end = at + _LENGTH.unpack_from(raw, len(_BEFORE))[0]
    while at < end:
        start = at + _HEAD.size
        what, length = _HEAD.unpack_from(raw, at) if start <= len(raw) else (STATE, len(raw))
        at = start + length
        if what not in (STATE, COMMAND) or not at <= end <= len(raw):
            raise ArmError(f'gathered messages on {TOPIC} are cut off at byte {start}')
        yield what, raw[start:at]


class Takeover:
    """Goes over from messages that come one by one to gathered ones, without a gap.

    Both come for a while: what was gathered is kept until it begins before the newest of each.

    Attributes:
        done: whether gathered messages are all that is needed.
    """

    def __init__(self) -> None:
        """Have neither."""
        self.done = False
        self._until_ns = [-1, -1]
        self._kept: list[tuple[int, bytes]] = []

    def take(self, raw: bytes, *newest_ns: int) -> list[tuple[int, bytes]]:
        """Return those of the gathered messages that are new.

        Args:
            raw: the message that they came in.
            newest_ns: stamps of the state and of the command that came last one by one.

        Raises:
            ArmError: as `gathered`.
        """
        come = list(gathered(raw))
        if not self.done:
            come = self._kept = [*self._kept, *come][-_MOST:]
            states = (_stamp_ns(data) for what, data in come if what == STATE)
            self.done = min(newest_ns) >= next(states, _NEVER)
            if not self.done:
                return []
            self._kept, self._until_ns = [], list(newest_ns)
        return [each for each in come if self._is_new(*each)]

    def _is_new(self, what: int, data: bytes) -> bool:
        """Whether it comes after all that came one by one."""
        new = _stamp_ns(data) > self._until_ns[what]
        if new:
            self._until_ns[what] = -1  # a reset may follow
        return new


def _stamp_ns(data: bytes) -> int:
    """Return a message's stamp [ns], or -1 where it is cut off: nobody needs such a one."""
    try:
        return stamp_ns(data)
    except ArmError:
        return -1
