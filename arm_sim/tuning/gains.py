"""Gains as points of a space: a logarithm of each number that a tuning varies."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from arm_controllers.laws import law_class
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays

FREQUENCIES = tuple(float(x) for x in np.geomspace(10.0, 160.0, 9))  # [rad/s], of the designs
_LOWEST = 1e-6  # a gain of zero has no logarithm


class GainSpace:
    """The gains of a law as vectors x of their logarithms, so that 0.1 is some 10 % of a gain.

    Attributes:
        names: of the parameters that are varied.
    """

    def __init__(self, law: str, model: RobotModel, shipped: Any):
        """Take a law by name, and its parameters as they are shipped.

        Raises:
            ArmError: the law has no gains to vary.
        """
        self._cls, self._model, self._shipped = law_class(law), model, shipped
        self.names: Sequence[str] = self._cls.tuned or self._cls.gains
        if not self.names:
            raise ArmError(f'law {law!r} has no gains to tune: neither `tuned` nor `gains`')

    def point(self, parameters: Any) -> Array:
        """Return x of the law's parameters."""
        arrays = with_arrays(parameters, self._model.joint_names)
        values = [np.ravel(getattr(arrays, name)) for name in self.names]
        return np.log(np.maximum(np.concatenate(values), _LOWEST))

    def parameters(self, x: Array) -> Any:
        """Return the law's parameters at x: what is not varied is as shipped.

        Raises:
            ArmError: the law refuses these gains.
        """
        return self._checked(self._with(np.exp(x)))

    def starts(self, q: Array) -> Iterator[Any]:
        """Yield the shipped parameters, and designs for FREQUENCIES at the pose q (n,)."""
        yield self._shipped
        for frequency in FREQUENCIES if self._cls.designed else ():
            design = self._cls.designed(self._model, q, frequency, 1.0)
            try:
                yield self._checked(self._with(np.exp(self.point(design))))
            except ArmError:  # not for this arm
                continue

    def _with(self, values: Array) -> Any:
        arrays = with_arrays(self._shipped, self._model.joint_names)
        changed: dict[str, Any] = {}
        at = 0
        for name in self.names:
            count = np.size(getattr(arrays, name))
            own = values[at : at + count].tolist()
            changed[name] = own[0] if np.ndim(getattr(arrays, name)) == 0 else tuple(own)
            at += count
        return replace(self._shipped, **changed)

    def _checked(self, parameters: Any) -> Any:
        self._cls(self._model, parameters)
        return parameters
