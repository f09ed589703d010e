"""What recordings hold of states: fewer of an arm at rest, the simulator without its process."""

import re

import numpy as np
from sensor_msgs.msg import JointState

from arm_controllers.ros.cdr import Fields, is_native, stamp_ns
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_dynamics.checks import Array
from arm_sim.ros.loop_messages import COMMAND, STATE

Messages = list[tuple[int, bytes]]  # STATE or COMMAND, and the serialised JointState
# Largest difference of numbers at rest [rad | m | rad/s | m/s | N.m | N]: more than the rounding
# errors of a simulated arm (1e-12), less than any sensor resolves.
TOLERANCE = 1e-9
_SENDER_AT = 12  # behind encoding and stamp [bytes]
# frame_id of a simulator: 'simulator 96a29182, process 27836 of launch 27829 on host'.
_SENDER = re.compile(r'(\S+) [0-9a-f]{8}, process ')


class RestFilter:
    """Leaves out states of an arm at rest, and the commands that answer them.

    At rest no number of a state or a command differs from the last recorded one by TOLERANCE. The
    first and the last state at rest are recorded, and the first one in each period.
    """

    def __init__(self, period_ns: int):
        """Record a state in each period [ns of the stamps]; 0: all states."""
        self._period_ns, self._slot = period_ns, -1
        self._recorded: dict[int, tuple[int, Array]] = {}
        self._held: Messages = []

    def take(self, what: int, data: bytes) -> Messages:
        """Return the messages to write now that a STATE or a COMMAND has come.

        Raises:
            ArmError: the message is cut off.
        """
        if not self._period_ns:
            return [(what, data)]
        slot = stamp_ns(data) // self._period_ns if what == STATE else self._slot
        same_slot, self._slot = slot == self._slot, slot
        numbers = _numbers(data)
        length, recorded = self._recorded.get(what, (0, numbers))
        alike = length == len(data) and np.abs(numbers - recorded).max(initial=0.0) < TOLERANCE
        if alike and same_slot and what == STATE:
            self._held = [(STATE, data)]
            return []
        if alike and what == COMMAND and self._held:
            self._held[1:] = [(COMMAND, data)]
            return []
        self._recorded[what] = len(data), numbers
        last = [] if alike else self.end()
        self._held = []
        return [*last, (what, data)]

    def end(self) -> Messages:
        """Return the last state at rest, and its command, if they are not written yet."""
        held, self._held = self._held, []
        return held


def _numbers(data: bytes) -> Array:
    """Return all positions, velocities and efforts of a JointState; NaN where not native."""
    if not is_native(data):
        return np.full(1, np.nan)
    places = Fields(data, JointState).numbers
    return np.concatenate([np.frombuffer(data[place]) for place in places])


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
