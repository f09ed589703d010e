"""How well an arm followed: two errors, never mixed.

The path error is how far the reference is from the ideal geometry; the tracking error is how far
the arm is from the reference.
"""

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.tasks.cube import Cube

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JointLog:
    """What `joint_states` said, sample by sample.

    Attributes:
        time_ns: (k,) stamps.
        q, v: (k, n) state at the stamp.
        effort: (k, n) torque applied in the control period that ends at the stamp.
    """

    time_ns: NDArray[np.int64]
    q: Array
    v: Array
    effort: Array

    def between(self, start_ns: int, end_ns: int, period_ns: int) -> 'JointLog':
        """Return the samples from start to end, both included.

        Raises:
            ArmError: a sample of the period is missing.
        """
        keep = (self.time_ns >= start_ns) & (self.time_ns <= end_ns)
        expected = (end_ns - start_ns) // period_ns + 1
        if keep.sum() != expected:
            raise ArmError(
                f'{keep.sum()} of {expected} states were recorded between '
                f't = {start_ns * 1e-9:.3f} s and {end_ns * 1e-9:.3f} s'
            )
        return JointLog(self.time_ns[keep], self.q[keep], self.v[keep], self.effort[keep])

    def checksum(self) -> str:
        """Return the SHA-256 of all stamps and numbers: equal for bit-identical runs only."""
        digest = sha256()
        for array in (self.time_ns - self.time_ns[0], self.q, self.v, self.effort):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Tracking:
    """A run of k control periods, measured; row i is the state at the start of period i.

    Attributes:
        t: (k,) [s] since the start.
        reference_tip, tip: (k, 3) [m], base frame.
        path_error, tracking_error: (k,) [m].
        joint_error: (k, n) reference minus state [rad | m].
        effort: (k, n) torque applied in the period [N.m | N].
        effort_share: (k, n) of the effort limit.
    """

    t: Array
    reference_tip: Array
    tip: Array
    path_error: Array
    tracking_error: Array
    joint_error: Array
    effort: Array
    effort_share: Array


def measure(
    model: RobotModel, log: JointLog, trajectory: Trajectory, trajectory_start: float, cube: Cube
) -> Tracking:
    """Compare a log with the trajectory that was asked for and with the cube.

    Args:
        model: the arm.
        log: k + 1 samples from the start of the cube to its end.
        trajectory: what the arm was sent.
        trajectory_start: the cube's start on the trajectory's clock [s].
        cube: the ideal geometry.
    """
    t = (log.time_ns[:-1] - log.time_ns[0]) * 1e-9
    q_reference = trajectory.states(trajectory_start + t)[0]
    reference_tip = _tips(model, q_reference)
    tip = _tips(model, log.q[:-1])
    effort = log.effort[1:]
    return Tracking(
        t=t,
        reference_tip=reference_tip,
        tip=tip,
        path_error=cube.distance_from_strokes(t, reference_tip),
        tracking_error=np.linalg.norm(tip - reference_tip, axis=1),
        joint_error=model.difference(log.q[:-1], q_reference),
        effort=effort,
        effort_share=np.abs(effort) / model.effort_limit,
    )


def _tips(model: RobotModel, q: Array) -> Array:
    return np.array([model.forward_kinematics(row).translation for row in q])


def rms(values: Array) -> Array:
    """Return the root of the mean square over the samples (axis 0)."""
    return np.sqrt(np.mean(np.square(values), axis=0))
