"""What MuJoCo shows of an arm: the URDF's bodies and shapes, floor, table, sky and light."""

from collections.abc import Sequence
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from arm_dynamics.model import RobotModel
from arm_dynamics.shapes import with_shapes
from arm_dynamics.urdf import bare
from arm_sim.simulation.mujoco_inertias import make_readable
from arm_sim.simulation.mujoco_parts import PARTS
from arm_sim.simulation.plant import PlantParameters

_BODY = pin.FrameType.BODY


def scene_of(model: RobotModel, parameters: PlantParameters, shapes: bool = True) -> mujoco.MjSpec:
    """Return an arm and its surroundings; without `shapes` the arm has none to be seen.

    Raises:
        ValueError: MuJoCo does not read it.
    """
    spec = mujoco.MjSpec.from_string(_for_mujoco(model, shapes, bool(parameters.touching)))
    spec.compiler.fusestatic = False
    spec.compiler.boundmass = 0.0
    _add_looks(spec)
    links = [geom for geom in spec.geoms if geom.contype or geom.conaffinity]
    for geom in links:
        geom.contype = geom.conaffinity = 0
        geom.group, geom.mass = 3, 0.0
    add_surroundings(spec, model, parameters, links)
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


def add_surroundings(
    spec: mujoco.MjSpec,
    model: RobotModel,
    parameters: PlantParameters,
    links: Sequence[mujoco.MjsGeom],
) -> None:
    """Add floor and table, and what the links, by these shapes, can touch."""
    for number, geom in enumerate(links):
        geom.name = geom.name or f'{geom.parent.name} shape {number}'
    stiff = {'solref': (max(0.004, 2.0 * parameters.timestep), 1.0), 'contype': 0}
    stiff |= {'conaffinity': 0}
    kind, added = mujoco.mjtGeom, []
    if parameters.floor and not spec.geom('floor'):
        floor = spec.worldbody.add_geom(
            name='floor', type=kind.mjGEOM_PLANE, size=(0.0, 0.0, 0.05),
            material='tiles' if spec.material('tiles') else '', **stiff,
        )  # fmt: skip
        added.append(floor)
    if parameters.table:
        middle, sizes = np.split(np.array(parameters.table), 2)
        table = spec.worldbody.add_geom(
            name='table', type=kind.mjGEOM_BOX, pos=middle, size=sizes / 2,
            rgba=(0.72, 0.6, 0.45, 1.0), **stiff,
        )  # fmt: skip
        added.append(table)
    if parameters.touching:
        PARTS.load('contacts')(model, parameters).add(spec, links, added)


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
            joint.remove(mimic)  # `mujoco_parts.mimic` adds it
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
