"""The simulator as its own controller: an engine that moves by itself takes trajectory goals."""

import time
from collections.abc import Callable

from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.parameters import declare_parameters
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

# Lock-step: how long time goes on before other callbacks have their turn, and how often [s].
_SLICE, _EVERY = 5e-3, 1e-3
_FEEDBACK_RATE = 20.0  # [Hz of simulated time]


class OwnGoals:
    """Goals at ~/follow_joint_trajectory and ~/joint_trajectory of the simulator.

    Attributes:
        in_charge: whether the arm follows these goals; not while a controller commands it.
    """

    def __init__(self, node: Node, model: RobotModel, period_ns: int, realtime: bool):
        """Open the endpoints. Raises ArmError for a follower's parameter out of range."""
        self.in_charge = True
        rules = declare_parameters(node, FollowerParameters, joint_names=model.joint_names)
        self._follower = TrajectoryFollower(model, rules)
        self._goals = GoalServer(node, self._follower, period_ns, _FEEDBACK_RATE, realtime)
        self._fresh = True

    def command(self, time_ns: int, q: Array, v: Array) -> Array:
        """Return the position reference (n,) at a state; it is valid until the next call."""
        if self._fresh:
            self._follower.activate(time_ns, q, v)
            self._goals.activate(time_ns)
            self._fresh = False
        reference = self._follower.update(time_ns, q, v)
        self._goals.after_cycle(time_ns, q, v)
        return reference.q

    def give_up(self, commander: str) -> None:
        """End all goals: a controller commands the arm."""
        self.in_charge = False
        self._goals.deactivate(f'{commander!r} commands the arm')

    def take_over(self) -> None:
        """Follow goals again, holding where the arm is at the next state."""
        self.in_charge = self._fresh = True


def let_time_go_on(node: Node, step: Callable[[], bool]) -> None:
    """Call `step` over and over, as long as it returns True, between a node's other callbacks."""

    def slice_of_time() -> None:
        end = time.monotonic() + _SLICE
        while step() and time.monotonic() < end:
            pass
        timer.reset()  # a timer that is always overdue would leave the executor no time to end

    timer = node.create_timer(_EVERY, slice_of_time)
