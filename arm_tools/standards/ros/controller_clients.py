"""Lifecycle clients of the controllers of an arm: names, states, transitions."""

import time
from collections.abc import Callable
from functools import partial

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from arm_controllers.ros.active_controllers import (
    ActiveControllers,
    nodes_of_arm,
    watch_active_controllers,
)
from arm_controllers.ros.nodes import quiet_node
from arm_controllers.ros.ros_types import Kind, Request, Response
from arm_controllers.ros.running import wait_until
from arm_dynamics.checks import ArmError
from arm_tools.standards.hardware import SIMULATOR
from arm_tools.standards.switching import ACTIVE, INACTIVE, UNCONFIGURED, Switch

_ENDING = '_controller'
_RESEND = 0.25  # time without an answer until a request is repeated: ROS can lose the first [s]
_ANSWER = 0.8  # timeout of a state; MoveIt waits for a list of controllers for 1 s [s]
TIMEOUT = 5.0  # of a transition, where a request has none [s]
_CLAIM_TIMEOUT = 0.4  # of a claim, where a request has none; MoveIt waits 1 s for a switch [s]
_CONFIGURE = (Transition.TRANSITION_CONFIGURE, INACTIVE)
_CLEANUP = (Transition.TRANSITION_CLEANUP, UNCONFIGURED)
_ACTIVATE = (Transition.TRANSITION_ACTIVATE, ACTIVE)
_DEACTIVATE = (Transition.TRANSITION_DEACTIVATE, INACTIVE)

UNKNOWN = 'unknown'  # the state of a controller that does not answer


class ControllerClients:
    """Calls the lifecycle nodes named *_controller in a node's namespace, and waits for answers.

    A hidden node with its own executor sends the requests: so a callback of the node can wait.

    Attributes:
        claims: which controller commands which joints, as the simulator publishes.
    """

    def __init__(self, node: Node):
        """Open a hidden node in the namespace of `node`."""
        self._node = quiet_node(node, f'_{node.get_name()}_clients')
        self._executor = SingleThreadedExecutor(context=node.context)
        self._executor.add_node(self._node)
        self.claims = ActiveControllers()
        watch_active_controllers(self._node, partial(setattr, self, 'claims'))
        self._clients: dict[tuple[str, Kind], Client] = {}
        self._controllers: list[str] = []

    def close(self) -> None:
        """Close the hidden node."""
        self._executor.shutdown()
        self._node.destroy_node()

    @property
    def has_simulator(self) -> bool:
        """Whether the graph shows a simulator."""
        return SIMULATOR in nodes_of_arm(self._node)

    def names(self) -> list[str]:
        """Return the controllers that the graph shows, sorted; create their clients."""
        offered = {name for name, _ in self._node.get_service_names_and_types()}
        found = sorted(
            name
            for name in set(nodes_of_arm(self._node))
            if name.endswith(_ENDING) and self._service(name, 'change_state') in offered
        )
        for key in [key for key in self._clients if key[0] in self._controllers]:
            if key[0] not in found:
                self._node.destroy_client(self._clients.pop(key))
        for name in found:
            self._client(name, GetState, 'get_state')
            self._client(name, ChangeState, 'change_state')
        self._controllers = found
        return found

    def states(self) -> dict[str, str]:
        """Return the state of every controller in lifecycle's words, or UNKNOWN."""
        names = self.names()
        answers = self._call(names, GetState, 'get_state', GetState.Request(), _ANSWER)
        return {
            name: answers[name].current_state.label if name in answers else UNKNOWN
            for name in names
        }

    # Transitions: each raises ArmError where it is refused

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
                self._wait_for_claim(name, False, limit)
            for name in switch.activate:
                undo.append((name, _DEACTIVATE))
                self._change(name, _ACTIVATE, limit)
        except ArmError as error:
            lost = [name for name, back in reversed(undo) if not self._put_back(name, back, limit)]
            how = f'not put back: {", ".join(lost)}' if lost else 'all are as they were before'
            raise ArmError(f'{error}; {how}') from None
        for name in switch.activate:
            self._wait_for_claim(name, True, seconds or _CLAIM_TIMEOUT)

    def _wait_for_claim(self, name: str, held: bool, seconds: float) -> None:
        self.wait(lambda: (name in self.claims.claims) is held, seconds)

    def allow(self, name: str, *allowed: str) -> str:
        """Return the state of a controller; raises ArmError if the state is not allowed."""
        states = self.states()
        if name not in states:
            raise ArmError(f'no controller {name!r}; there is: {", ".join(states) or "none"}')
        if states[name] not in allowed:
            raise ArmError(f'{name!r} is {states[name]}; it must be {" or ".join(allowed)}')
        return states[name]

    def _change(self, name: str, to: tuple[int, str], seconds: float = TIMEOUT) -> None:
        """Request a transition of a controller; raise ArmError where it fails."""
        transition, state = to
        request = ChangeState.Request(transition=Transition(id=transition))
        never = seconds + 1.0  # a repeated request would be refused
        answers = self._call([name], ChangeState, 'change_state', request, seconds, never)
        done = name in answers and answers[name].success
        if not done and self.states().get(name) != state:  # the answer may be lost
            raise ArmError(f'{name!r} did not become {state}; its log says why')

    def _put_back(self, name: str, to: tuple[int, str], seconds: float) -> bool:
        if self.states().get(name) == to[1]:
            return True
        try:
            self._change(name, to, seconds)
        except ArmError:
            return False
        return True

    # Requests

    def _call(
        self,
        names: list[str],
        kind: Kind,
        service: str,
        request: Request,
        seconds: float,
        resend: float = _RESEND,
    ) -> dict[str, Response]:
        """Return the answers of nodes, by name, that come within a time [s]."""
        clients = {name: self._client(name, kind, service) for name in names}
        futures: dict[str, list[Future]] = {name: [] for name in names}
        last = dict.fromkeys(names, -resend)

        def all_answered() -> bool:
            now = time.monotonic()
            for name, client in clients.items():
                if now - last[name] >= resend and client.service_is_ready():
                    last[name] = now
                    futures[name].append(client.call_async(request))
            return all(any(each.done() for each in several) for several in futures.values())

        self.wait(all_answered, seconds)
        found = {}
        for name, several in futures.items():
            for each in several:
                clients[name].remove_pending_request(each)
            if done := [each.result() for each in several if each.done()]:
                found[name] = done[0]
        return found

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Receive answers until a condition holds; return whether it holds within a time [s]."""
        try:
            wait_until(self._executor, condition, '', seconds)
        except (ArmError, KeyboardInterrupt):  # the latter ends the node after its callback
            return False
        return True

    def _service(self, name: str, service: str) -> str:
        return f'{self._node.get_namespace().rstrip("/")}/{name}/{service}'

    def _client(self, name: str, kind: Kind, service: str) -> Client:
        key = (name, kind)
        if key not in self._clients:
            path = self._service(name, service)
            self._clients[key] = self._node.create_client(kind, path)
        return self._clients[key]
