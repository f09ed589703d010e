"""Loads inside a moving arm: what its joints transmit, and what acts across a cut at a link."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import link_of, moves


class External(NamedTuple):
    """A force on a link: (6,) force [N] and torque [N.m] at the base's origin, in base axes."""

    link: str
    wrench: Array


class LinkLoads:
    """The forces between the links of an arm, by recursive Newton-Euler (Pinocchio).

    `update` takes a state; the other functions answer for that state. At a link that is fixed to
    its parent the arm is cut: there Pinocchio has one more joint, which never moves.
    """

    def __init__(self, model: RobotModel, cut: str = ''):
        """Take the arm, and the link before which it is cut; '': nowhere.

        Raises:
            ArmError: no such link, or the base, before which nothing is.
        """
        tree = ElementTree.fromstring(model.urdf)
        if cut:
            model.frame_id(cut)
            joints = [each for each in tree.iterfind('joint') if link_of(each, 'child') == cut]
            if not joints:
                raise ArmError(f'frame {cut!r} is the base, before which there is no link')
            if not moves(joints[0]):
                joints[0].set('type', 'revolute')
                limits = {'lower': '-1', 'upper': '1', 'velocity': '1', 'effort': '1'}
                ElementTree.SubElement(joints[0], 'limit', limits)
        whole = RobotModel(ElementTree.tostring(tree, encoding='unicode'), cut or None)
        whole.pin_model.gravity.linear = model.gravity
        # Rotors are on the other side of a gear.
        whole.pin_model.armature = np.zeros(whole.pin_model.nv)
        self._model, self._pin, self._data = whole, whole.pin_model, whole.pin_data
        self._places = np.array([whole.joint_names.index(name) for name in model.joint_names])
        self._state = np.zeros((3, whole.nv))
        self._parents = [frame.parentJoint for frame in whole.pin_model.frames]
        self._joint = self._parents[whole.frame_id()]
        self._forces = pin.StdVec_Force([pin.Force.Zero()] * whole.pin_model.njoints)
        self._gravity = model.gravity

    def update(
        self,
        q: Array,
        v: Array,
        a: Array,
        external: Sequence[External] = (),
        with_poses: bool = True,
    ) -> Array:
        """Return the torques (n,) that the joints transmit to the links [N.m | N].

        Rotor inertia and joint friction, which are on the drives' side, are not among them.

        Args:
            q, v, a: (n,) state and acceleration.
            external: forces on links.
            with_poses: whether `inertial` or `gravity` will be called.
        """
        pin_model, data, places = self._pin, self._data, self._places
        state = self._state
        state[0, places], state[1, places], state[2, places] = q, v, a
        pin_q = self._model.to_pin(state[0])
        if with_poses or external:
            pin.forwardKinematics(pin_model, data, pin_q)
        rates, forces = self._model.all_rates(state[1:]), self._forces
        joints = [self._parents[self._model.frame_id(link)] for link, _ in external]
        for joint, (_, wrench) in zip(joints, external, strict=True):
            forces[joint] += data.oMi[joint].actInv(pin.Force(wrench))
        tau = self._model.reduced(pin.rnea(pin_model, data, pin_q, *rates, forces))
        for joint in joints:
            forces[joint].setZero()
        return tau[places]

    def wrench(self) -> Array:
        """Return the wrench (6,) of all that is beyond the cut on what is before the cut.

        Its weight, contact and external forces minus its inertia: force [N] and torque [N.m] at
        the origin of the link, in the link's axes.
        """
        return -self._data.f[self._joint].vector

    def inertial(self, frame: str) -> Array:
        """Return what an ideal IMU on a link reports (10,).

        Orientation in the base frame as quaternion x, y, z, w; in the link's axes the angular
        velocity [rad/s], and the acceleration of its origin minus gravity [m/s^2].
        """
        data, own = self._data, self._pin.frames[self._model.frame_id(frame)]
        v = own.placement.actInv(data.v[own.parentJoint])
        a = own.placement.actInv(data.a_gf[own.parentJoint])  # its linear part has no gravity
        pose = data.oMi[own.parentJoint] * own.placement
        turn = pin.Quaternion(pose.rotation).coeffs()
        linear = a.linear + pin.skew(v.angular) @ v.linear
        return np.concatenate([turn, v.angular, linear])

    def gravity(self) -> Array:
        """Return the acceleration of gravity (3,) in the axes of the cut link [m/s^2]."""
        return self._data.oMi[self._joint].rotation.T @ self._gravity
