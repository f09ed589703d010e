"""Torque that drives add to an effort command: gravity and friction, by their own model."""

from dataclasses import dataclass

from arm_controllers.law import Law, LawAdapter, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter

CONVENTIONS = ('full', 'gravity_compensated')


@dataclass(frozen=True, kw_only=True)
class DriveConvention(Parameters):
    """Meaning of an effort command; plant and controller have the same values."""

    effort_convention: str = parameter(
        'full',
        "meaning of effort commands; 'gravity_compensated': the drives add g(q), as "
        "Franka's and UR's do",
        one_of=CONVENTIONS,
    )
    friction_compensation: bool = parameter(False, "if true, the drives add the joints' friction")

    @property
    def compensates(self) -> bool:
        """Whether the drives add anything."""
        return self.friction_compensation or self.effort_convention != 'full'

    def added(self, model: RobotModel, q: Array, v: Array) -> Array:
        """Return the torque (n,) [N.m | N] that drives with this model add at a state (n,)."""
        torque = model.friction_torque(v) if self.friction_compensation else 0.0 * v
        return torque if self.effort_convention == 'full' else torque + model.gravity_torque(q)


class OverDrives(LawAdapter):
    """A torque law for drives that add part of the torque: it commands the rest.

    command = tau - g(q) - friction(v), by the law's own model. With drives whose model is the same
    the arm gets tau; where theirs is better than the law's, it gets theirs.
    """

    def __init__(self, law: Law, convention: DriveConvention):
        """Raise ArmError for a law that does not command effort."""
        super().__init__(law, 'effort_convention or friction_compensation is set')
        self._convention = convention

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (..., n) [N.m | N]."""
        tau, state = self.law(state, measured, reference, dt)
        return tau - self._convention.added(self.model, measured.q, measured.v), state
