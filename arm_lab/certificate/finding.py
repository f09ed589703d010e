"""What refutes a goal: one value beyond its limit, or one that counts as equal to it."""

from typing import NamedTuple

from arm_dynamics.model_error import ModelError


class Finding(NamedTuple):
    """One place where a goal is not proven to be within a limit.

    Attributes:
        quantity: position, velocity, acceleration, jerk, torque or clearance.
        name: the joint, or for clearance the link.
        value: at `time`, in the units of the limit.
        limit: the bound that the value exceeds, or of clearance falls below.
        time: from the goal's start [s].
        proven: whether the value is beyond the limit; False: it is so near to the limit that the
            bounds do not separate them.
        error: of an arm that needs this torque; None: the value is that of all arms.
        other: what the link is near to; only for clearance.
    """

    quantity: str
    name: str
    value: float
    limit: float
    time: float
    proven: bool = True
    error: ModelError | None = None
    other: str = ''
