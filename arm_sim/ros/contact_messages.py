"""The contact facts of states as messages: a JointState with three names, values as positions."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_controllers.ros.serialized_messages import JointStateReader, JointStateWriter
from arm_dynamics.checks import Array

TOPIC = 'simulator/contacts'
KIND = 'sensor_msgs/msg/JointState'
_NAMES = ('penetration_mm', 'force_n', 'slip_mm_per_s')
_FIELD = 'position'


class ContactMessages(JointStateWriter):
    """Contact facts (see ContactState) that are serialised again and again."""

    def __init__(self) -> None:
        """Make the message."""
        super().__init__(_NAMES, (_FIELD,))

    def at(self, facts: Array, time_ns: int) -> bytes:
        """Return the message of contact facts (3,) with a stamp [ns]."""
        self.position[:] = facts
        return self.serialized(time_ns)


def facts_at(times_ns: NDArray[np.int64], raw: Sequence[bytes]) -> Array:
    """Return the contact facts (m, 3) at stamps (m,) [ns]; nan: unknown; (0, 3): of none."""
    if not raw:
        return np.empty((0, 3))
    stamps, fields = JointStateReader(_NAMES, (_FIELD,)).read_all(raw)
    known = dict(zip(stamps.tolist(), fields[_FIELD], strict=True))
    return np.array([known.get(time_ns, np.full(3, np.nan)) for time_ns in times_ns.tolist()])
