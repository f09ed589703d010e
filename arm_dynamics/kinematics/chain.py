"""The serial chain from the base to one frame, as flat arrays for compiled code."""

from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

Array = NDArray[np.float64]


class Chain:
    """Joints that move one frame of a model, base to tip.

    Pose of the frame: product over the joints of (fixed transform i) (motion of joint i about or
    along its own z axis), then the last fixed transform. It is read off Pinocchio's model and
    compared with Pinocchio's forward kinematics when it is made.

    Attributes:
        frame: name of the frame.
        joints: (n,) indices of the chain's joints in the model's q.
        fixed: (n + 1, 12) fixed transforms: rotation by rows, then translation [m].
        prismatic, continuous: (n,) bool.
        lower, upper: (n,) position limits [rad | m].
    """

    def __init__(self, model: RobotModel, frame: str | None = None):
        """Read the chain that ends in `frame` (None: the tool frame)."""
        self.frame = model.tip_frame if frame is None else frame
        frame_id = model.frame_id(frame)
        pin_model = model.pin_model
        support = [int(j) for j in pin_model.supports[pin_model.frames[frame_id].parentJoint]]
        joints = [joint for joint in support if joint > 0]
        if not joints:
            raise ArmError(f'frame {self.frame!r} of {model.name!r} is moved by no joint')
        self.joints = np.array([pin_model.joints[joint].idx_v for joint in joints])
        self.continuous = model.continuous[self.joints]
        self.prismatic = model.prismatic[self.joints]
        self.lower = model.position_lower[self.joints]
        self.upper = model.position_upper[self.joints]
        self.n = len(joints)

        data = pin_model.createData()
        neutral = pin.neutral(pin_model)
        transforms, to_axis = [], pin.SE3.Identity()
        for joint, prismatic in zip(joints, self.prismatic, strict=True):
            column = pin.computeJointJacobian(pin_model, data, neutral, joint)
            column = column[:, pin_model.joints[joint].idx_v]
            axis = column[:3] if prismatic else column[3:]
            z_to_axis = pin.SE3(_rotation_from_z(axis), np.zeros(3))
            transforms.append(to_axis.inverse() * pin_model.jointPlacements[joint] * z_to_axis)
            to_axis = z_to_axis
        transforms.append(to_axis.inverse() * pin_model.frames[frame_id].placement)
        self.fixed = np.array([flatten_pose(transform) for transform in transforms])
        self._check_against_pinocchio(model)

    def _check_against_pinocchio(self, model: RobotModel) -> None:
        from arm_dynamics.kinematics.compiled_kinematics import chain_pose

        rng = np.random.default_rng(0)
        for _ in range(5):
            q = model.random_configuration(rng)
            pose = np.empty(12)
            chain_pose(self.fixed, self.prismatic, q[self.joints], pose, np.empty((self.n, 6)))
            expected = flatten_pose(model.forward_kinematics(q, self.frame))
            if not np.allclose(pose, expected, rtol=0.0, atol=1e-11):
                raise ArmError(
                    f'the chain to {self.frame!r} of {model.name!r} disagrees with Pinocchio by '
                    f'{np.abs(pose - expected).max():.1e}; please report this URDF'
                )

    def positions(self, q: Array) -> Array:
        """Return the frame's origin (k, 3) [m] in the base frame at configurations (k, nq)."""
        point = np.broadcast_to(self.fixed[-1, 9:], (len(q), 3))
        for i in reversed(range(self.n)):
            motion, moved = q[:, self.joints[i]], point.copy()
            if self.prismatic[i]:
                moved[:, 2] += motion
            else:
                sine, cosine = np.sin(motion), np.cos(motion)
                moved[:, 0] = cosine * point[:, 0] - sine * point[:, 1]
                moved[:, 1] = sine * point[:, 0] + cosine * point[:, 1]
            point = moved @ self.fixed[i, :9].reshape(3, 3).T + self.fixed[i, 9:]
        return point

    @property
    def reach(self) -> float:
        """Upper bound [m] on the distance from the first joint to the frame's origin."""
        slide = np.where(self.prismatic, np.maximum(np.abs(self.lower), np.abs(self.upper)), 0.0)
        return float(np.linalg.norm(self.fixed[1:, 9:], axis=1).sum() + slide.sum())


_CHAINS: WeakKeyDictionary[RobotModel, dict[str | None, Chain]] = WeakKeyDictionary()


def chain_to(model: RobotModel, frame: str | None = None) -> Chain:
    """Return the chain to a frame (None: the tool frame), made once a model and frame."""
    chains = _CHAINS.setdefault(model, {})
    if frame not in chains:
        chains[frame] = Chain(model, frame)
    return chains[frame]


def flatten_pose(pose: pin.SE3) -> Array:
    """Return (12,): rotation by rows, then translation [m]."""
    flat = np.empty(12)
    flat[:9] = pose.rotation.ravel()
    flat[9:] = pose.translation
    return flat


def _rotation_from_z(axis: Array) -> Array:
    """Return a rotation R with R (0, 0, 1) = axis, the identity for the z axis itself."""
    axis = axis / np.linalg.norm(axis)
    if axis[2] > 1.0 - 1e-15:
        return np.eye(3)
    if axis[2] < -1.0 + 1e-15:
        return np.diag([1.0, -1.0, -1.0])
    return pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
