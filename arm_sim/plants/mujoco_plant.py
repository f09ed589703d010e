"""The arm in MuJoCo, built from the URDF in code."""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.clearance import level_joints
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.shapes import with_shapes
from arm_dynamics.urdf import bare
from arm_sim.plants.plant import Plant, PlantParameters, check_inertia

_BODY = pin.FrameType.BODY

# Bits that say which shapes touch: a link's contype, and the conaffinity of what it touches.
_FLOOR, _TABLE = 1, 2

INTEGRATORS = ('euler', 'rk4', 'implicit', 'implicitfast')

# Its warnings go to a file in the working folder otherwise; `Simulation` checks every state.
mujoco.set_mju_user_warning(lambda message: None)


class MujocoPlant(Plant):
    """An arm in free space; with `contacts` its links touch floor and table, not each other.

    Refused is what MuJoCo cannot have: an actuator, an integrator, a massless moving link.

    Attributes:
        mj_model, mj_data: MuJoCo's, for viewers and tests.
    """

    has_contacts = True

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        super().__init__(model, parameters)
        one_of('integrator (engine mujoco)', parameters.integrator, INTEGRATORS)
        one_of('actuator (engine mujoco)', parameters.actuator, ('servo', 'torque'))
        check_inertia(model)
        try:
            try:
                self.mj_model = _build(model, parameters)
            except ValueError:
                if parameters.contacts:
                    raise
                self.mj_model = _build(model, parameters, shapes=False)  # maybe one is broken
        except ArmError:
            raise
        except ValueError as error:
            told = ' '.join(str(error).split())
            raise ArmError(
                f'MuJoCo does not build {model.file or model.name!r}: {told}; mend the URDF, or '
                'take engine:=analytical'
            ) from None
        if model.friction.any():
            self.notes += (
                'Coulomb friction: in MuJoCo it is a soft constraint, under which a joint creeps; '
                f'in the model and in engine analytical it fades below {STANDSTILL} rad/s',
            )
        if parameters.contacts:
            note = with_shapes(model.urdf)[1]
            self.notes += (f'contacts: {note}',) * bool(note)
        self.mj_data = mujoco.MjData(self.mj_model)
        data = self.mj_data
        self.q, self.v, self.effort = data.qpos, data.qvel, data.qfrc_actuator
        self._ctrl = data.ctrl
        self.reset(model.neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v; the servo holds q until the first command."""
        mujoco.mj_resetData(self.mj_model, self.mj_data)
        super().reset(q, v)
        if self.parameters.actuator == 'servo':
            self._ctrl[:] = self.q
        mujoco.mj_forward(self.mj_model, self.mj_data)
        self.effort[:] = 0.0

    def step(self, command: Array) -> None:
        """Hold `command` (n,) over one control period."""
        self._ctrl[:] = command
        if not self.wrenches:
            mujoco.mj_step(self.mj_model, self.mj_data, self.parameters.control_decimation)
            return
        for _ in range(self.parameters.control_decimation):
            mujoco.mj_kinematics(self.mj_model, self.mj_data)
            for frame, wrench in self.wrenches.items():
                body = self.mj_model.body(frame).id
                arm = self.mj_data.xpos[body] - self.mj_data.xipos[body]
                self.mj_data.xfrc_applied[body, :3] = wrench[:3]
                self.mj_data.xfrc_applied[body, 3:] = wrench[3:] + np.cross(arm, wrench[:3])
            mujoco.mj_step(self.mj_model, self.mj_data)

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame, any but the base, which MuJoCo does not have."""
        body = mujoco.mj_name2id(self.mj_model, mujoco.mjtObj.mjOBJ_BODY, frame)
        if body < 0:
            raise ArmError(f'no frame {frame!r} to push on')
        super().apply_wrench(frame, wrench)
        self.mj_data.xfrc_applied[body] = 0.0

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n), MuJoCo's."""
        mujoco.mj_forward(self.mj_model, self.mj_data)
        full = np.zeros((self.mj_model.nv, self.mj_model.nv))
        mujoco.mj_fullM(self.mj_model, self.mj_data, full)
        return full

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping and Coulomb friction (n,) of MuJoCo's joints."""
        return self.mj_model.dof_damping, self.mj_model.dof_frictionloss

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,), MuJoCo's."""
        mujoco.mj_forward(self.mj_model, self.mj_data)
        return self.mj_data.qfrc_bias.copy()


