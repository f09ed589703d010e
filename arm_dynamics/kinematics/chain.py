"""The serial chain from the base to one frame, as arrays for compiled code."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, JointLimitError
from arm_dynamics.kinematics.compiled_kinematics import chain_pose
from arm_dynamics.model import RobotModel


class ChainArrays(NamedTuple):
    """A chain as compiled code takes it.

    Attributes:
        fixed: (n + 1, 4, 4) fixed transforms.
        prismatic: (n,).
        lower, upper: (n,) position limits [rad | m].
    """

    fixed: Array
    prismatic: NDArray[np.bool_]
    lower: Array
    upper: Array


class Chain:
    """Joints that move one frame of a model, base to tip.

    The frame's pose is the product over the joints of (fixed transform i) (motion of joint i about
    or along its own z axis), then the last fixed transform. The constructor reads the transforms
    from Pinocchio's model and checks them against Pinocchio's forward kinematics.

    Attributes:
        name: name of the model.
        frame: name of the frame.
        joints: (n,) indices of the chain's joints in the model's q.
        joint_names: names of the n joints.
        arrays: fixed transforms, joint types and limits.
        unlimited: `arrays` without limits.
        fixed, prismatic, lower, upper: as in `arrays`.
    """

    def __init__(self, model: RobotModel, frame: str | None = None):
        """Read the chain that ends in `frame` (None: the tool frame)."""
        self.name = model.name
        self.frame = model.tip_frame if frame is None else frame
        frame_id = model.frame_id(frame)
        pin_model = model.pin_model
        _, *joints = pin_model.supports[pin_model.frames[frame_id].parentJoint]
        if not joints:
            raise ArmError(f'frame {self.frame!r} of {model.name!r} is moved by no joint')
        self.n = len(joints)
        own = {name: i for i, name in enumerate(model.joint_names)}
        for joint in joints:
            if pin_model.names[joint] not in own:
                of_joint = pin_model.getFrameId(pin_model.names[joint], pin.FrameType.JOINT)
                before = pin_model.frames[of_joint].parentFrame
                raise ArmError(
                    f'frame {self.frame!r} of {model.name!r} is behind joint '
                    f'{pin_model.names[joint]!r}, which follows another by <mimic>; inverse '
                    'kinematics is for frames that only commanded joints move, such as '
                    f'tip_frame:={pin_model.frames[before].name}'
                )
        self.joints = np.array([own[pin_model.names[joint]] for joint in joints])
        self.joint_names = tuple(model.joint_names[index] for index in self.joints)
        data, neutral = pin_model.createData(), pin.neutral(pin_model)
        fixed, to_axis = [], pin.SE3.Identity()
        for joint in joints:
            jacobian = pin.computeJointJacobian(pin_model, data, neutral, joint)
            twist = jacobian.reshape(6, pin_model.nv)[:, joint - 1]  # a vector for one joint
            axis = twist[:3] + twist[3:]  # one of them is zero
            z_to_axis = pin.SE3(_rotation_from_z(axis), np.zeros(3))
            fixed.append(to_axis.inverse() * pin_model.jointPlacements[joint] * z_to_axis)
            to_axis = z_to_axis
        fixed.append(to_axis.inverse() * pin_model.frames[frame_id].placement)
        self.arrays = ChainArrays(
            np.array([transform.homogeneous for transform in fixed]),
            model.prismatic[self.joints],
            model.position_lower[self.joints],
            model.position_upper[self.joints],
        )
        self.fixed, self.prismatic, self.lower, self.upper = self.arrays
        endless = np.full(self.n, np.inf)
        self.unlimited = self.arrays._replace(lower=-endless, upper=endless)
        self._check_against_pinocchio(model)

    def _check_against_pinocchio(self, model: RobotModel) -> None:
        rng = np.random.default_rng(0)
        for _ in range(5):
            q = model.random_configuration(rng)
            pose = np.eye(4)
            chain_pose(self.arrays, q[self.joints], pose, np.empty((self.n, 6)))
            expected = model.forward_kinematics(q, self.frame).homogeneous
            if not np.allclose(pose, expected, rtol=0.0, atol=1e-11):
                raise ArmError(
                    f'the chain to {self.frame!r} of {model.name!r} disagrees with Pinocchio by '
                    f'{np.abs(pose - expected).max():.1e}; please report this URDF'
                )

    def limit_error(self, joint: int, value: float) -> JointLimitError:
        """Return the error for a position of the chain's joint with index `joint`."""
        name, prismatic = self.joint_names[joint], self.prismatic[joint]
        limits = self.lower[joint], self.upper[joint]
        return JointLimitError(name, 'position', value, *limits, prismatic)

    @property
    def reach(self) -> float:
        """Upper bound [m] on the distance from the first joint to the frame's origin."""
        slide = np.where(self.prismatic, np.maximum(np.abs(self.lower), np.abs(self.upper)), 0.0)
        return float(np.linalg.norm(self.fixed[1:, :3, 3], axis=1).sum() + slide.sum())


_CHAINS: WeakKeyDictionary[RobotModel, dict[str | None, Chain]] = WeakKeyDictionary()


def chain_to(model: RobotModel, frame: str | None = None) -> Chain:
    """Return the chain to a frame (None: the tool frame), cached by model and frame."""
    chains = _CHAINS.setdefault(model, {})
    if frame not in chains:
        chains[frame] = Chain(model, frame)
    return chains[frame]


def _rotation_from_z(axis: Array) -> Array:
    """Return a rotation R with R (0, 0, 1) = axis, the identity for the z axis itself."""
    axis = axis / np.linalg.norm(axis)
    if axis[2] < -1.0 + 1e-15:
        return np.diag([1.0, -1.0, -1.0])
    return pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).toRotationMatrix()
