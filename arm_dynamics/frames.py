"""Frames of an arm: where they are, how they move with the joints."""

from typing import NamedTuple
from xml.etree import ElementTree

import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.arrays import Array
from arm_dynamics.errors import ArmError
from arm_dynamics.joint_space import JointSpace
from arm_dynamics.urdf import last_link

_BASE_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


class FrameMotion(NamedTuple):
    """Motion of a frame in base axes."""

    rotation: Array  # (..., 3, 3)
    position: Array  # (..., 3) of its origin [m]
    velocity: Array  # (..., 6) of its origin [m/s], angular [rad/s]
    acceleration: Array  # (..., 6) of its origin [m/s^2], angular [rad/s^2]


class Frames(JointSpace):
    """Poses, Jacobians and motion of the frames of an arm, in its base frame, the root link.

    Attributes, beside those of JointSpace:
        name: of the arm.
        base_frame: name of the root link.
        tip_frame: name of the tool frame.
        frame_names: every link and fixed frame, by the URDF's link names.
        pin_model, pin_data: Pinocchio's model and work space, for code that needs them directly.
    """

    def __init__(self, tree: ElementTree.Element, model: pin.Model, tip_frame: str | None):
        """Read a URDF's tree and Pinocchio's model of it; no `tip_frame`: its last link."""
        super().__init__(tree, model)
        self.name = tree.get('name', 'robot')
        self.pin_model, self.pin_data = model, model.createData()
        bodies = enumerate(model.frames)
        self._frame_ids = {f.name: i for i, f in bodies if f.type == pin.FrameType.BODY}
        self.frame_names = tuple(self._frame_ids)
        self.base_frame = self.frame_names[0]
        self.tip_frame = last_link(tree) if tip_frame is None else tip_frame
        self._tip_id = self.frame_id(self.tip_frame)

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

    def jacobian(self, q: ArrayLike, frame: str | None = None) -> Array:
        """Return J (6 x nv): [v; omega] = J(q) qdot.

        Velocity of the frame's origin on top, both parts in axes aligned with the base frame.
        """
        frame_id, pin_q = self.frame_id(frame), self.to_pin(q)
        return pin.computeFrameJacobian(self.pin_model, self.pin_data, pin_q, frame_id, _BASE_AXES)

    def frame_motion(self, q: Array, v: Array, a: Array, frame: str | None = None) -> FrameMotion:
        """Return how a frame (None: the tool frame) moves with the joints.

        Where a = 0 its acceleration is the part that velocity alone makes, Jdot v.
        """
        model, data, frame_id = self.pin_model, self.pin_data, self.frame_id(frame)
        pin.forwardKinematics(model, data, self.to_pin(q), v, a)
        pose = pin.updateFramePlacement(model, data, frame_id)
        return FrameMotion(
            pose.rotation,
            pose.translation,
            pin.getFrameVelocity(model, data, frame_id, _BASE_AXES).vector,
            pin.getFrameClassicalAcceleration(model, data, frame_id, _BASE_AXES).vector,
        )
