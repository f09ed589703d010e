"""Switching controllers: which ones a request deactivates, activates and leaves out.

Names and numbers are those of controller_manager_msgs/SwitchController.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arm_dynamics.checks import ArmError

BEST_EFFORT, STRICT, AUTO, FORCE_AUTO = 1, 2, 3, 4
_LEVELS = 'BEST_EFFORT (1), STRICT (2), AUTO (3), FORCE_AUTO (4)'
UNCONFIGURED, INACTIVE, ACTIVE = 'unconfigured', 'inactive', 'active'


@dataclass(frozen=True)
class Controller:
    """A controller.

    Attributes:
        state: of its lifecycle: unconfigured, inactive, active, finalized, or a transition state.
        requires: command interfaces that it claims while active, such as `joint/position`.
    """

    state: str
    requires: tuple[str, ...] = ()


_NONE = Controller('')


@dataclass(frozen=True)
class Switch:
    """The effect of a request, in this order; controllers in the requested state do not change.

    Attributes:
        deactivate, activate: names of controllers.
        left_out: reasons for those that BEST_EFFORT leaves out.
        in_vain: whether all controllers to activate, or all to deactivate, are left out.
    """

    deactivate: tuple[str, ...]
    activate: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    in_vain: bool = False


def plan(
    controllers: Mapping[str, Controller],
    offered: Sequence[str],
    activate: Sequence[str],
    deactivate: Sequence[str],
    strictness: int,
) -> Switch:
    """Return the effect of a request.

    BEST_EFFORT leaves out impossible parts, the others refuse the whole request. Controllers are
    not chained here, so AUTO is STRICT. FORCE_AUTO also deactivates controllers that claim a
    required interface.

    Args:
        controllers: the loaded controllers by name.
        offered: the command interfaces of the arm.
        activate, deactivate: names.
        strictness: one of the four; 0 is BEST_EFFORT.

    Raises:
        ArmError: the reasons for which the request is impossible.
    """
    if strictness not in (0, BEST_EFFORT, STRICT, AUTO, FORCE_AUTO):
        raise ArmError(f'strictness is {strictness}; allowed: {_LEVELS}')
    stopped: list[str] = []
    started: list[str] = []
    failed: dict[str, str] = {}
    for name in dict.fromkeys(deactivate):
        if reason := _why_not(name, controllers, (), ACTIVE):
            failed[name] = reason
        else:
            stopped.append(name)
    for name in dict.fromkeys(activate):
        requires = controllers.get(name, _NONE).requires
        holders = [
            other
            for other, each in controllers.items()
            if (each.state == ACTIVE and other not in stopped) or other in started
            if other != name and set(each.requires) & set(requires)
        ]
        reason = _why_not(name, controllers, offered, INACTIVE)
        if holders and not reason:
            if strictness == FORCE_AUTO and holders[0] not in started:
                stopped += holders
            else:
                holder = holders[0]
                (both, *_) = (each for each in requires if each in controllers[holder].requires)
                reason = (
                    f'{name!r} requires {both}, which {holder!r} has; '
                    f'deactivate {holder!r} in the same request'
                )
        if reason:
            failed[name] = reason
        else:
            started.append(name)
    if failed and strictness not in (0, BEST_EFFORT):
        raise ArmError('; '.join(failed.values()))
    # Those that are in the requested state anyway do not count as left out.
    for names, state in ((deactivate, INACTIVE), (activate, ACTIVE)):
        for name in names:
            if name in failed and controllers.get(name, _NONE).state == state:
                del failed[name]
    in_vain = any(names and set(names) <= failed.keys() for names in (deactivate, activate))
    return Switch(tuple(stopped), tuple(started), tuple(failed.values()), in_vain)


def _why_not(
    name: str, controllers: Mapping[str, Controller], offered: Sequence[str], state: str
) -> str:
    """Return why a controller cannot leave a state; '' if it can."""
    if name not in controllers:
        return f'no controller {name!r}; there is: {", ".join(sorted(controllers)) or "none"}'
    if controllers[name].state != state:
        verb = 'activated' if state == INACTIVE else 'deactivated'
        return f'{name!r} is {controllers[name].state}; only from {state} can it be {verb}'
    lacking = set(controllers[name].requires) - set(offered) if state == INACTIVE else ()
    if lacking:
        return (
            f'{name!r} requires {sorted(lacking)[0]}, which the arm does not offer; '
            f'it offers {", ".join(offered) or "nothing"}'
        )
    return ''
