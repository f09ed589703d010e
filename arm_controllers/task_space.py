"""Task space: motion and torque of a frame that a law controls, and the wrench that it feels."""

from dataclasses import dataclass

import numpy as np
from eigenpy import LLT, ComputationInfo

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.frames import FrameMotion, cross
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.small_matrices import (
    inverse_axes,
    product,
    rotation_vector,
    solve_positive,
    times,
    transposed,
)

TASK_AXES = ('x', 'y', 'z', 'about x', 'about y', 'about z')  # of the base frame


@dataclass(frozen=True, kw_only=True)
class PostureParameters(Parameters):
    """Gains of the posture in the null space."""

    posture_kp: float = parameter(100.0, 'position gain of the null space [1/s^2]', min=0)
    posture_kd: float = parameter(20.0, 'velocity gain of the null space [1/s]', min=0)


@dataclass(frozen=True)
class PoseParameters(PostureParameters):
    """Gains of the pose of the tool, and of the posture."""

    kp: PerJoint = parameter(
        (400.0,), 'position and orientation gains of the tool, 6 numbers or one for all [1/s^2]',
        min=0, per=TASK_AXES,
    )  # fmt: skip
    kd: PerJoint = parameter(
        (40.0,), 'velocity gains of the tool, 6 numbers or one for all [1/s]',
        min=0, per=TASK_AXES,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AxesParameters(Parameters):
    """Axes of the base along which the tool is controlled."""

    axes: tuple[float, ...] = parameter(
        (1.0,) * 6, f'mask [1] of {", ".join(TASK_AXES)}: 1: controlled, 0: not', length=6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.axes) - {0.0, 1.0} or not any(self.axes):
            raise ArmError(f'axes is {self.axes}; it must be six of 0 and 1, not all 0')


@dataclass(frozen=True, kw_only=True)
class ToolParameters(Parameters):
    """The frame that a law controls, and where the wrench is measured."""

    frame: str = parameter('', "name of the controlled frame; empty: the model's tool frame")
    wrench_frame: str = parameter(
        '', 'link of the force-torque sensor; empty: the link that carries the tool frame'
    )


class TaskSpace:
    """A controlled frame of an arm, and the link with its force-torque sensor."""

    def __init__(self, model: RobotModel, frame: str = '', sensor: str = ''):
        """Take the frames by name; empty: the tool frame, and the link that carries it.

        Raises:
            ArmError: no such frame.
        """
        self._model = model
        self.frame = frame or model.tip_frame
        self.sensor = sensor or model.tool_carrier
        model.frame_id(self.frame), model.frame_id(self.sensor)  # there are such frames
        self._at_rest = np.zeros(model.nv)

    def target(self, reference: Reference) -> FrameMotion:
        """Return the motion of the frame at the reference."""
        return self._model.frame_motion(reference.q, reference.v, reference.a, self.frame)

    def motion(self, measured: Measurement) -> FrameMotion:
        """Return the motion of the frame without joint accelerations: its own is Jdot v."""
        return self._model.frame_motion(measured.q, measured.v, self._at_rest, self.frame)

    def jacobian(self, measured: Measurement) -> Array:
        """Return J (..., 6, n) of the frame, in base axes."""
        return self._model.jacobian(measured.q, self.frame)

    def torque(
        self,
        posture: PostureParameters,
        measured: Measurement,
        reference: Reference,
        jacobian: Array,
        acceleration: Array,
        threshold: float,
        wrench: Array | None = None,
    ) -> Array:
        """Return M (Jbar x + N a_0) + J^T F + C v + g + friction(v) (..., n) [N.m | N].

        Jbar = M^-1 J^T (J M^-1 J^T)^-1 is the dynamically consistent inverse, damped in
        singularities, and N = I - Jbar J (Khatib, IEEE J. Robotics and Automation 3(1), 1987).
        a_0 = a_r + posture_kd (v_r - v) + posture_kp (q_r - q) is the acceleration of the joints
        in the null space.

        Args:
            posture: gains of the null space.
            measured, reference: the arm, and what it follows.
            jacobian: J (..., m, n) of the m task directions.
            acceleration: x (..., m) of the task without Jdot v.
            threshold: mobility [1/kg] below which a direction is given up.
            wrench: F (..., m) in addition [N], [N.m].
        """
        model, q = self._model, measured.q
        a_0 = reference.a + posture.posture_kd * (reference.v - measured.v)
        a_0 += posture.posture_kp * model.difference(q, reference.q)
        wanted = acceleration - times(jacobian, a_0)
        force = task_force(model.mass_matrix(q), jacobian, wanted, threshold)
        if wrench is not None:
            force += wrench
        tau = model.inverse_dynamics(q, measured.v, a_0)
        tau += times(transposed(jacobian), force)  # M Jbar x = J^T (J M^-1 J^T)^-1 x
        return tau

    def wrench(self, measured: Measurement, motion: FrameMotion) -> Array:
        """Return the measured wrench (..., 6) on the frame, in base axes; without sensor zeros.

        The force [N] acts at the frame's origin: the torque [N.m] contains the lever arm from
        there to the sensor.
        """
        if measured.wrench is None:
            return np.zeros((*measured.q.shape[:-1], 6))
        turn, position = motion.rotation, motion.position
        if self.sensor != self.frame:
            turn, position = self._model.poses(measured.q, self.sensor)
        force, torque = (times(turn, measured.wrench[..., k : k + 3]) for k in (0, 3))
        torque += cross(position - motion.position, force)
        return np.concatenate([force, torque], axis=-1)


def pose_error(target: FrameMotion, motion: FrameMotion) -> Array:
    """Return the error (..., 6) in base axes: position [m], rotation vector [rad]."""
    turn = rotation_vector(product(target.rotation, transposed(motion.rotation)))
    return np.concatenate([target.position - motion.position, turn], axis=-1)


def directions(reference: Reference) -> Array | None:
    """Return the projection (..., 6, 6) onto the directions in which a force is desired.

    They are the reference's selection, or that of the desired force and that of the desired
    torque; None: there is no desired wrench.
    """
    wrench = reference.wrench
    if wrench is None or not wrench.any():
        return None
    if reference.selection is not None:
        return reference.selection
    projection = np.zeros((*wrench.shape, 6))
    for part in (slice(0, 3), slice(3, 6)):
        size = np.linalg.norm(wrench[..., part], axis=-1, keepdims=True)
        along = wrench[..., part] / np.where(size > 0.0, size, 1.0)
        projection[..., part, part] = along[..., np.newaxis] * along[..., np.newaxis, :]
    return projection


def task_force(mass: Array, jacobian: Array, acceleration: Array, threshold: float) -> Array:
    """Return the force (..., m) that gives a task this acceleration (..., m), see `damped`.

    Args:
        mass: (..., n, n) of the arm.
        jacobian: (..., m, n) of the task.
        acceleration: (..., m).
        threshold: mobility below which a direction is given up.
    """
    right = transposed(jacobian)
    if mass.ndim == 2:  # one arm: mostly all directions are above the threshold
        mobility = jacobian @ solve_positive(mass, right)
        above = LLT(mobility - threshold * np.eye(len(mobility))).info()
        if above == ComputationInfo.Success:
            return solve_positive(mobility, acceleration[:, np.newaxis])[:, 0]
    return damped(inverse_axes(mass, right), acceleration, threshold)


def damped(axes: Array, acceleration: Array, threshold: float) -> Array:
    """Return the force (..., m) that gives a task this acceleration (..., m), damped.

    The mobility axes axes^T, axes (..., m, n) orthogonal, has eigenvalues x >= 0; those below the
    threshold are inverted as x / (x^2 + (threshold - x)^2): continuous, and 0 for 0.
    """
    values = (axes**2).sum(-2)
    short = np.maximum(threshold - values, 0.0)
    return times(axes, times(transposed(axes), acceleration) / (values**2 + short**2))


class ToolLaw(Law):
    """Base of laws with ToolParameters; one with other parameters goes on with its state."""

    def __init__(self, model: RobotModel, parameters: object):
        super().__init__(model, parameters)
        self._space = TaskSpace(model, self.parameters.frame, self.parameters.wrench_frame)

    def resumed(self, state: State) -> State | None:
        """Go on with the memory of the law before."""
        return state

    def integrated(self, tau: Array, before: Array, after: Array) -> Array:
        """Return an integral (..., k) after a period under a torque (..., n) [N.m | N].

        It does not grow where a joint is asked for more than its effort limit.
        """
        lacks = (np.abs(tau) > self.model.effort_limit).any(-1, keepdims=True)
        return np.where(lacks & (np.abs(after) > np.abs(before)), before, after)
