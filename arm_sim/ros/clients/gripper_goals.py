"""Goals of the gripper controller that begin at a simulated time."""

from collections.abc import Sequence
from functools import partial

from control_msgs.action import ParallelGripperCommand
from rclpy.action import ActionClient
from rclpy.node import Node

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import ACTION_SERVICES
from arm_dynamics.checks import ArmError
from arm_sim.ros.waiting import Waiting

ACTION = 'gripper_controller/gripper_cmd'
_TRIES = 50  # of a goal that comes before the controller's first state


class GripperGoals:
    """Sends goals that begin at a simulated time."""

    def __init__(self, node: Node, waiting: Waiting, joint: str):
        """`waiting`: how the node waits for others; `joint`: the gripper's."""
        self._waiting, self._joint = waiting, joint
        self._client = ActionClient(node, ParallelGripperCommand, ACTION, **ACTION_SERVICES)

    def send(self, goals: Sequence[tuple[float, float, float]], start_ns: int) -> None:
        """Send goals: times after `start_ns` [s], positions [m | rad], efforts [N | N.m].

        Raises:
            ArmError: the gripper controller is missing, or refuses a goal.
        """
        self._waiting.wait_until(self._client.server_is_ready, ACTION)
        for time, position, effort in goals:
            goal = ParallelGripperCommand.Goal()
            set_stamp(goal.command.header.stamp, start_ns + round(time * 1e9))
            goal.command.name = [self._joint]
            goal.command.position, goal.command.effort = [position], [effort]
            for _ in range(_TRIES):
                send = partial(self._client.send_goal_async, goal)
                if self._waiting.answer(send, ACTION).accepted:
                    break
            else:
                raise ArmError(f'{ACTION} rejected a goal; its log says why')
