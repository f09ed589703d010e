"""The control laws by name. A new law is one file and one line here."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arm_controllers.computed_torque import ComputedTorque
from arm_controllers.pd import PD
from arm_controllers.reference import Reference
from arm_controllers.servo import Servo

Array = NDArray[np.float64]


class Law(Protocol):
    """What the controller node asks of a law.

    Attributes:
        command_interface: 'position', 'effort' or 'voltage': what the command is.
        lookahead: control periods by which the reference it wants is ahead of the state (0 or 1).
    """

    command_interface: str
    lookahead: int

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (n,) for the control period dt [s] that starts at state q, v."""


# Each is built as law(model, law.Parameters(...)); `name` is that of its node, less '_controller'.
LAWS: dict[str, Any] = {law.name: law for law in (ComputedTorque, PD, Servo)}
