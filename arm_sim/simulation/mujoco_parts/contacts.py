"""What an arm in MuJoCo touches: its own links, floor, table and the objects of a scene."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import mujoco

from arm_dynamics.clearance import level_joints
from arm_dynamics.model import RobotModel
from arm_dynamics.self_contact import LinkPairs, touching_links
from arm_dynamics.shapes import with_shapes
from arm_sim.devices import needs_motion
from arm_sim.simulation.contact import IMPRATIO, endless_bounces, set_springs
from arm_sim.simulation.mujoco_contacts import Links, MujocoContacts
from arm_sim.simulation.mujoco_objects import add_scene
from arm_sim.simulation.scene import read_objects, read_scene, scene_file
from arm_sim.simulation.scene_slips import scene_slips

# Bits that say which shapes touch: a link's contype, and the conaffinity of what it touches.
# An MJCF has bits of its own, the lowest ones.
_LINK, _FLOOR, _TABLE = 1 << 28, 1 << 29, 1 << 30


class Contacts:
    """The contacts of an arm whose parameters let it touch something."""

    def __init__(self, model: RobotModel, parameters: Any):
        """`parameters`: of the plant."""
        self._model, self._parameters = model, parameters

    def add(
        self,
        spec: mujoco.MjSpec,
        links: Sequence[mujoco.MjsGeom],
        surroundings: Sequence[mujoco.MjsGeom],
    ) -> None:
        """Say what touches what, and add the objects of the scene.

        With `contacts` links touch each other, floor and table, if a motion can bring them there:
        the floor only links that tilt or change their height. Links touch all objects.

        Args:
            spec: the arm; changed.
            links: the shapes of its links.
            surroundings: floor and table, where they are not the MJCF's.
        """
        model, p = self._model, self._parameters
        level, frames = level_joints(model), model.pin_model.frames
        upright = {frame.name for frame in frames if frame.parentJoint in level}
        springs = p.contacts and p.contact_stiffness > 0.0
        soft = p.contacts and not springs  # MuJoCo's own contacts, without units
        if soft:
            for geom in links:
                geom.contype |= _TABLE if geom.parent.name in upright else _FLOOR | _TABLE
                if not model.mjcf:
                    geom.contype, geom.conaffinity = geom.contype | _LINK, _LINK
            for geom in surroundings:
                geom.conaffinity = _FLOOR if geom.name == 'floor' else _TABLE
        others = ['floor'] * p.floor + ['table'] * bool(p.table)
        for link in links if springs else ():
            for other in others:
                if other == 'table' or link.parent.name not in upright:
                    spec.add_pair(geomname1=other, geomname2=link.name, condim=3)
        if p.contacts and not model.mjcf:
            pairs = touching_links(model, p.srdf, tuple(p.initial_positions))[0]
            _touch_each_other(spec, links, pairs, springs)
        names = [link.name for link in links]
        add_scene(spec, p.scene, read_objects(p.objects), names, others)

    def set_options(self, spec: mujoco.MjSpec) -> None:
        """Choose how MuJoCo solves contacts, and let it compute what devices need of them."""
        if not all(pair.name for pair in spec.pairs):
            spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, IMPRATIO
            # MuJoCo's usual tolerances leave 1e-4 of a contact force. Below 1e-28 only
            # rounding is left, with which the solver would go on to its last iteration.
            spec.option.tolerance, spec.option.ls_tolerance = 1e-28, 1e-9
            spec.option.iterations = 20
        if needs_motion(self._parameters):
            # Without a sensor MuJoCo does not compute the forces on links (`cfrc_ext`).
            spec.worldbody.first_body().add_site(name='forces')
            of, site = mujoco.mjtSensor.mjSENS_FORCE, mujoco.mjtObj.mjOBJ_SITE
            spec.add_sensor(name='forces', type=of, objtype=site, objname='forces')

    def set_springs(self, mj_model: mujoco.MjModel) -> None:
        """Make the contacts springs; raises ArmError as `contact.set_springs`."""
        set_springs(mj_model, self._parameters)

    def links(self, mj_model: mujoco.MjModel) -> Links:
        """Return the places of the links among MuJoCo's bodies."""
        return Links(mj_model, self._model)

    def state(self, mj_model: mujoco.MjModel, data: mujoco.MjData, links: Links) -> MujocoContacts:
        """Return the contacts, read from MuJoCo's data."""
        return MujocoContacts(mj_model, data, links)

    def notes(self, mj_model: mujoco.MjModel) -> tuple[str, ...]:
        """Return what a user should know, a line each."""
        model, p = self._model, self._parameters
        found: tuple[str, ...] = ()
        if not model.mjcf:
            note = with_shapes(model.urdf)[1]
            found += (f'contacts: {note}',) * bool(note)
            if p.contacts:
                pairs, why = touching_links(model, p.srdf, tuple(p.initial_positions))
                count = f'self-contact: {len(pairs)} pairs of links can touch'
                found += ('; '.join(filter(None, (count, why))),)
        if p.scene or p.objects:
            written = read_objects(p.objects)
            if p.scene and scene_file(p.scene).suffix != '.xml':
                written = (*read_scene(p.scene), *written)
            start = model.check_configuration(
                p.initial_positions or model.neutral(), 'initial_positions'
            )
            found += endless_bounces(mj_model)
            found += tuple(scene_slips(mj_model, model, start, written))
        return found


def _touch_each_other(
    spec: mujoco.MjSpec, links: Sequence[mujoco.MjsGeom], watched: LinkPairs, springs: bool
) -> None:
    """Let pairs of links touch, as springs or with MuJoCo's own contacts."""
    for i, one in enumerate(links):
        for other in links[:i]:
            names = one.parent.name, other.parent.name
            if springs and frozenset(names) in watched:
                spec.add_pair(geomname1=other.name, geomname2=one.name, condim=3)
    bodies = dict.fromkeys(link.parent.name for link in links)
    for one, other in combinations(bodies, 2) if not springs else ():
        if frozenset((one, other)) not in watched:
            spec.add_exclude(bodyname1=one, bodyname2=other)
