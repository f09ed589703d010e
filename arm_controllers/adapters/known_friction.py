"""Coulomb friction answered by the velocity that is wanted, not by the measured one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

FRICTION_VELOCITIES = ('measured', 'reference')

# Below this speed of the reference its friction fades [rad/s | m/s]. Nothing is fed back, so that
# nothing chatters; the joint's own velocity changes its sign within some control periods.
REVERSAL = 1e-3


class FrictionOfReference(Law):
    """A law for a model without Coulomb friction, and effort F clip(v_r / REVERSAL, -1, 1) for it.

    Answered at the measured velocity, friction is fed back: it must fade below STANDSTILL, fifty
    times the speed of REVERSAL, or the arm chatters at rest, and below that speed most of it is
    left to the gains. A reference has no noise and no delay. Laws take it as the effort that
    answers what their model lacks (as an observer must be told).
    """

    def __init__(self, law: Law, model: RobotModel):
        """Take a law whose model is that of `model` without Coulomb friction.

        Raises:
            ArmError: it commands something else than effort.
        """
        if law.command_interface != 'effort':
            raise ArmError(
                "friction_velocity is 'reference'; that is for laws that command effort, not "
                f'{law.command_interface}'
            )
        self.law, self.model, self.lookahead = law, model, law.lookahead
        self._reference = Reference(model.nv)

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v (..., n)."""
        self._reference = Reference(q.shape[-1], q.shape[:-1])
        self.law.reset(q, v)

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (..., n) of the law."""
        known = self._reference
        known.row[:] = reference.row
        share = np.minimum(np.maximum(reference.v / REVERSAL, -1.0), 1.0)
        known.effort[:] += self.model.friction * share
        return self.law(q, v, known, dt)


def answering_friction(
    law: Callable[[RobotModel, Any], Law], model: RobotModel, parameters: Any, velocity: str
) -> Law:
    """Return a law, built by its class, that answers friction at one of FRICTION_VELOCITIES.

    Raises:
        ArmError: see FrictionOfReference.
    """
    if velocity == 'measured':
        return law(model, parameters)
    return FrictionOfReference(law(model.without_coulomb_friction(), parameters), model)
