"""Compensation of Coulomb friction at the velocity of the reference."""

import numpy as np

from arm_controllers.law import Law, LawAdapter, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

FRICTION_VELOCITIES = ('measured', 'reference')

# Below this speed of the reference its friction fades [rad/s | m/s]. Nothing is fed back, so that
# nothing chatters; the joint's own velocity changes its sign within some control periods.
REVERSAL = 1e-3


class FrictionOfReference(LawAdapter):
    """A law for a model without Coulomb friction, and effort F clip(v_r / REVERSAL, -1, 1) for it.

    At the measured velocity the compensation is a feedback: it must fade below STANDSTILL, fifty
    times the speed of REVERSAL, or the arm chatters at rest; below STANDSTILL the gains overcome
    most of the friction. A reference has no noise and no delay. Laws receive the compensation as
    the reference's effort, which an observer subtracts.
    """

    def __init__(self, law: Law, model: RobotModel):
        """Take a law whose model is that of `model` without Coulomb friction.

        Raises:
            ArmError: it commands something else than effort.
        """
        super().__init__(law, "friction_velocity is 'reference'")
        self.model = model

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return super().start(measured, self._with_friction(reference))

    def resumed(self, state: State) -> State | None:
        """Go on where the law does."""
        return self.law.resumed(state)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (..., n) of the law."""
        return self.law(state, measured, self._with_friction(reference), dt)

    def _with_friction(self, reference: Reference) -> Reference:
        """Return the reference with the friction of its velocity as effort, now and later."""
        known = reference.copy()
        share = np.minimum(np.maximum(reference.v / REVERSAL, -1.0), 1.0)
        known.effort[:] += self.model.friction * share
        known.future = lambda periods: self._with_friction(reference.ahead(periods))
        return known
