"""The laws that are compared, each designed for the same error dynamics."""

import math
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from arm_controllers.laws import Law, law_class, law_names
from arm_dynamics.checks import in_range, one_of
from arm_dynamics.errors import ArmError
from arm_sim.plants.engines import ACTUATOR_FOR
from arm_sim.runs.robot import Robot


class ComparedLaw(NamedTuple):
    """A law under the name that it has in comparisons."""

    law: str  # its name among all laws, which is that of its node
    changes: dict[str, Any]  # to its design


@cache
def compared_laws() -> dict[str, ComparedLaw]:
    """Return all by name, from the least to the most that a law knows of the arm.

    A plugin that cannot be imported is the last one, and refused when it is made.
    """
    ranked: list[tuple[float, str, ComparedLaw]] = []
    for name in law_names():
        try:
            law = law_class(name)
        except ArmError:
            ranked.append((math.inf, name, ComparedLaw(name, {})))
            continue
        if law.designed and law.command_interface != 'voltage':
            named = law.compared_as or {name: {}}
            ranked += [(law.knows, own, ComparedLaw(name, named[own])) for own in named]
    return {own: compared for _, own, compared in sorted(ranked, key=lambda entry: entry[0])}


def compared_class(name: str) -> Any:
    """Return the class of a law by its name in comparisons.

    Raises:
        ArmError: no such law, or a plugin that cannot be imported.
    """
    one_of('law', name, tuple(compared_laws()))
    return law_class(compared_laws()[name].law)


def make_law(name: str, robot: Robot, natural_frequency: float = 20.0) -> Law:
    """Return a law whose errors are to decay critically damped at this frequency [rad/s].

    Raises:
        ArmError: no such law, or a frequency that is not positive.
    """
    return compared_class(name)(robot.model, law_parameters(name, robot, natural_frequency))


def law_parameters(name: str, robot: Robot, natural_frequency: float = 20.0) -> Any:
    """Return the parameters of a law for this design, with the inertia at the robot's start.

    Raises:
        ArmError: as `make_law`.
    """
    law = compared_class(name)
    in_range('natural_frequency', natural_frequency, 0.0, 1e4, exclusive=True)
    design = law.designed(robot.model, robot.start, natural_frequency, 1.0)
    return replace(design, **compared_laws()[name].changes)


def actuator_under(name: str) -> str:
    """Return the plant's actuator under a law."""
    return ACTUATOR_FOR[compared_class(name).command_interface]
