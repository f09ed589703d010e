"""The laws that are compared, each designed for the same error dynamics."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

from arm_controllers.adapted_law import adapted_law
from arm_controllers.laws import Law, law_class, law_names
from arm_dynamics.checks import ArmError, in_range, one_of
from arm_sim.robot import Robot


@cache
def compared_laws() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return each one's name among all laws and what differs from its design, by name here.

    From the least to the most that a law knows of the arm. A plugin that cannot be imported comes
    last, and is refused when it is made.
    """
    ranked: list[tuple[float, dict[str, tuple[str, dict[str, Any]]]]] = []
    for name in law_names():
        try:
            law = law_class(name)
        except ArmError:
            ranked.append((math.inf, {name: (name, {})}))
            continue
        if law.designed and law.command_interface != 'voltage':
            named = law.compared_as or {name: {}}
            ranked.append((law.knows, {own: (name, named[own]) for own in named}))
    ranked.sort(key=lambda entry: entry[0])
    return {own: compared for _, laws in ranked for own, compared in laws.items()}


def laws_with(motion: str, of_effort: bool = False) -> list[str]:
    """Return the names of compared laws that can follow this motion of a reference.

    `of_effort`: of those that command torques.
    """
    names = list(compared_laws())
    if motion == 'continuous' and not of_effort:
        return names
    made = ((name, law_class(compared_laws()[name][0])) for name in names)
    efforts = ((name, law) for name, law in made if law.command_interface == 'effort')
    return [name for name, law in efforts if motion == 'continuous' or not law.lookahead]


def compared_class(name: str) -> Any:
    """Return the class of a law by its name in comparisons.

    Raises:
        ArmError: no such law, one that is not compared, or a plugin that cannot be imported.
    """
    compared = tuple(compared_laws())
    if name in law_names() and name not in compared:
        raise ArmError(
            f'law {name!r} is not compared: it has no `designed`, or commands voltages; '
            f'run it as it is with controller:={name}'
        )
    one_of('law', name, compared)
    return law_class(compared_laws()[name][0])


def make_law(
    name: str,
    robot: Robot,
    natural_frequency: float = 20.0,
    motion: str = 'continuous',
    friction_velocity: str = 'measured',
) -> Law:
    """Return a law whose errors are to decay critically damped at this frequency [rad/s].

    `motion`: of its reference, see adapters.discrete_motion; `friction_velocity`: see
    adapters.known_friction.

    Raises:
        ArmError: no such law, a frequency that is not positive, or a law without that motion.
    """
    told = law_parameters(name, robot, natural_frequency)
    return adapted_law(compared_class(name), robot.model, told, friction_velocity, motion)


def law_parameters(name: str, robot: Robot, natural_frequency: float = 20.0) -> Any:
    """Return what `make_law` gives the law: its design with the inertia at the robot's start."""
    law = compared_class(name)
    in_range('natural_frequency', natural_frequency, 0.0, 1e4, exclusive=True)
    design = law.designed(robot.model, robot.start, natural_frequency, 1.0)
    return replace(design, **compared_laws()[name][1])
