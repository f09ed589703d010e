"""What a task asks of other nodes: inverse kinematics, goals of the gripper, objects it moves."""

from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pinocchio as pin
from control_msgs.action import ParallelGripperCommand
from geometry_msgs.msg import PoseArray
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.node import Node

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.object_messages import shapes_of
from arm_controllers.ros.pose_messages import pose_to_message
from arm_dynamics.checks import ArmError, Array
from arm_interfaces.srv import ComputeIK, ComputeIKPath
from arm_sim.ros.waiting import Waiting

ACTION = 'gripper_controller/gripper_cmd'
_TRIES = 50  # of a goal that comes before the controller's first state


class IkClient:
    """Returns what `solve_ik` and `solve_path_ik` return for the model of the service's node."""

    def __init__(self, node: Node, base_frame: str, call: Callable[[Any, Any], Any]):
        """Open the clients; `call` returns the answer of a service client to a request."""
        self._base, self._call = base_frame, call
        self._pose = node.create_client(ComputeIK, 'compute_ik')
        self._path = node.create_client(ComputeIKPath, 'compute_ik_path')

    def pose(self, target: pin.SE3, seed: np.ndarray, **tolerances: float) -> Any:
        """Return q (n,) at one pose."""
        target = pose_to_message(target, self._base)
        request = ComputeIK.Request(target=target, seed=seed.tolist(), **tolerances)
        answer = self._call(self._pose, request)
        q = np.array(answer.position)
        return _result(answer, q, 'position_error', 'orientation_error')

    def path(self, poses: np.ndarray, seed: np.ndarray, **tolerances: float) -> Any:
        """Return q (m, n) along poses (m, 4, 4)."""
        path = PoseArray(poses=[pose_to_message(pin.SE3(each), '').pose for each in poses])
        path.header.frame_id = self._base
        request = ComputeIKPath.Request(path=path, seed=seed.tolist(), **tolerances)
        answer = self._call(self._path, request)
        q = np.array(answer.positions).reshape(-1, len(seed))
        return _result(answer, q, 'max_position_error', 'max_orientation_error')


def _result(answer: Any, q: np.ndarray, *names: str) -> SimpleNamespace:
    values = {name: getattr(answer, name) for name in ('success', 'reason', *names)}
    return SimpleNamespace(q=q, **values)


class GripperGoals:
    """Sends goals that begin at a simulated time."""

    def __init__(self, node: Node, waiting: Waiting, joint: str):
        """`waiting`: how the node waits for others; `joint`: the gripper's."""
        self._waiting, self._joint = waiting, joint
        self._client = ActionClient(node, ParallelGripperCommand, ACTION)

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


def poses_over_time(
    objects: Sequence[tuple[int, bytes]], stamps: NDArray[np.int64], name: str
) -> Array:
    """Return the poses (k, 1, 7) of an object at stamps (k,) [ns]: the newest ones then.

    Args:
        objects: stamps [ns] and serialised messages of the topic of objects.
        stamps: rising.
        name: of the object.

    Raises:
        ArmError: no message has the object.
    """
    known = [
        (ns, shape.pose) for ns, raw in objects for shape in shapes_of(raw) if shape.name == name
    ]
    if not known:
        raise ArmError(f'no message on the topic of objects has {name!r}')
    times, poses = np.array([ns for ns, _ in known]), np.array([pose for _, pose in known])
    newest = np.searchsorted(times, stamps, side='right') - 1
    return poses[newest.clip(0)][:, np.newaxis]
