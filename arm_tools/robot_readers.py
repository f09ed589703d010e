"""What other programs read from the URDF of an arm: its tool, its mass, its gravity torque."""

import logging
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array, one_line, some_of, text_of, typed
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import MOMENTS

_SAMPLES = 5  # configurations at which the readers are compared


class Reading(NamedTuple):
    """How far another reader's arm is from this package's.

    Attributes:
        reader: its name and version.
        reason: why it does not read the file as it is, or ''. With numbers: without its moments of
            inertia, on which none of these depends, it does.
        tool: largest distance of the tool [m].
        mass: difference of the moving mass [kg]; NaN where the reader has none.
        torque: largest difference of the gravity torque [N.m | N]; NaN as well.
    """

    reader: str
    reason: str = ''
    tool: float = np.nan
    mass: float = np.nan
    torque: float = np.nan


def readings(model: RobotModel, file: Path) -> Iterator[Reading]:
    """Yield what other programs read from a URDF file, those of them that are installed."""
    for name, (package, *reads) in _READERS.items():
        try:
            label = f'{name} {version(package)}'
        except PackageNotFoundError:
            yield Reading(name, f'not installed: {typed(f"pip install {package}")}')
            continue
        reason = ''
        for read in reads:
            try:
                yield Reading(label, reason, *read(model, file))
                break
            except Exception as error:  # of another program, about its own reading
                reason = reason or one_line(error)
        else:
            yield Reading(label, reason)


def _without_shapes(file: Path, moments: bool) -> str:
    """Return a URDF's text without shapes, whose files a reader may not find.

    Without its moments of inertia each link has some of which MuJoCo does not complain.
    """
    tree = ElementTree.fromstring(text_of(file))
    for link in tree.iterfind('link'):
        for shape in [*link.iterfind('visual'), *link.iterfind('collision')]:
            link.remove(shape)
    for other in [each for each in tree if each.tag not in ('link', 'joint')]:
        tree.remove(other)
    compiler = ElementTree.SubElement(tree, 'mujoco')
    options = {'fusestatic': 'false', 'balanceinertia': 'false'}
    if not moments:
        options |= dict.fromkeys(('boundmass', 'boundinertia'), '1e-13')
        for inertia in tree.iterfind('link/inertial/inertia'):
            inertia.attrib.update(dict(zip(MOMENTS, '100101', strict=True)))
    ElementTree.SubElement(compiler, 'compiler', options)
    return ElementTree.tostring(tree, encoding='unicode')


def _mujoco(model: RobotModel, file: Path, moments: bool = True) -> tuple[float, float, float]:
    m = mujoco.MjModel.from_xml_string(_without_shapes(file, moments))
    m.opt.gravity = model.gravity
    data = mujoco.MjData(m)
    joints = [m.joint(name) for name in model.moving_joints]
    rows, dofs = (
        np.array([getattr(each, x)[0] for each in joints]) for x in ('qposadr', 'dofadr')
    )
    tip, torque = 0.0, 0.0
    root, tool = (_body(m, name) for name in (model.base_frame, model.tip_frame))
    for q in _configurations(model):
        data.qpos[rows] = model.all_positions(q)
        mujoco.mj_forward(m, data)
        turn = data.xmat[root].reshape(3, 3)
        place = turn.T @ (data.xpos[tool] - data.xpos[root])
        tip = max(tip, _distance(model, q, place))
        theirs = model.reduced(data.qfrc_bias[dofs])
        torque = max(torque, float(np.abs(theirs - model.gravity_torque(q)).max()))
    fixed = {'world', model.base_frame}
    mass = sum(m.body_mass[k] for k in range(m.nbody) if m.body(k).name not in fixed)
    return tip, abs(float(mass) - _mass(model)), torque


def _body(m: mujoco.MjModel, name: str) -> int:
    """Return the body of a link; MuJoCo's world is the root link."""
    found = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
    return max(found, 0)


def _yourdfpy(model: RobotModel, file: Path) -> tuple[float, float, float]:
    load: Callable[..., Any] = import_module('yourdfpy').URDF.load
    arm = load(str(file), load_meshes=False, build_collision_scene_graph=False)
    tip = 0.0
    for q in _configurations(model):
        positions = dict(zip(model.moving_joints, model.all_positions(q), strict=True))
        arm.update_cfg({name: positions[name] for name in arm.actuated_joint_names})
        place = arm.get_transform(model.tip_frame, model.base_frame)[:3, 3]
        tip = max(tip, _distance(model, q, place))
    inertials = [link.inertial for link in arm.robot.links if link.name != model.base_frame]
    mass = sum(each.mass for each in inertials if each is not None and each.mass is not None)
    return tip, abs(float(mass) - _mass(model)), np.nan