def _build(model: RobotModel, parameters: PlantParameters, shapes: bool = True) -> mujoco.MjModel:
    """Return the MuJoCo model: the URDF's bodies, our actuators, floor and light."""
    kp, kd = parameters.servo_gains(model)
    limit = parameters.effort_limit(model)
    spec = mujoco.MjSpec.from_string(_for_mujoco(model, shapes, parameters.contacts))
    spec.compiler.fusestatic = False
    spec.compiler.boundmass = 0.0
    spec.option.timestep = parameters.timestep
    integrator = f'mjINT_{parameters.integrator.upper()}'
    spec.option.integrator = getattr(mujoco.mjtIntegrator, integrator)
    spec.option.gravity = model.gravity
    # MuJoCo 4.0.0 solves sparse constraints between branches wrongly (mujoco#3767).
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    if not parameters.contacts:
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    # A state that is not finite is ours to report, not MuJoCo's to reset.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET

    for i, name in enumerate(model.joint_names):
        joint = spec.joint(name)
        joint.armature = model.armature[i]
        joint.damping[0] = model.damping[i]
        joint.frictionloss = model.friction[i]
        joint.actfrclimited = False
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        if parameters.actuator == 'servo':
            actuator.set_to_position(kp[i], kv=kd[i])
        else:
            actuator.set_to_motor()
        if np.isfinite(limit[i]):
            actuator.forcelimited = True
            actuator.forcerange = (-limit[i], limit[i])

    spec.worldbody.add_light(pos=(1.5, -1.5, 3.0), dir=(-0.4, 0.4, -1.0), castshadow=True)
    of, made = mujoco.mjtTexture, mujoco.mjtBuiltin
    for name, kind, pattern, rgb1, rgb2 in (
        ('sky', of.mjTEXTURE_SKYBOX, made.mjBUILTIN_GRADIENT, (0.75, 0.83, 0.92), (0.95, 0.97, 1)),
        ('tiles', of.mjTEXTURE_2D, made.mjBUILTIN_CHECKER, (0.86, 0.88, 0.9), (0.8, 0.82, 0.85)),
    ):
        spec.add_texture(
            name=name, type=kind, builtin=pattern, rgb1=rgb1, rgb2=rgb2, width=64, height=64
        )
    tiles = spec.add_material(name='tiles', texrepeat=(2, 2), texuniform=True)
    tiles.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
    _add_surroundings(spec, model, parameters)
    spec.visual.headlight.ambient = (0.35, 0.35, 0.35)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    mj_model = spec.compile()
    for link, (moments, axes) in model.odd_inertias.items():
        body = mj_model.body(link)
        body.inertia = moments
        mujoco.mju_mat2Quat(body.iquat, axes.ravel())
    mujoco.mj_setConst(mj_model, mujoco.MjData(mj_model))
    return mj_model


def _add_surroundings(spec: mujoco.MjSpec, model: RobotModel, parameters: PlantParameters) -> None:
    """Add floor and table, and say what touches them: links that move, the floor if they tilt."""
    level = level_joints(model) if parameters.contacts else set()
    frames = model.pin_model.frames
    upright = {frame.name for frame in frames if frame.parentJoint in level}
    for geom in spec.geoms:
        if geom.contype:
            touches = _TABLE if geom.parent.name in upright else _FLOOR | _TABLE
            geom.contype, geom.conaffinity = touches, 0
            geom.group, geom.mass = 3, 0.0
    stiff = {'solref': (max(0.004, 2.0 * parameters.timestep), 1.0), 'contype': 0}
    kind = mujoco.mjtGeom
    if parameters.floor:
        spec.worldbody.add_geom(
            name='floor', type=kind.mjGEOM_PLANE, size=(0.0, 0.0, 0.05), material='tiles',
            conaffinity=_FLOOR, **stiff,
        )  # fmt: skip
    if parameters.table:
        middle, sizes = np.split(np.array(parameters.table), 2)
        spec.worldbody.add_geom(
            name='table', type=kind.mjGEOM_BOX, pos=middle, size=sizes / 2, conaffinity=_TABLE,
            rgba=(0.72, 0.6, 0.45, 1.0), **stiff,
        )  # fmt: skip


def _for_mujoco(model: RobotModel, shapes: bool, contacts: bool) -> str:
    """Return the URDF as MuJoCo reads it, with the joints of branches in the model's order.

    Left out are collision shapes without `contacts`, and shapes that need mesh files. The
    other visible shapes are kept, which MuJoCo's reader has to be told in the file. A place-holder
    stands for inertias that it refuses.
    """
    whole = ElementTree.fromstring(model.urdf)
    tree = with_shapes(model.urdf)[0] if contacts else bare(whole)
    for link in tree.iterfind('link'):
        if link.get('name') in model.odd_inertias:
            for inertia in link.iterfind('inertial/inertia'):
                inertia.attrib.update(ixx='1', ixy='0', ixz='0', iyy='1', iyz='0', izz='1')
    if shapes:
        tree.extend(whole.findall('material'))
        for link, full in zip(tree.iterfind('link'), whole.iterfind('link'), strict=True):
            visuals = full.findall('visual')
            link.extend(each for each in visuals if each.find('geometry/mesh') is None)
    frames = enumerate(model.pin_model.frames)
    place = {frame.name: i for i, frame in frames if frame.type != _BODY}
    tree[:] = sorted(tree, key=lambda e: place[e.get('name')] if e.tag == 'joint' else -1)
    told = ElementTree.SubElement(tree, 'mujoco')
    ElementTree.SubElement(told, 'compiler', discardvisual='false')
    return ElementTree.tostring(tree, encoding='unicode')
