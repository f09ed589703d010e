"""The sender of recorded states: the simulator's name without its process."""

import re

from sensor_msgs.msg import JointState

from arm_controllers.ros.serialized_messages import FIELDS, Fields, JointStateWriter, is_native

_SENDER_AT = 12  # behind encoding and stamp [bytes]
# frame_id of a simulator: 'simulator 96a29182, process 27836 of launch 27829 on host'.
_SENDER = re.compile(r'(\S+) [0-9a-f]{8}, process ')


class StateSender:
    """Shortens the frame_id of serialised states to the simulator's name.

    On the graph the frame_id also names the process. Without the process, recordings of equal
    runs have equal bytes.
    """

    def __init__(self) -> None:
        """Begin without a known sender."""
        self._long = self._short = b''

    def shortened(self, raw: bytes) -> bytes:
        """Return a state with the short name; a state of another sender is returned unchanged.

        Raises:
            ArmError: the state is cut off.
        """
        if not is_native(raw):
            return raw
        if not self._long or not raw.startswith(self._long, _SENDER_AT):
            self._long, self._short = self._heads(raw)
        return raw[:_SENDER_AT] + self._short + raw[_SENDER_AT + len(self._long) :]

    def _heads(self, raw: bytes) -> tuple[bytes, bytes]:
        """Return the bytes from the sender to the first position: as they are, and shortened."""
        fields = Fields(raw, JointState)
        sender, *names = fields.texts
        positions, name = fields.numbers[0], _SENDER.match(sender)
        head = raw[_SENDER_AT : positions.start]
        if not name or positions.start == positions.stop:
            return head, head
        short = JointStateWriter(names, FIELDS, name[1]).serialized(0)
        return head, short[_SENDER_AT : Fields(short, JointState).numbers[0].start]
