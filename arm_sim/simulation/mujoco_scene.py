"""What MuJoCo shows of an arm: the URDF's bodies and shapes, floor, table, sky and light."""

from collections.abc import Sequence
from itertools import combinations
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from arm_dynamics.clearance import level_joints
from arm_dynamics.model import RobotModel
from arm_dynamics.self_contact import LinkPairs, touching_links
from arm_dynamics.shapes import with_shapes
from arm_dynamics.urdf import bare
from arm_sim.simulation.mujoco_inertias import make_readable
from arm_sim.simulation.mujoco_mjcf import mjcf_spec
from arm_sim.simulation.mujoco_objects import add_scene
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.scene import read_objects

_BODY = pin.FrameType.BODY

# Bits that say which shapes touch: a link's contype, and the conaffinity of what it touches.
# An MJCF has bits of its own, the lowest ones.
_LINK, _FLOOR, _TABLE = 1 << 28, 1 << 29, 1 << 30


def scene_of(model: RobotModel, parameters: PlantParameters, shapes: bool = True) -> mujoco.MjSpec:
    """Return an arm and its surroundings; without `shapes` the arm has none to be seen.

    Raises:
        ValueError: MuJoCo does not read it.
    """
    spec = mujoco.MjSpec.from_string(_for_mujoco(model, shapes, bool(parameters.touching)))
    spec.compiler.fusestatic = False
    spec.compiler.boundmass = 0.0
    _add_looks(spec)
    _add_surroundings(spec, model, parameters)
    return spec


def mjcf_scene_of(model: RobotModel, parameters: PlantParameters) -> mujoco.MjSpec:
    """Return an arm as its MJCF has it, with its surroundings.

    A plane of the file that belongs to no body is the floor.
    """
    spec = mjcf_spec(model)
    for geom in spec.worldbody.geoms:
        if geom.type == mujoco.mjtGeom.mjGEOM_PLANE and not spec.geom('floor'):
            geom.name = 'floor'
    _add_surroundings(spec, model, parameters)
    return spec


def _add_looks(spec: mujoco.MjSpec) -> None:
    """Add light, sky and the material of the floor."""
    spec.worldbody.add_light(  # as the sun, alike on an arm of any size
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=(1.5, -1.5, 3.0), dir=(-0.5, 0.35, -1.0),
        diffuse=(0.62, 0.61, 0.59), specular=(0.25, 0.25, 0.25), castshadow=True,
    )  # fmt: skip
    of, made = mujoco.mjtTexture, mujoco.mjtBuiltin
    for name, kind, pattern, rgb1, rgb2 in (
        ('sky', of.mjTEXTURE_SKYBOX, made.mjBUILTIN_GRADIENT, (0.75, 0.83, 0.92), (0.95, 0.97, 1)),
        ('tiles', of.mjTEXTURE_2D, made.mjBUILTIN_CHECKER, (0.9, 0.91, 0.92), (0.83, 0.845, 0.86)),
    ):
        spec.add_texture(
            name=name, type=kind, builtin=pattern, rgb1=rgb1, rgb2=rgb2, width=64, height=64
        )
    tiles = spec.add_material(name='tiles', texrepeat=(4, 4), texuniform=True)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
    spec.visual.headlight.ambient = (0.38, 0.39, 0.4)
    spec.visual.headlight.diffuse = (0.22, 0.22, 0.22)
    spec.visual.headlight.specular = (0.05, 0.05, 0.05)
    spec.visual.quality.shadowsize = 4096
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960


def _add_surroundings(spec: mujoco.MjSpec, model: RobotModel, parameters: PlantParameters) -> None:
    """Add floor, table and the objects of the scene, and say what touches what.

    With `contacts` links touch each other, floor and table, if a motion can bring them there: the
    floor only links that tilt or change their height. Links touch all objects.
    """
    level = level_joints(model) if parameters.touching else set()
    frames = model.pin_model.frames
    upright = {frame.name for frame in frames if frame.parentJoint in level}
    springs = parameters.contacts and parameters.contact_stiffness > 0.0
    soft = parameters.contacts and not springs  # MuJoCo's own contacts, without units
    links = [geom for geom in spec.geoms if geom.contype or geom.conaffinity]
    if model.mjcf:
        links = [geom for geom in links if geom.parent.name != 'world']
    for number, geom in enumerate(links):
        touches = _TABLE if geom.parent.name in upright else _FLOOR | _TABLE
        geom.name = geom.name or f'{geom.parent.name} shape {number}'
        if model.mjcf:
            geom.contype |= touches if soft else 0
        else:
            geom.contype, geom.conaffinity = (touches | _LINK, _LINK) if soft else (0, 0)
            geom.group, geom.mass = 3, 0.0
    stiff = {'solref': (max(0.004, 2.0 * parameters.timestep), 1.0), 'contype': 0}
    kind = mujoco.mjtGeom
    if parameters.floor and not spec.geom('floor'):
        spec.worldbody.add_geom(
            name='floor', type=kind.mjGEOM_PLANE, size=(0.0, 0.0, 0.05),
            material='tiles' if spec.material('tiles') else '',
            conaffinity=_FLOOR if soft else 0, **stiff,
        )  # fmt: skip
    if parameters.table:
        middle, sizes = np.split(np.array(parameters.table), 2)
        spec.worldbody.add_geom(
            name='table', type=kind.mjGEOM_BOX, pos=middle, size=sizes / 2,
            conaffinity=_TABLE if soft else 0, rgba=(0.72, 0.6, 0.45, 1.0), **stiff,
        )  # fmt: skip
    if springs:
        for link in links:
            if parameters.floor and link.parent.name not in upright:
                spec.add_pair(geomname1='floor', geomname2=link.name, condim=3)
            if parameters.table:
                spec.add_pair(geomname1='table', geomname2=link.name, condim=3)
    if parameters.contacts and not model.mjcf:
        pairs = touching_links(model, parameters.srdf, tuple(parameters.initial_positions))[0]
        _touch_each_other(spec, links, pairs, springs)
    others = ['floor'] * parameters.floor + ['table'] * bool(parameters.table)
    further = read_objects(parameters.objects)
    add_scene(spec, parameters.scene, further, [link.name for link in links], others)


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


def _for_mujoco(model: RobotModel, shapes: bool, contacts: bool) -> str:
    """Return the URDF as MuJoCo reads it, with the joints of branches in the model's order.

    Left out are collision shapes without `contacts`, and shapes that need mesh files. The
    other visible shapes are kept, by an option of MuJoCo's reader in the file.
    """
    whole = ElementTree.fromstring(model.urdf)
    tree = with_shapes(model.urdf)[0] if contacts else bare(whole)
    make_readable(tree, model)
    for joint in tree.iterfind('joint'):
        for mimic in joint.findall('mimic'):
            joint.remove(mimic)  # `mujoco_mimic` adds it
    if shapes:
        tree.extend(whole.findall('material'))
        for link, full in zip(tree.iterfind('link'), whole.iterfind('link'), strict=True):
            visuals = full.findall('visual')
            link.extend(each for each in visuals if each.find('geometry/mesh') is None)
    frames = enumerate(model.pin_model.frames)
    place = {frame.name: i for i, frame in frames if frame.type != _BODY}
    tree[:] = sorted(tree, key=lambda e: place[e.get('name')] if e.tag == 'joint' else -1)
    options = ElementTree.SubElement(tree, 'mujoco')
    ElementTree.SubElement(options, 'compiler', discardvisual='false')
    return ElementTree.tostring(tree, encoding='unicode')
