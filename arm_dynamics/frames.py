"""Kinematics of an arm: joints, limits, frames, and how frames move with the joints."""

from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, JointLimitError, finite
from arm_dynamics.mimic import Mimic
from arm_dynamics.urdf_elements import rate_limits
from arm_dynamics.urdf_numbers import soft_limits

_ENDLESS = 1e9  # a bound beyond this means no limit [rad | m]
_NEXT, _AFTER_NEXT = np.array([1, 2, 0]), np.array([2, 0, 1])
_BASE_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class FrameMotion(NamedTuple):
    """Motion of a frame in base axes."""

    rotation: Array  # (..., 3, 3)
    position: Array  # (..., 3) of its origin [m]
    velocity: Array  # (..., 6) of its origin [m/s], angular [rad/s]
    acceleration: Array  # (..., 6) of its origin [m/s^2], angular [rad/s^2]


class Frames:
    """The joint space of an arm, and its frames in the base frame, the root link.

    Attributes:
        name: of the arm.
        joint_names: names of the n moving joints, base to tip, without those that follow others.
        nq, nv: number of these joints (equal: one coordinate per joint).
        moving_joints: names of the m joints that move, those that follow others included.
        own: indices (n,) of `joint_names` among `moving_joints`; a slice where these are equal.
        mimic: how further joints follow these by <mimic>; None where there are none.
        unmet_limits: joints that follow others, whose limits leave their leaders no range.
        continuous: (nq,) bool, revolute joints without limits that no joint follows.
        prismatic: (nq,) bool.
        position_lower, position_upper: (nq,) limits of goals [rad | m], by <limit> and the soft
            limits of <safety_controller>; infinite where a joint has none.
        stops: (nq,) limits of <limit>, at which a simulated joint stops.
        velocity_limit, effort_limit: (nv,) limits [rad/s | m/s], [N.m | N]; infinite where the
            URDF has none or zero.
        acceleration_limit, jerk_limit: (nv,) of URDF 1.2 [rad/s^2 | m/s^2], [rad/s^3 | m/s^3],
            infinite as above; of acceleration and deceleration the smaller one.
        base_frame: name of the root link.
        tip_frame: name of the tool frame.
        frame_names: every link and fixed frame, by the URDF's link names.
        pin_model, pin_data: Pinocchio's model and data, for code that calls Pinocchio itself.
    """

    def __init__(self, tree: ElementTree.Element, model: pin.Model, tip_frame: str):
        """Read a URDF's tree and Pinocchio's model; `tip_frame` is the tool link."""
        self.name = tree.get('name', 'robot')
        self.pin_model, self.pin_data = model, model.createData()
        names = list(model.names[1:])
        self.moving_joints = tuple(names)
        self.mimic = mimic = Mimic.of(tree, names)
        self.own = own = slice(None) if mimic is None else mimic.own
        self.unmet_limits: tuple[str, ...] = ()
        types = {joint.get('name'): joint.get('type') for joint in tree.findall('joint')}
        continuous = np.array([types[name] == 'continuous' for name in names])
        prismatic = np.array([types[name] == 'prismatic' for name in names])
        self._endless = np.flatnonzero(continuous)  # Pinocchio has cosine and sine of these
        self._q_index = index = np.array([joint.idx_q for joint in model.joints[1:]])
        self._pin_q = pin.neutral(model)
        lower, upper = model.lowerPositionLimit[index], model.upperPositionLimit[index]
        lower = np.where(continuous | (lower < -_ENDLESS), -np.inf, lower)
        upper = np.where(continuous | (upper > _ENDLESS), np.inf, upper)
        velocity, effort = model.velocityLimit, model.effortLimit
        velocity = np.where(velocity > 0, velocity, np.inf)
        effort = np.where(effort > 0, effort, np.inf)
        rates = rate_limits(tree, names)
        soft = soft_limits(tree, names, lower, upper)
        if mimic is not None:
            rates = np.array([mimic.tightest(lower, upper, rate)[2] for rate in rates])
            low, high, _, left_out = mimic.tightest(*soft, velocity)
            soft = low, high
            lower, upper, velocity, _ = mimic.tightest(lower, upper, velocity)
            self.unmet_limits = tuple(names[i] for i in left_out)
            followed = np.bincount(mimic.leader, minlength=len(mimic.own)) > 1
            continuous, prismatic, effort = (
                continuous[own] & ~followed,
                prismatic[own],
                effort[own],
            )
            names = [names[i] for i in mimic.own]
        self.joint_names = tuple(names)
        self.nv = self.nq = len(names)
        self.continuous, self.prismatic = continuous, prismatic
        self._any_continuous = bool(continuous.any())
        self.stops = lower, upper
        self.position_lower, self.position_upper = soft
        self.velocity_limit, self.effort_limit = velocity, effort
        self.acceleration_limit, self.jerk_limit = rates
        bodies = enumerate(model.frames)
        self._frame_ids = {f.name: i for i, f in bodies if f.type == pin.FrameType.BODY}
        self.frame_names = tuple(self._frame_ids)
        self.base_frame = self.frame_names[0]
        self.tip_frame = tip_frame
        self._tip_id = self.frame_id(self.tip_frame)

    def branch_ends(self) -> list[str]:
        """Return the last frame of each branch: those of joints without a child joint."""
        joints = range(1, self.pin_model.njoints)
        last = {self.pin_model.frames[i].parentJoint: n for n, i in self._frame_ids.items()}
        return [last[joint] for joint in joints if not len(self.pin_model.children[joint])]

    def to_pin(self, q: ArrayLike) -> Array:
        """Return Pinocchio's configuration vector of `q` (valid until the next call)."""
        q = np.asarray(q, dtype=float)
        if self.mimic is None and not self._endless.size:
            return q
        if q.shape != (self.nq,):
            raise ArmError(f'q has shape {q.shape}, the arm needs ({self.nq},)')
        self._pin_q[self._q_index] = q = self.all_positions(q)
        angles, index = q[self._endless], self._q_index[self._endless]
        self._pin_q[index], self._pin_q[index + 1] = np.cos(angles), np.sin(angles)
        return self._pin_q

    def all_positions(self, q: Array) -> Array:
        """Return the positions (..., m) of `moving_joints` at `q` (..., n)."""
        return q if self.mimic is None else self.all_rates(q) + self.mimic.offset

    def all_rates(self, v: ArrayLike) -> Array:
        """Return the velocities, or accelerations, (..., m) of `moving_joints` from (..., n)."""
        v = np.asarray(v, dtype=float)
        return v if self.mimic is None else v @ self.mimic.matrix.T

    def reduced(self, values: Array) -> Array:
        """Return G^T tau (n, ...) of torques, or G^T A G (n, n) of a matrix, of `moving_joints`.

        G: the joints that follow others move by `mimic`; without such joints it is the identity.
        """
        if self.mimic is None:
            return values
        matrix = self.mimic.matrix
        torques = matrix.T @ values
        return torques @ matrix if values.shape == (len(matrix),) * 2 else torques

    def difference(self, q_from: ArrayLike, q_to: ArrayLike) -> Array:
        """Return q_to - q_from (nv,), the shorter way round for continuous joints."""
        step = np.asarray(q_to, dtype=float) - np.asarray(q_from, dtype=float)
        if self._any_continuous:
            step = np.where(self.continuous, np.remainder(step + np.pi, 2 * np.pi) - np.pi, step)
        return step

    def neutral(self) -> Array:
        """Return the configuration (nq,) nearest to zero within the position limits."""
        return np.clip(np.zeros(self.nq), self.position_lower, self.position_upper)

    def check_configuration(self, q: ArrayLike, name: str = 'q') -> Array:
        """Return a copy of `q`; raises ArmError unless it is (nq,) and within the limits."""
        return self._within(q, name, 'position', self.position_lower, self.position_upper)

    def check_velocity(self, v: ArrayLike, name: str = 'v') -> Array:
        """Return a copy of `v`; raises ArmError unless it is (nv,) and within the limits."""
        return self._within(v, name, 'velocity', -self.velocity_limit, self.velocity_limit)

    def _within(
        self, values: ArrayLike, name: str, quantity: str, lower: Array, upper: Array
    ) -> Array:
        array = finite(name, values, (self.nq,))
        for i in np.flatnonzero((array < lower) | (array > upper)):
            bounds = (array[i], lower[i], upper[i])
            raise JointLimitError(self.joint_names[i], quantity, *bounds, self.prismatic[i], name)
        return array

    def random_configuration(self, rng: np.random.Generator) -> Array:
        """Return a configuration (nq,) drawn evenly within the limits (+-pi where infinite)."""
        lower = np.where(np.isfinite(self.position_lower), self.position_lower, -np.pi)
        upper = np.where(np.isfinite(self.position_upper), self.position_upper, np.pi)
        return rng.uniform(lower, upper)

    @property
    def tool_carrier(self) -> str:
        """The link that carries the tool frame: what a wrist sensor is mounted to."""
        frames = self.pin_model.frames
        frame = frames[self.frame_id(self.tip_frame)]
        while frame.parentFrame:
            frame = frames[frame.parentFrame]
            if frame.type == pin.FrameType.BODY:
                return str(frame.name)
        return self.tip_frame

    def frame_id(self, frame: str | None = None) -> int:
        """Return Pinocchio's index of a frame (None: the tool frame)."""
        if frame is None:
            return self._tip_id
        if frame not in self._frame_ids:
            raise ArmError(
                f'no frame {frame!r} in {self.name!r}; its frames: {", ".join(self.frame_names)}'
            )
        return self._frame_ids[frame]

    def forward_kinematics(self, q: ArrayLike, frame: str | None = None) -> pin.SE3:
        """Return the pose of a frame (None: the tool frame) in the base frame."""
        frame_id = self.frame_id(frame)
        pin.forwardKinematics(self.pin_model, self.pin_data, self.to_pin(q))
        return pin.updateFramePlacement(self.pin_model, self.pin_data, frame_id)

    def poses(self, q: ArrayLike, frame: str | None = None) -> tuple[Array, Array]:
        """Return rotation (3, 3) and origin (3,) [m] of a frame in the base frame."""
        pose = self.forward_kinematics(q, frame)
        return pose.rotation, pose.translation

    def jacobian(self, q: ArrayLike, frame: str | None = None) -> Array:
        """Return J (6 x nv): [v; omega] = J(q) qdot.

        Velocity of the frame's origin on top, both parts in axes aligned with the base frame.
        """
        frame_id, pin_q = self.frame_id(frame), self.to_pin(q)
        model, data = self.pin_model, self.pin_data
        jacobian = pin.computeFrameJacobian(model, data, pin_q, frame_id, _BASE_AXES)
        jacobian = jacobian.reshape(6, model.nv)  # Pinocchio returns a vector for one joint
        return jacobian if self.mimic is None else jacobian @ self.mimic.matrix

    def frame_motion(self, q: Array, v: Array, a: Array, frame: str | None = None) -> FrameMotion:
        """Return pose, velocity and acceleration of a frame (None: the tool frame).

        With a = 0 the acceleration is Jdot v.
        """
        model, data, frame_id = self.pin_model, self.pin_data, self.frame_id(frame)
        v, a = self.all_rates(v), self.all_rates(a)
        pin.forwardKinematics(model, data, self.to_pin(q), v, a)
        pose = pin.updateFramePlacement(model, data, frame_id)
        return FrameMotion(
            pose.rotation,
            pose.translation,
            pin.getFrameVelocity(model, data, frame_id, _BASE_AXES).vector,
            pin.getFrameClassicalAcceleration(model, data, frame_id, _BASE_AXES).vector,
        )


def cross(one: Array, other: Array) -> Array:
    """Return the cross product (..., 3), ten times faster than NumPy's."""
    first = one[..., _NEXT] * other[..., _AFTER_NEXT]
    return first - one[..., _AFTER_NEXT] * other[..., _NEXT]
