"""Lifecycle transitions of one controller, or of several in one switch."""

from functools import partial

from lifecycle_msgs.msg import Transition

from arm_dynamics.checks import ArmError
from arm_sim.standards.ros.controller_clients import ControllerClients
from arm_sim.standards.switching import ACTIVE, INACTIVE, UNCONFIGURED, Switch

TIMEOUT = 5.0  # of a transition, where a request has none [s]
_CLAIM_TIMEOUT = 0.4  # of a claim, where a request has none; MoveIt waits 1 s for a switch [s]
_CONFIGURE = (Transition.TRANSITION_CONFIGURE, INACTIVE)
_CLEANUP = (Transition.TRANSITION_CLEANUP, UNCONFIGURED)
_ACTIVATE = (Transition.TRANSITION_ACTIVATE, ACTIVE)
_DEACTIVATE = (Transition.TRANSITION_DEACTIVATE, INACTIVE)


class Transitions:
    """Requests lifecycle transitions of controllers; raises ArmError where one is refused."""

    def __init__(self, clients: ControllerClients):
        self._clients = clients

    def configure(self, name: str) -> None:
        """Configure a controller; a configured controller is cleaned up first."""
        if self.allow(name, UNCONFIGURED, INACTIVE) == INACTIVE:
            self._change(name, _CLEANUP)
        self._change(name, _CONFIGURE)

    def cleanup(self, name: str) -> None:
        """Clean up a configured controller."""
        self.allow(name, INACTIVE)
        self._change(name, _CLEANUP)

    def switch(self, switch: Switch, seconds: float = 0.0) -> None:
        """Deactivate, then activate; if one transition fails, undo the earlier ones.

        Then wait until the activated controllers hold their claims and accept goals; at most for
        `seconds`, or with 0 for 0.4 s, because time may be paused.
        """
        limit = seconds or TIMEOUT
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
            self._clients.wait(partial(self._has_claimed, name), seconds or _CLAIM_TIMEOUT)

    def _has_released(self, name: str) -> bool:
        return name not in self._clients.claims.claims

    def _has_claimed(self, name: str) -> bool:
        return name in self._clients.claims.claims

    def allow(self, name: str, *allowed: str) -> str:
        """Return the state of a controller; raises ArmError if the state is not allowed."""
        states = self._clients.states()
        if name not in states:
            raise ArmError(f'no controller {name!r}; there is: {", ".join(states) or "none"}')
        if states[name] not in allowed:
            raise ArmError(f'{name!r} is {states[name]}; it must be {" or ".join(allowed)}')
        return states[name]

    def _change(self, name: str, to: tuple[int, str], seconds: float = TIMEOUT) -> None:
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
