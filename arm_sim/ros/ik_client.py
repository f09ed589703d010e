"""Inverse kinematics for a task, asked of the services `compute_ik` and `compute_ik_path`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import PoseArray
from rclpy.node import Node

from arm_controllers.ros.messages import pose_to_message
from arm_dynamics.model import RobotModel
from arm_interfaces.srv import ComputeIK, ComputeIKPath
from arm_sim.runs.ik import IkAnswer


class IkClient:
    """Solves by asking the inverse kinematics node; see runs.ik.Ik."""

    def __init__(self, node: Node, model: RobotModel, call: Callable[[Any, Any], Any]):
        """Open the clients.

        Args:
            node: the task.
            model: of the arm.
            call: returns the answer of a service client to a request.
        """
        self._base, self._call = model.base_frame, call
        self._pose = node.create_client(ComputeIK, 'compute_ik')
        self._path = node.create_client(ComputeIKPath, 'compute_ik_path')

    def pose(self, target: pin.SE3, seed: np.ndarray, tolerances: tuple[float, float]) -> IkAnswer:
        """Ask for one pose."""
        position, orientation = tolerances
        request = ComputeIK.Request(
            target=pose_to_message(target, self._base),
            seed=seed.tolist(),
            position_tolerance=position,
            orientation_tolerance=orientation,
        )
        found = self._call(self._pose, request)
        errors = found.position_error, found.orientation_error
        reason = '' if found.success else found.reason
        return IkAnswer(np.array(found.position), reason, *errors)

    def path(
        self, poses: np.ndarray, seed: np.ndarray, tolerances: tuple[float, float]
    ) -> IkAnswer:
        """Ask for a path."""
        position, orientation = tolerances
        path = PoseArray(poses=[pose_to_message(pin.SE3(each), '').pose for each in poses])
        path.header.frame_id = self._base
        request = ComputeIKPath.Request(
            path=path,
            seed=seed.tolist(),
            position_tolerance=position,
            orientation_tolerance=orientation,
        )
        found = self._call(self._path, request)
        errors = found.max_position_error, found.max_orientation_error
        reason = '' if found.success else found.reason
        return IkAnswer(np.array(found.positions).reshape(-1, len(seed)), reason, *errors)
