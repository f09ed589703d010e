"""Controllers from one state to another: a single one, or several at once."""

from functools import partial

from lifecycle_msgs.msg import Transition

from arm_dynamics.checks import ArmError
from arm_sim.standards.ros.controller_clients import ControllerClients
from arm_sim.standards.switching import ACTIVE, INACTIVE, UNCONFIGURED, Switch

PATIENCE = 5.0  # for a transition, where a request says nothing [s]
_TAKES_OVER = 0.4  # MoveIt waits for a switch for 1 s [s]
_CONFIGURE = (Transition.TRANSITION_CONFIGURE, INACTIVE)
_CLEANUP = (Transition.TRANSITION_CLEANUP, UNCONFIGURED)
_ACTIVATE = (Transition.TRANSITION_ACTIVATE, ACTIVE)
_DEACTIVATE = (Transition.TRANSITION_DEACTIVATE, INACTIVE)


class Transitions:
    """Moves controllers through their lifecycle; ArmError says what it refuses, and why."""

    def __init__(self, clients: ControllerClients):
        self._clients = clients

    def configure(self, name: str) -> None:
        """Configure a controller; one that is configured is cleaned up before."""
        if self.allow(name, UNCONFIGURED, INACTIVE) == INACTIVE:
            self._change(name, _CLEANUP)
        self._change(name, _CONFIGURE)

    def cleanup(self, name: str) -> None:
        """Make a controller forget how it was configured."""
        self.allow(name, INACTIVE)
        self._change(name, _CLEANUP)

    def switch(self, switch: Switch, seconds: float = 0.0) -> None:
        """Deactivate, then activate; where one does not, put back what was changed.

        Then wait until the activated controllers hold their claims, and take goals; at most for
        `seconds`, or with 0 for 0.4 s: time may be paused.
        """
        limit = seconds or PATIENCE
        undo: list[tuple[str, tuple[int, str]]] = []
        try:
            for name in switch.deactivate:
                undo.append((name, _ACTIVATE))
                self._change(name, _DEACTIVATE, limit)
                # No other controller may begin before the simulator has ended the claim.
                self._clients.wait(partial(self._has_released, name), limit)
            for name in switch.activate:
                undo.append((name, _DEACTIVATE))
                self._change(name, _ACTIVATE, limit)
        except ArmError as error:
            lost = [name for name, back in reversed(undo) if not self._put_back(name, back, limit)]
            how = f'not put back: {", ".join(lost)}' if lost else 'all are as they were before'
            raise ArmError(f'{error}; {how}') from None
        for name in switch.activate:
            self._clients.wait(partial(self._has_claimed, name), seconds or _TAKES_OVER)

    def _has_released(self, name: str) -> bool:
        return name not in self._clients.claims.claims

    def _has_claimed(self, name: str) -> bool:
        return name in self._clients.claims.claims

    def allow(self, name: str, *allowed: str) -> str:
        """Return the state of a controller, which must be one of these."""
        states = self._clients.states()
        if name not in states:
            raise ArmError(f'no controller {name!r}; there is: {", ".join(states) or "none"}')
        if states[name] not in allowed:
            raise ArmError(f'{name!r} is {states[name]}; it must be {" or ".join(allowed)}')
        return states[name]

    def _change(self, name: str, to: tuple[int, str], seconds: float = PATIENCE) -> None:
        transition, state = to
        done = self._clients.change(name, transition, seconds)
        if not done and self._clients.states().get(name) != state:  # the answer may be lost
            raise ArmError(f'{name!r} did not become {state}; its log says why')

    def _put_back(self, name: str, to: tuple[int, str], seconds: float) -> bool:
        if self._clients.states().get(name) == to[1]:
            return True
        try:
            self._change(name, to, seconds)
        except ArmError:
            return False
        return True
