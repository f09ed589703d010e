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
    lenient = strictness in (0, BEST_EFFORT)
    wanted = (tuple(dict.fromkeys(deactivate)), tuple(dict.fromkeys(activate)))
    stopped, started, left_out = [], [], dict[str, str]()
    for name in wanted[0]:
        if reason := _why_not(name, controllers, (), ACTIVE):
            left_out[name] = reason
        else:
            stopped.append(name)
    for name in wanted[1]:
        holders = [
            other
            for other, each in controllers.items()
            if (each.state == ACTIVE and other not in stopped) or other in started
            if other != name and set(each.requires) & set(_requires(name, controllers))
        ]
        reason = _why_not(name, controllers, offered, INACTIVE)
        if holders and not reason:
            if strictness == FORCE_AUTO and holders[0] not in started:
                stopped += holders
            else:
                reason = _taken(name, holders[0], controllers)
        if reason:
            left_out[name] = reason
        else:
            started.append(name)
    if left_out and not lenient:
        raise ArmError('; '.join(left_out.values()))
    return _switch(controllers, wanted, stopped, started, left_out)


def _switch(
    controllers: Mapping[str, Controller],
    wanted: tuple[tuple[str, ...], tuple[str, ...]],
    stopped: Sequence[str],
    started: Sequence[str],
    left_out: Mapping[str, str],
) -> Switch:
    """Return the switch; those left out that are in the requested state anyway do not count.

    `wanted`: names to deactivate, and to activate.
    """
    there = (INACTIVE, ACTIVE)
    failed = {
        name
        for names, state in zip(wanted, there, strict=True)
        for name in names
        if name in left_out and _state(name, controllers) != state
    }
    return Switch(
        tuple(stopped),
        tuple(started),
        tuple(left_out[name] for name in left_out if name in failed),
        any(names and failed.issuperset(names) for names in wanted),
    )


def _state(name: str, controllers: Mapping[str, Controller]) -> str:
    return controllers[name].state if name in controllers else ''


def _requires(name: str, controllers: Mapping[str, Controller]) -> tuple[str, ...]:
    return controllers[name].requires if name in controllers else ()


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


def _taken(name: str, holder: str, controllers: Mapping[str, Controller]) -> str:
    both = [each for each in controllers[name].requires if each in controllers[holder].requires]
    return (
        f'{name!r} requires {both[0]}, which {holder!r} has; '
        f'deactivate {holder!r} in the same request'
    )