def _drake(model: RobotModel, file: Path) -> tuple[float, float, float]:
    plant = import_module('pydrake.multibody.plant').MultibodyPlant(0.0)
    logging.getLogger('drake').setLevel(logging.ERROR)  # not of what it leaves out of <joint>
    parser = import_module('pydrake.multibody.parsing').Parser(plant)
    (arm,) = parser.AddModelsFromString(_without_shapes(file, moments=True), 'urdf')
    tool, root = plant.GetFrameByName(model.tip_frame, arm), plant.world_frame()
    if model.base_frame != 'world':  # which Drake takes for its own
        root = plant.GetFrameByName(model.base_frame, arm)
        plant.WeldFrames(plant.world_frame(), root)
    plant.mutable_gravity_field().set_gravity_vector(model.gravity)
    plant.Finalize()
    state = plant.CreateDefaultContext()
    joints = [plant.GetJointByName(name, arm) for name in model.moving_joints]
    dofs, tip, torque = [joint.velocity_start() for joint in joints], 0.0, 0.0
    for q in _configurations(model):
        positions = plant.GetPositions(state)
        positions[[joint.position_start() for joint in joints]] = model.all_positions(q)
        plant.SetPositions(state, positions)
        place = plant.CalcRelativeTransform(state, root, tool).translation()
        tip = max(tip, _distance(model, q, place))
        theirs = model.reduced(-plant.CalcGravityGeneralizedForces(state)[dofs])
        torque = max(torque, float(np.abs(theirs - model.gravity_torque(q)).max()))
    bodies = [plant.get_body(each) for each in plant.GetBodyIndices(arm)]
    mass = sum(x.get_mass(state) for x in bodies if x.name() != model.base_frame)
    return tip, abs(float(mass) - _mass(model)), torque


def _check_urdf(model: RobotModel, file: Path) -> tuple[()]:
    """Raise ArmError where urdfdom's own program does not read the file, or other links."""
    ended = subprocess.run(
        ['check_urdf', str(file)], capture_output=True, text=True, timeout=20.0, check=False
    )
    read = re.findall(r'(?:root Link|child\(\d+\)): +(\S+)', ended.stdout)
    links = [x.get('name', '') for x in ElementTree.fromstring(text_of(file)).iterfind('link')]
    if other := sorted({*read} ^ {*links}):
        said = re.search(r'Error: +(.*)', ended.stdout + ended.stderr)
        raise ArmError(said[1] if said and not read else f'other links: {some_of(other)}')
    return ()


# Of each program its package of PyPI, and functions that return the numbers of a `Reading`; where
# the first one fails the next one reads less.
_READERS: dict[str, tuple[Any, ...]] = {
    'MuJoCo': ('mujoco', _mujoco, partial(_mujoco, moments=False)),
    'check_urdf': ('cmeel-urdfdom', _check_urdf),
    'yourdfpy': ('yourdfpy', _yourdfpy),
    'Drake': ('drake', _drake),
}


def _configurations(model: RobotModel) -> Iterator[Array]:
    yield model.neutral()
    rng = np.random.default_rng(0)
    for _ in range(_SAMPLES - 1):
        yield model.random_configuration(rng)


def _distance(model: RobotModel, q: Array, place: Array) -> float:
    return float(np.linalg.norm(model.forward_kinematics(q).translation - place))


def _mass(model: RobotModel) -> float:
    """Return the mass of all links but the root link [kg]."""
    total = 0.0
    for link in ElementTree.fromstring(model.urdf).iterfind('link'):
        if link.get('name') != model.base_frame:
            total += sum(float(x.get('value', '0')) for x in link.iterfind('inertial/mass'))
    return total


def reach(model: RobotModel) -> float:
    """Return the largest distance of the tool from the first joint [m] that random poses show."""
    rng, joint = np.random.default_rng(0), model.pin_model.jointPlacements[1].translation
    places = [
        model.forward_kinematics(model.random_configuration(rng)).translation for _ in range(500)
    ]
    return float(np.linalg.norm(np.array(places) - joint, axis=1).max())
