"""Coulomb friction answered by the velocity that is wanted, not by the measured one."""

import numpy as np

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
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
        self.many_arms = law.many_arms

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self.law.start(measured, self._with_friction(reference))

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
