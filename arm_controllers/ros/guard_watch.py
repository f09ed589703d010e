"""What follows when the guard of a law notices a collision, until ~/reset_guard ends it."""

from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.guard import Guard
from arm_controllers.law import State
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.log import Log
from arm_controllers.ros.services import serve
from arm_dynamics.checks import Array


class GuardWatch:
    """Ends the goals when a guard notices a collision, and refuses others until ~/reset_guard.

    Attributes:
        guard: of the law.
        collision: what the arm has collided with; '': the guard does not react.
    """

    def __init__(
        self,
        node: Node,
        guard: Guard,
        follower: TrajectoryFollower,
        goals: GoalServer,
        on_reset: Callable[[str], None],
    ):
        """Open the service; `on_reset` receives the collision whose reaction it ends."""
        self._node, self.guard, self.collision = node, guard, ''
        self._follower, self._goals, self._on_reset = follower, goals, on_reset
        self._service = serve(node, Trigger, '~/reset_guard', self._reset)

    def close(self) -> None:
        """Close the service."""
        self._node.destroy_service(self._service)

    def after_cycle(self, state: State, time_ns: int, q: Array, v: Array) -> bool:
        """Look at the law's state after a cycle; return whether the guard reacts.

        The cycle answered the state q, v (n,) of a stamp [ns].
        """
        if self.collision:
            return True
        self.collision = self.guard.collision(state)
        if not self.collision:
            return False
        reaction = f'{self.collision}; reaction: {self.guard.parameters.reaction}'
        self._goals.refusal = f'{reaction}; ~/reset_guard allows goals again'
        if not self._follower.goals:
            Log(self._node).warning(reaction)
        self._follower.activate(time_ns, q, v, reaction)
        self._goals.deactivate(reaction)
        return True

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> str:
        """End the reaction of the guard: the arm is held where it is, goals are taken again."""
        collision, self.collision = self.collision, ''
        if collision:
            self._on_reset(collision)
        return collision or 'there was no collision'
