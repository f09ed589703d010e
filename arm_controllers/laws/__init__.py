"""The control laws by name: one file each in this folder, or a plugin of the group `arm_sim.laws`.

A file `my_law.py` with a class `MyLaw(Law)` is a law of that name. Its executable is
`my_law_controller`, a plugin's is `controller my_law`.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from arm_controllers.reference import Reference
from arm_controllers.second_order_gains import frequency_and_ratio
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import of_many, with_arrays
from arm_dynamics.plugins import PluginRegistry


class Law:
    """A control law: command = law(q, v, reference, dt).

    Given arrays (..., n) and a model whose functions take them, one law commands many arms; what
    it remembers then has the same leading axes.

    Attributes:
        Parameters: frozen dataclass; a law is built as law(model, law.Parameters(...)).
        command_interface: 'position', 'effort' or 'voltage': what the command is.
        lookahead: control periods by which the reference it wants is ahead of the state (0 or 1).
        designed: classmethod(model, q, natural_frequency, damping_ratio) -> Parameters that give
            every joint's error these second-order dynamics, with the inertia at q (n,). The
            numbers serve all joints; where there are `gains` they may as well be (n,). None: there
            is no such design, and the law is not compared with others.
        gains: the two parameters that stand for frequency and ratio, and may be set by them while
            the controller runs; empty: there are none.
        tuned: the parameters that a robust tuning varies; empty: `gains`.
        knows: how much of the arm, from 0; laws are compared in this order.
        compared_as: what differs from the design, by name in comparisons; empty: nothing, by the
            law's own name.
    """

    Parameters: Any
    command_interface = 'effort'
    lookahead = 0
    designed: ClassVar[Any] = None
    gains: tuple[str, ...] = ()
    tuned: tuple[str, ...] = ()
    knows = 100
    compared_as: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, model: RobotModel, parameters: Any):
        """Keep both; parameters of one number per joint as arrays (n,).

        A list of N parameters is one for each of N arms: what differs among them has a leading
        axis, (N, n) per joint, (N, 1) a number.

        Raises:
            ArmError: a wrong count of numbers, or one that is not allowed; what may not differ.
        """
        self.model = model
        many = isinstance(parameters, Sequence)
        self.parameters = (of_many if many else with_arrays)(parameters, model.joint_names)

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v (..., n)."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (..., n) for the control period dt [s] that starts at q, v."""
        raise NotImplementedError

    @classmethod
    def frequency_and_ratio(
        cls, model: RobotModel, q: Array, first: Array, second: Array
    ) -> tuple[Array, Array]:
        """Return wn [rad/s] and zeta (n,) of two `gains` (n,), as `designed` has them from these.

        Here they are kp = m wn^2 and kd = 2 zeta wn m; m is the kp that is designed for wn = 1.
        """
        inertia = getattr(cls.designed(model, q, 1.0, 1.0), cls.gains[0])
        return frequency_and_ratio(first, second, np.array(inertia))


_REGISTRY = PluginRegistry('law', __name__, 'arm_sim.laws', ('Parameters',), Law)


law_names = _REGISTRY.names  # returns the names of all laws, sorted; no law is imported
law_class = _REGISTRY.load  # returns the class of a law by its name; ArmError: it cannot be had
