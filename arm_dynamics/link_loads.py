"""Loads inside a moving arm: what its joints transmit, and what acts across a cut at a link."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import link_of, moves


class External(NamedTuple):
    """Forces on links of N arms.

    Attributes:
        links: their names.
        wrenches: (N, l, 6) forces [N] and torques [N.m] at the base's origin, in base axes.
    """

    links: tuple[str, ...]
    wrenches: Array


_NOTHING = External((), np.empty((1, 0, 6)))


class LinkLoads:
    """The forces between the links of N arms, by recursive Newton-Euler in compiled code.

    `update` takes states; the other functions answer for these. At a link that is fixed to its
    parent the arms are cut: there is one more joint, which never moves.

    Attributes:
        torque: (N, n) that the joints transmit to their links [N.m | N]. Rotor inertia and joint
            friction, which are on the drives' side, are not part of it.
    """

    def __init__(self, models: Sequence[RobotModel], cut: str = ''):
        """Take the arms, which have the same links, and the link before which they are cut.

        `cut`: empty: nowhere.

        Raises:
            ArmError: no such link, or the base, before which nothing is.
        """
        first, self._rows = _cut(models[0], cut), import_module('arm_dynamics.link_rows')
        same = all(model is models[0] for model in models)
        arms = [first] if same else [_cut(model, cut) for model in models]
        names = models[0].joint_names
        self._tables = np.array([self._rows.link_table(arm, names) for arm in arms])
        self._frames = {frame.name: frame for frame in first.pin_model.frames}
        self._joint = self._frames[first.tip_frame].parentJoint
        size = len(models)
        self._found = np.zeros((size, first.pin_model.njoints, self._rows.FOUND))
        self.torque, self._wrench = np.zeros((size, len(names))), np.zeros((size, 6))
        self._joints_of = cache(self._joints)

    def _joints(self, links: tuple[str, ...]) -> NDArray[np.int64]:
        return np.array([self._frames[link].parentJoint for link in links], dtype=np.int64)

    def update(self, q: Array, v: Array, a: Array, external: External | None = None) -> None:
        """Take states and accelerations (N, n), and the forces on links; None: there are none."""
        links, wrenches = external or _NOTHING
        self.torque = np.empty_like(self.torque)
        self._rows.link_load_rows(
            self._tables, self._joint, q, v, a, self._joints_of(links), wrenches, self._found,
            self.torque, self._wrench,
        )  # fmt: skip

    def wrench(self) -> Array:
        """Return the wrenches (N, 6) of all that is beyond the cut on what is before the cut.

        Its weight, contact and external forces minus its inertia: force [N] and torque [N.m] at
        the origin of the link, in the link's axes.
        """
        return self._wrench.copy()

    def inertial(self, frame: str) -> Array:
        """Return what ideal IMUs on a link report (N, 10).

        Orientation in the base frame as quaternion x, y, z, w; in the link's axes the angular
        velocity [rad/s], and the acceleration of its origin minus gravity [m/s^2].
        """
        own = self._frames[frame]
        # Columns of link_rows: rotation, origin, angular velocity and acceleration, acceleration.
        found = np.split(self._found[:, own.parentJoint], (9, 12, 15, 18, 21), axis=1)
        link, spin, rate, acceleration = found[0].reshape(-1, 3, 3), *found[2:5]
        lever, turn = link @ own.placement.translation, link @ own.placement.rotation
        acceleration = acceleration + np.cross(rate, lever) + np.cross(spin, np.cross(spin, lever))
        quaternions = [pin.Quaternion(each).coeffs() for each in turn]
        parts = (np.einsum('kij,ki->kj', turn, each) for each in (spin, acceleration))
        return np.hstack([np.array(quaternions), *parts])

    def gravity(self) -> Array:
        """Return the acceleration of gravity (N, 3) in the axes of the cut link [m/s^2]."""
        turn = self._found[:, self._joint, self._rows.TURN : self._rows.ORIGIN].reshape(-1, 3, 3)
        return np.einsum('kij,ki->kj', turn, self._tables[:, 0, :3])


def _cut(model: RobotModel, cut: str) -> RobotModel:
    """Return an arm with a joint before the link `cut`, which is the tool frame."""
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
    text = ElementTree.tostring(tree, encoding='unicode')
    return RobotModel(text, cut or None, model.gravity)
