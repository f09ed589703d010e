"""Names of the laws that are designed for the same error dynamics, and engines to compare."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from arm_controllers.law_file import law_of_file
from arm_controllers.laws import LAWS, Law, law_class, law_names
from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import is_foreign
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, engine_classes, engine_names


@cache
def compared_laws() -> dict[str, tuple[str, Mapping[str, object]]]:
    """Return each one's name among all laws and what differs from its design, by name here.

    Sorted by how much of the model of the arm each law uses.
    """
    ranked: list[tuple[float, dict[str, tuple[str, Mapping[str, object]]]]] = []
    for name, law in LAWS.load_all().items():
        if law.designed and law.command_interface != 'voltage':
            named = law.evaluation.compared_as or {name: {}}
            labelled = {label: (name, changes) for label, changes in named.items()}
            ranked.append((law.evaluation.model_use, labelled))
    ranked.sort(key=lambda entry: entry[0])
    return {label: compared for _, laws in ranked for label, compared in laws.items()}


def laws_with(motion: str, of_effort: bool = False) -> list[str]:
    """Return the names of compared laws that can follow this motion of a reference.

    `of_effort`: of those that command torques.
    """
    laws, compared = LAWS.load_all(), compared_laws().items()
    return [name for name, (own, _) in compared if follows(laws[own], motion, of_effort)]


def follows(law: type[Law], motion: str, of_effort: bool) -> bool:
    """Return whether a law can follow this motion of a reference, `of_effort`: by torques."""
    if motion != 'continuous':
        return law.command_interface == 'effort' and not law.lookahead
    return law.command_interface == 'effort' or not of_effort


def any_class(name: str) -> type[Law]:
    """Return the class of a law by its name, or of the law in a Python file.

    Raises:
        ArmError: no such law, or one whose attributes have no meaning.
    """
    return _sound(law_of_file(name) if name.endswith('.py') else law_class(name))


def _sound(law: type[Law]) -> type[Law]:
    """Return the class of a law. Raises ArmError: its attributes have no meaning."""
    if is_foreign(law):
        from arm_controllers.foreign_law import check_class

        check_class(law)
    return law


def compared_class(name: str) -> type[Law]:
    """Return the class of a law by its name in comparisons, or by its Python file.

    Raises:
        ArmError: no such law, one that is not compared, or a plugin that cannot be imported.
    """
    if name.endswith('.py'):
        law = any_class(name)
        if not law.designed:
            raise ArmError(f'law {name!r} has no `designed`; run it with natural_frequency 0')
        return law
    compared = tuple(compared_laws())
    if name in law_names() and law_class(name).evaluation.of_file:
        return law_class(name)
    if name in law_names() and name not in compared:
        raise ArmError(
            f'law {name!r} has no design for natural_frequency, or commands voltages; '
            f"law:={name} gains:=file runs it with the gains of the robot's file, in Python "
            'natural_frequency=0'
        )
    one_of('law', name, compared)
    return any_class(compared_laws()[name][0])


def designed(law: type[Law], model: RobotModel, q: Array, frequency: float) -> Any:
    """Return the parameters of a law's class, designed at q (n,) for a frequency [rad/s].

    Raises:
        ArmError: the law of another package fails, or returns anything else.
    """
    if is_foreign(law):
        from arm_controllers.foreign_law import design

        return design(law, model, q, frequency, 1.0)
    return law.designed(model, q, frequency, 1.0)


def rigid_body_engines() -> tuple[str, ...]:
    """Return the names of the engines that laws drive by torques."""
    others = engine_classes(x for x in engine_names() if x not in RIGID_BODY_ENGINES)
    driven = (name for name, engine in others.items() if 'torque' in engine.actuator_kinds)
    return (*RIGID_BODY_ENGINES, *driven)
