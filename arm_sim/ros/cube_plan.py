"""The cube as a joint trajectory: asks the inverse kinematics service for the path."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from rclpy.node import Node

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.messages import pose_array_message, pose_message
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import joint_path_derivatives, polyline
from arm_interfaces.srv import ComputeIK, ComputeIKPath
from arm_sim.tasks.cube import Cube

# Returns the answer of a service client to a request.
Call = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class CubePlanParameters:
    """How the cube becomes a trajectory.

    Attributes:
        posture: joint positions whose tool orientation is held, and whose branch is kept [rad].
        sample_period: distance in time of the path's points [s].
        approach_time: shortest time of the way to the first corner [s].
        settle_time: rest at the first corner before the cube [s].
        ik_position_tolerance: [m].
        ik_orientation_tolerance: [rad].
    """

    posture: tuple[float, ...] = ()
    sample_period: float = 0.02
    approach_time: float = 2.0
    settle_time: float = 2.0
    ik_position_tolerance: float = 1e-9
    ik_orientation_tolerance: float = 1e-9

    def __post_init__(self):
        """Raises ArmError."""
        in_range('sample_period', self.sample_period, 0.001, 1.0)
        in_range('approach_time', self.approach_time, 0.1, 1000.0)
        in_range('settle_time', self.settle_time, 0.0, 1000.0)


class CubePlanner:
    """Turns a cube into a goal."""

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        cube: Cube,
        parameters: CubePlanParameters,
    ):
        """Open the clients.

        Raises:
            ArmError: the posture has the wrong length or is beyond the position limits.
        """
        self.model, self.cube, self.parameters = model, cube, parameters
        posture = parameters.posture or model.neutral()
        self.posture = model.check_configuration(posture, 'posture')
        self._ik = node.create_client(ComputeIK, 'compute_ik')
        self._path_ik = node.create_client(ComputeIKPath, 'compute_ik_path')

    def strokes(self, call: Call) -> tuple[Goal, dict]:
        """Return the strokes as a goal that starts at rest at the first corner, and IK facts."""
        if self.cube.path == 'published':
            return self._published(call)
        return self._edges(call)

    def _edges(self, call: Call) -> tuple[Goal, dict]:
        """Straight lines: quintic timing along each edge, inverse kinematics along the line."""
        p, cube = self.parameters, self.cube
        rotation = self.model.forward_kinematics(self.posture).rotation
        path = polyline(cube.waypoints, rotation, cube.edge_time)
        samples = path.sample(cube.sample_times(p.sample_period))
        request = ComputeIKPath.Request(
            path=pose_array_message(samples.poses[:, :3, 3], pin.Quaternion(rotation)),
            seed=self.posture.tolist(),
            position_tolerance=p.ik_position_tolerance,
            orientation_tolerance=p.ik_orientation_tolerance,
        )
        request.path.header.frame_id = self.model.base_frame
        response = call(self._path_ik, request)
        if not response.success:
            raise ArmError(
                f'the cube cannot be drawn: {response.reason} '
                f'(center {_text(cube.center)} m, side {cube.side:g} m)'
            )
        q = np.array(response.positions).reshape(len(samples.times), -1)
        v, a = joint_path_derivatives(self.model, q, samples.twists, samples.twist_rates)
        self._check_step(response.max_joint_step)
        facts = {
            'calls': 1,
            'max_position_error_mm': response.max_position_error * 1e3,
            'max_orientation_error_rad': response.max_orientation_error,
            'max_joint_step_rad': response.max_joint_step,
        }
        return Goal(self.model.joint_names, samples.times, q, v, a), facts

    def _published(self, call: Call) -> tuple[Goal, dict]:
        """The published way: one pose a corner, seeded by the corner before; rest at each."""
        p, cube = self.parameters, self.cube
        rotation = pin.Quaternion(self.model.forward_kinematics(self.posture).rotation)
        seed, rows, responses = self.posture, [], []
        for number, position in enumerate(cube.waypoints):
            request = ComputeIK.Request(
                target=pose_message(position, rotation, self.model.base_frame),
                seed=seed.tolist(),
                position_tolerance=p.ik_position_tolerance,
                orientation_tolerance=p.ik_orientation_tolerance,
            )
            response = call(self._ik, request)
            if not response.success:
                raise ArmError(f'the cube cannot be drawn: corner {number}: {response.reason}')
            responses.append(response)
            seed = np.array(response.position)
            rows.append(seed)
        q = np.array(rows)
        zero = np.zeros_like(q)
        facts = {
            'calls': len(rows),
            'max_position_error_mm': max(r.position_error for r in responses) * 1e3,
            'max_orientation_error_rad': max(r.orientation_error for r in responses),
            'max_joint_step_rad': float(np.abs(np.diff(q, axis=0)).max()),
        }
        times = np.arange(len(q)) * cube.edge_time
        return Goal(self.model.joint_names, times, q, zero, zero), facts

    def _check_step(self, step: float) -> None:
        fastest = 2.0 * float(np.min(self.model.velocity_limit)) * self.parameters.sample_period
        if step > fastest:
            raise ArmError(
                f'the joint path jumps by {step:.3g} rad between two points; '
                f'at most {fastest:.3g} rad is a motion'
            )

    def with_approach(
        self, goal: Goal, q_start: np.ndarray, start_ns: int, timestep: float
    ) -> tuple[Goal, float]:
        """Return the goal with the way to the first corner before it, and when the cube starts."""
        p = self.parameters
        distance = np.abs(self.model.difference(q_start, goal.positions[0]))
        # A rest-to-rest quintic is fastest in the middle: 15/8 of its mean speed.
        fastest = float(np.max(1.875 * distance / self.model.velocity_limit))
        arrival = max(p.approach_time, 1.5 * fastest)
        cube_start = round((arrival + p.settle_time) / timestep) * timestep
        zero = np.zeros((1, self.model.nv))
        return (
            replace(
                goal,
                times=np.concatenate([[arrival], cube_start + goal.times]),
                positions=np.vstack([goal.positions[:1], goal.positions]),
                velocities=np.vstack([zero, goal.velocities]),
                accelerations=np.vstack([zero, goal.accelerations]),
                start_ns=start_ns,
            ),
            cube_start,
        )


def _text(values: Sequence[float]) -> str:
    return '(' + ', '.join(f'{value:g}' for value in values) + ')'
