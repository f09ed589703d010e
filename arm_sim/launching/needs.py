"""Arguments that need another one: given without that one, they are refused, not ignored."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.parameter_files import files_of, merged, parameters_of
from arm_sim.simulation.plant import plant_class

_OF_LAWS = ('policy', 'latency', 'reference_motion', 'friction_velocity')


class Need(NamedTuple):
    """What arguments need to have an effect.

    Attributes:
        names: of the arguments.
        met: whether they have an effect, by the values of all arguments.
        remedy: what to type.
    """

    names: tuple[str, ...]
    met: Callable[[Mapping[str, str]], bool]
    remedy: str


def _touches(given: Mapping[str, str]) -> bool:
    """Whether links touch each other, floor and table."""
    files = merged(files_of(given['robot'], given['config']))
    return given['contacts'] == 'true' or bool(parameters_of(files, 'simulator').get('contacts'))


def sees_table(given: Mapping[str, str]) -> bool:
    """Whether a node of the arm uses the table."""
    shown = (given[name] == 'true' for name in ('view', 'viewer', 'plan_motion'))
    return any(shown) or bool(given['camera']) or _touches(given)


NEEDS = (
    Need(('view_port', 'view_host'), lambda given: given['view'] == 'true', 'view:=true'),
    Need(('latency_seed',), lambda given: bool(given['latency']), "a policy's latency:=TIME"),
    Need(('learning_cutoff',), lambda given: given['passes'] != '1', 'passes:=2 or more'),
    Need(('srdf',), _touches, 'contacts:=true'),
)


def check_needs(
    given: Mapping[str, str], usual: Mapping[str, str], needs: Sequence[Need] = NEEDS
) -> None:
    """Refuse an argument that has no effect beside the others.

    Args:
        given: values of the arguments.
        usual: their default values; an argument that has its own is not refused.
        needs: what arguments need.

    Raises:
        ArmError: names the argument, and what to type.
    """
    for names, met, remedy in needs:
        for name in names:
            if not _same(given.get(name, ''), usual.get(name, '')) and not met(given):
                raise no_effect(name, given, remedy)


def no_effect(name: str, given: Mapping[str, str], remedy: str) -> ArmError:
    """Return the error for an argument without effect; `remedy`: what gives it one."""
    return ArmError(f'{name}:={given[name]} has no effect: it needs {remedy}; or leave it out')


def check_of_law(given: Mapping[str, str]) -> None:
    """Refuse arguments of controllers where the arm has none of this package, or another one.

    Raises:
        ArmError: names the argument, and what to type.
    """
    law, level = given['controller'], given['feedforward']
    for name in _OF_LAWS if law in ('none', 'external') else ():
        if given[name]:
            raise no_effect(name, given, f'a law of this package; controller is {law!r}')
    if level not in ('', 'best') and law != 'servo':
        raise no_effect('feedforward', given, f'law:=servo; the law is {law!r}')


def check_of_file(given: Mapping[str, str], model: RobotModel) -> None:
    """Refuse arguments about files and steps that an arm and its engine do not have.

    Raises:
        ArmError: names the argument, and what to type.
    """
    engine = given['engine']
    if given['mjcf'] == 'native' and not (model.mjcf and engine == 'mujoco'):
        what = 'an MJCF as robot, and as gripper if there is one' if not model.mjcf else ''
        raise no_effect('mjcf', given, what or f'engine:=mujoco; engine is {engine!r}')
    if given['srdf'] and model.mjcf and engine == 'mujoco':
        raise no_effect('srdf', given, 'mjcf:=converted: an MJCF says itself what touches')
    if given['integrator'] and plant_class(engine).takes_goals:
        raise no_effect('integrator', given, f'engine:=mujoco or analytical; it is {engine!r}')


def _same(value: str, usual: str) -> bool:
    """Whether a value is the default one, as text or as a number."""
    try:
        return value in ('', usual) or float(value) == float(usual)
    except ValueError:
        return False
