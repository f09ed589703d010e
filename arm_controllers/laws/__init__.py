"""The control laws by name: one file each in this folder, or a plugin of the group `arm_sim.laws`.

A file `my_law.py` with a class `MyLaw` is a law of that name; the class is what `Law` says. Its
executable is `my_law_controller`, a plugin's is `controller my_law`.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.found import Found

Array = NDArray[np.float64]


class Law(Protocol):
    """What the controller node asks of a law.

    Attributes:
        command_interface: 'position', 'effort' or 'voltage': what the command is.
        lookahead: control periods by which the reference it wants is ahead of the state (0 or 1).
        gains_act_on: what its gains a joint give: 'acceleration', 'torque' or 'sliding_variable',
            see second_order_gains; a law without such gains has no such attribute.
    """

    command_interface: str
    lookahead: int

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (n,) for the control period dt [s] that starts at state q, v."""


_FOUND = Found('law', __name__, 'arm_sim.laws', ('Parameters', 'command_interface', 'lookahead'))


def law_names() -> tuple[str, ...]:
    """Return the names of all laws, sorted; no law is imported."""
    return _FOUND.names()


def law_class(name: str) -> Any:
    """Return a law's class, to be built as law(model, law.Parameters(...)).

    Raises:
        ArmError: no such law, or a plugin that cannot be imported.
    """
    return _FOUND.load(name)
