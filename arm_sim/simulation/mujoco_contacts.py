"""Contacts of the links of an arm in MuJoCo."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.frames import cross
from arm_dynamics.link_loads import External
from arm_dynamics.model import RobotModel
from arm_sim.simulation.contact_state import ContactPoint, ContactState

_ELLIPTIC, _AXES = mujoco.mjtCone.mjCONE_ELLIPTIC, 3  # normal and two tangents


class Links:
    """The places of an arm's links among MuJoCo's bodies."""

    def __init__(self, mj_model: mujoco.MjModel, model: RobotModel):
        kind = mujoco.mjtObj.mjOBJ_BODY
        bodies = {name: mujoco.mj_name2id(mj_model, kind, name) for name in model.frame_names}
        self._names = tuple(name for name, body in bodies.items() if body > 0)
        self._bodies = np.array([bodies[name] for name in self._names])
        self._roots = mj_model.body_rootid[self._bodies]
        self._is_link = np.isin(mj_model.geom_bodyid, self._bodies)  # by shape
        # Contacts with three rows each, a normal and two tangents.
        dims = np.append(mj_model.pair_dim, mj_model.geom_condim)
        self._has_rows = mj_model.opt.cone == _ELLIPTIC and (dims >= _AXES).all()
        self._rows = import_module('arm_sim.simulation.mujoco_contact_rows')

    def forces(self, cfrc_ext: Array, subtree_com: Array) -> External:
        """Return what acts on the links of N arms, from MuJoCo's arrays of these names."""
        wrenches = np.empty((len(cfrc_ext), len(self._names), 6))
        self._rows.link_forces(cfrc_ext, subtree_com, self._bodies, self._roots, wrenches)
        return External(self._names, wrenches)

    def facts(self, mj_model: mujoco.MjModel, mj_data: mujoco.MjData) -> Array:
        """Return the contact facts (3,) of the links; see ContactState."""
        facts, contacts = np.zeros(3), mj_data.contact
        # Contiguous, or Numba compiles once for a single contact and once for several.
        shapes, depths, rows = map(
            np.ascontiguousarray, (contacts.geom, contacts.dist, contacts.efc_address)
        )
        forces, slips = mj_data.efc_force, mj_data.efc_vel
        if len(rows) and not self._has_rows:
            own = np.flatnonzero((rows >= 0) & self._is_link[shapes].any(axis=1))
            forces, slips = self._of_any_kind(mj_model, mj_data, own)
            rows = np.full(len(rows), -1, dtype=np.int32)
            rows[own] = _AXES * np.arange(len(own))
        self._rows.contact_facts(self._is_link, shapes, depths, rows, forces, slips, facts)
        return facts

    def _of_any_kind(self, mj_model: Any, mj_data: Any, own: Any) -> tuple[Array, Array]:
        """Return forces and slips (3 k,) of k contacts of any kind, in their own axes."""
        contacts, bodies = mj_data.contact, mj_model.geom_bodyid[mj_data.contact.geom[own]]
        forces = np.empty((len(own), 6))
        for i, force in zip(own.tolist(), forces, strict=True):
            mujoco.mj_contactForce(mj_model, mj_data, i, force)
        turn, move = mj_data.cvel[bodies][..., :3], mj_data.cvel[bodies][..., 3:]
        lever = contacts.pos[own, np.newaxis] - mj_data.subtree_com[mj_model.body_rootid[bodies]]
        one, other = (move + cross(turn, lever)).swapaxes(0, 1)
        across = contacts.frame[own].reshape(-1, 3, 3)[:, 1:] @ (other - one)[..., np.newaxis]
        slips = np.hstack([np.zeros((len(own), 1)), across[..., 0]])
        return forces[:, :_AXES].ravel(), slips.ravel()


class MujocoContacts(ContactState):
    """The contacts of one arm, read from MuJoCo's data."""

    def __init__(self, mj_model: mujoco.MjModel, data: mujoco.MjData, links: Links):
        super().__init__()
        self._model, self._data, self._links = mj_model, data, links

    def facts(self) -> Array:
        """Return what the links touch; see ContactState."""
        return self._links.facts(self._model, self._data)

    def touched(self, links: Sequence[str]) -> Array:
        """Return which of these links (k,) bool touch something."""
        contact = self._data.contact
        bodies = self._model.geom_bodyid[contact.geom[contact.dist < 0.0]].ravel()
        return np.array([self._model.body(link).id in bodies for link in links], dtype=bool)

    def points(self) -> list[ContactPoint]:
        """Return the contacts with the forces of the last integration step."""
        points, local = [], np.zeros(6)
        for i, contact in enumerate(self._data.contact):
            mujoco.mj_contactForce(self._model, self._data, i, local)
            names = tuple(self._model.geom(geom).name for geom in contact.geom)
            force = contact.frame.reshape(3, 3).T @ local[:3]
            normal = contact.frame[:3].copy()
            points.append(ContactPoint(names, contact.pos.copy(), normal, force, -contact.dist))
        return points
