"""ROS 2 messages to NumPy and back: the one place where both meet."""

from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from arm_dynamics.errors import ArmError

Array = NDArray[np.float64]


def to_ns(stamp: Time) -> int:
    """Return a stamp in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_stamp(stamp: Time, time_ns: int) -> None:
    """Write nanoseconds into a stamp."""
    stamp.sec, stamp.nanosec = divmod(time_ns, 1_000_000_000)


class JointMessage:
    """A JointState that is filled and published again and again, without a new message each time.

    Attributes:
        message: the message; its arrays are the memory behind the ones below.
        position, velocity, effort: (n,) arrays to write into, or None where not asked for.
    """

    def __init__(self, joint_names: Sequence[str], fields: Sequence[str]):
        """`fields`: which of 'position', 'velocity', 'effort' the message holds."""
        self.message = JointState()
        self.message.name = list(joint_names)
        for field in ('position', 'velocity', 'effort'):
            view = None
            if field in fields:
                memory = array('d', [0.0] * len(joint_names))
                setattr(self.message, field, memory)
                view = np.frombuffer(getattr(self.message, field))
            setattr(self, field, view)

    position: Array
    velocity: Array
    effort: Array


class JointReader:
    """Reads a field of JointState messages in the order of our joints, whatever the sender's."""

    def __init__(self, joint_names: Sequence[str]):
        """`joint_names`: n of them."""
        self._names = list(joint_names)
        self._sender_names: list[str] = self._names
        self._order: NDArray[np.intp] | None = None

    def read(self, names: list[str], values: array, field: str) -> Array:
        """Return (n,) values, read-only to the caller; no copy where the order is ours.

        Raises:
            ArmError: a joint is missing or named twice, the lengths differ, or a value is not
                finite; names the joint.
        """
        if names != self._sender_names:
            self._order = self._find_order(names)
            self._sender_names = list(names)
        if len(values) != len(names):
            raise ArmError(f'{len(values)} {field} values for {len(names)} joint names')
        found = np.frombuffer(values)
        if self._order is not None:
            found = found[self._order]
        if not np.isfinite(found).all():
            bad = int(np.flatnonzero(~np.isfinite(found))[0])
            raise ArmError(f'joint {self._names[bad]!r}: {field} {found[bad]} is not finite')
        return found

    def _find_order(self, names: list[str]) -> NDArray[np.intp] | None:
        if names == self._names:
            return None
        for name in self._names:
            if names.count(name) != 1:
                raise ArmError(
                    f'joint {name!r} stands {names.count(name)} times in a message that names '
                    f'{", ".join(names) or "no joint"}; it must stand there once'
                )
        return np.array([names.index(name) for name in self._names])
