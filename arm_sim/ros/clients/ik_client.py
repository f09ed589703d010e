"""Inverse kinematics by the service of another node."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import PoseArray
from rclpy.client import Client
from rclpy.node import Node

from arm_controllers.ros.pose_messages import pose_to_message
from arm_controllers.ros.ros_types import AnyMessage, Request
from arm_interfaces.srv import ComputeIK, ComputeIKPath


class IkClient:
    """Returns what `solve_ik` and `solve_path_ik` return for the model of the service's node."""

    def __init__(self, node: Node, base_frame: str, call: Callable[[Client, Request], AnyMessage]):
        """Open the clients; `call` returns the answer of a service client to a request."""
        self._base, self._call = base_frame, call
        self._pose = node.create_client(ComputeIK, 'compute_ik')
        self._path = node.create_client(ComputeIKPath, 'compute_ik_path')

    def pose(self, target: pin.SE3, seed: np.ndarray, **tolerances: float) -> SimpleNamespace:
        """Return q (n,) at one pose."""
        target = pose_to_message(target, self._base)
        request = ComputeIK.Request(target=target, seed=seed.tolist(), **tolerances)
        answer = self._call(self._pose, request)
        q = np.array(answer.position)
        return _result(answer, q, 'position_error', 'orientation_error')

    def path(self, poses: np.ndarray, seed: np.ndarray, **tolerances: float) -> SimpleNamespace:
        """Return q (m, n) along poses (m, 4, 4)."""
        path = PoseArray(poses=[pose_to_message(pin.SE3(each), '').pose for each in poses])
        path.header.frame_id = self._base
        request = ComputeIKPath.Request(path=path, seed=seed.tolist(), **tolerances)
        answer = self._call(self._path, request)
        q = np.array(answer.positions).reshape(-1, len(seed))
        return _result(answer, q, 'max_position_error', 'max_orientation_error')


def _result(answer: AnyMessage, q: np.ndarray, *names: str) -> SimpleNamespace:
    values = {name: getattr(answer, name) for name in ('success', 'reason', *names)}
    return SimpleNamespace(q=q, **values)
