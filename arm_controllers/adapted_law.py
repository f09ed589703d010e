"""A law as an arm needs it: friction, motion of the reference, guard, convention of drives."""

from dataclasses import dataclass

from arm_controllers.discrete_motion import MOTIONS, DiscreteMotion
from arm_controllers.drive_convention import DriveConvention, OverDrives
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.known_friction import FRICTION_VELOCITIES, FrictionOfReference
from arm_controllers.law import Law
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.plugins import is_foreign


@dataclass(frozen=True)
class LawAdaptation(Parameters):
    """How a torque law reads its reference and compensates friction."""

    reference_motion: str = parameter(
        'continuous',
        "velocity and acceleration that torque laws follow: 'continuous' (the "
        "reference's own), or 'discrete' (differences of the reference's samples)",
        one_of=MOTIONS,
    )
    friction_velocity: str = parameter(
        'measured',
        "velocity at which torque laws compensate Coulomb friction: 'measured' (fades "
        "at low speed) or 'reference'",
        one_of=FRICTION_VELOCITIES,
    )


def adapted_law(
    law_class: type[Law],
    model: RobotModel,
    parameters: object,
    friction_velocity: str = 'measured',
    reference_motion: str = 'continuous',
    drives: DriveConvention | None = None,
    guard: GuardParameters | None = None,
) -> Law:
    """Return a law for an arm; the only place where a law is built.

    Args:
        law_class: of the law.
        model: RobotModel of one arm, or BatchModel of many.
        parameters: of the law; for many arms also a list with those of each.
        friction_velocity: one of FRICTION_VELOCITIES, see FrictionOfReference.
        reference_motion: one of MOTIONS, see DiscreteMotion.
        drives: what the drives add to effort commands; None: nothing.
        guard: of the arm; None: none.

    Raises:
        ArmError: the law refuses its parameters, or does not allow one of the adapters.
    """
    of_reference = friction_velocity != 'measured'
    own = model.without_coulomb_friction() if of_reference else model
    if is_foreign(law_class):
        from arm_controllers.foreign_law import ForeignLaw

        law: Law = ForeignLaw(law_class, own, parameters)
    else:
        law = law_class(own, parameters)
    if of_reference:
        law = FrictionOfReference(law, model)
    if reference_motion == 'discrete':
        law = DiscreteMotion(law)
    if guard is not None and guard.enabled:
        from arm_controllers.guard import Guard  # loads SciPy

        law = Guard(law, guard)
    if drives is not None and drives.compensates:
        law = OverDrives(law, drives)
    return law
