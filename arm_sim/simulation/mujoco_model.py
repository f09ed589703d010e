"""MuJoCo's model of an arm: the scene with actuators, options and what MuJoCo refuses mended."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, one_line, one_of
from arm_dynamics.model import RobotModel
from arm_sim.devices import link_side
from arm_sim.simulation.integration import CONTINUOUS, Integration, integration_of
from arm_sim.simulation.mujoco_arm import description_of
from arm_sim.simulation.mujoco_parts import PARTS
from arm_sim.simulation.plant import PlantParameters

Places = Any  # a slice, or an array of integers
INTEGRATORS = (CONTINUOUS, 'euler', 'rk4', 'implicit', 'implicitfast')


def mujoco_model(
    model: RobotModel, parameters: PlantParameters, integration: Integration | None = None
) -> mujoco.MjModel:
    """Return an arm with its surroundings and actuators as MuJoCo steps it.

    `integration`: of many arms that take their steps together.

    Raises:
        ArmError: what MuJoCo cannot have: an actuator, an integrator, a massless moving link.
    """
    one_of('integrator (engine mujoco)', parameters.integrator, INTEGRATORS)
    kinds = parameters.actuators(model.joint_names)
    one_of('actuator (engine mujoco)', kinds[0], ('servo', 'velocity', 'torque'))
    model.check_inertia()
    model, parameters = link_side(model, parameters)
    try:
        try:
            return _build(model, parameters, integration)
        except ValueError:
            if parameters.touching or model.mjcf:
                raise
            return _build(model, parameters, integration, shapes=False)  # maybe one is broken
    except ArmError:
        raise
    except ValueError as error:
        raise ArmError(
            f'MuJoCo does not build {model.name!r}: {one_line(error)}; mend the '
            'URDF, or take engine:=analytical'
        ) from None


def places_of(mj_model: mujoco.MjModel, joint_names: Sequence[str]) -> tuple[Places, Places]:
    """Return where joints are in qpos and in qvel: slices if possible, so that views serve."""
    joints = [mj_model.joint(name).id for name in joint_names]
    rows, dofs = mj_model.jnt_qposadr[joints], mj_model.jnt_dofadr[joints]
    if all((np.diff(each) == 1).all() for each in (rows, dofs)):
        n = len(joints)
        return slice(rows[0], rows[0] + n), slice(dofs[0], dofs[0] + n)
    return rows, dofs


def state_places(mj_model: mujoco.MjModel) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return where the positions and the velocities of each body with joints are in a state."""
    m = mj_model
    ends = np.append(m.jnt_qposadr, m.nq)
    found = {}
    for body in np.flatnonzero(m.body_jntnum).tolist():
        first = m.body_jntadr[body]
        q = np.arange(ends[first], ends[first + m.body_jntnum[body]])
        v = m.body_dofadr[body] + np.arange(m.body_dofnum[body])
        found[m.body(body).name] = q, v
    return found


def set_damping(model: RobotModel, mj_model: mujoco.MjModel, dofs: Places, damping: Array) -> None:
    """Damp the commanded joints by `damping` (n,) from now on, implicitly."""
    if model.mimic is not None and not model.mjcf:  # see mujoco_parts.mimic
        more = damping - mj_model.dof_damping[dofs]
        mj_model.dof_armature[dofs] += mj_model.opt.timestep * more
    mj_model.dof_damping[dofs] = damping


def steps_of(mj_model: mujoco.MjModel, parameters: PlantParameters) -> int:
    """Return the integration steps per control period or joint step; contacts may raise them."""
    period = parameters.period_ns * 1e-9
    if parameters.has_drive_trains:
        period = parameters.timestep / parameters.joint_substeps
    return round(period / mj_model.opt.timestep)


def arm_spec(
    model: RobotModel,
    parameters: PlantParameters,
    integration: Integration | None = None,
    shapes: bool = True,
) -> mujoco.MjSpec:
    """Return an arm and its surroundings with our options and actuators, as `scene_of` does.

    Inertias that MuJoCo refuses have place-holders.
    """
    kinds, (kp, kd) = parameters.actuators(model.joint_names), parameters.servo_gains(model)
    limit = parameters.effort_limit(model)
    spec = description_of(model).spec(parameters, shapes)
    integrator, count = integration or integration_of([model], [parameters])
    spec.option.timestep = parameters.timestep / count
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f'mjINT_{integrator.upper()}')
    spec.option.gravity = model.gravity
    # MuJoCo 4.0.0 solves sparse constraints between branches wrongly (mujoco#3767).
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    without_contact = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.option.disableflags |= without_contact
    if parameters.touching:  # an MJCF may disable contacts
        spec.option.disableflags -= without_contact
        PARTS.load('contacts')(model, parameters).set_options(spec)
    # A state that is not finite is ours to report, not MuJoCo's to reset.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET

    for i, name in enumerate(model.joint_names):
        joint = spec.joint(name)
        joint.armature = model.armature[i]
        joint.damping[0] = model.damping[i]
        joint.frictionloss = model.friction[i]
        joint.actfrclimited = False
        actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        if kinds[i] == 'servo':
            actuator.set_to_position(kp[i], kv=kd[i])
        elif kinds[i] == 'velocity':
            actuator.set_to_velocity(kd[i])
        else:
            actuator.set_to_motor()
        if np.isfinite(limit[i]):
            actuator.forcelimited = True
            actuator.forcerange = (-limit[i], limit[i])
    if model.mimic is not None and not model.mjcf:
        PARTS.load('mimic')(model, integrator).add(spec)
    return spec


def _build(
    model: RobotModel,
    parameters: PlantParameters,
    integration: Integration | None,
    shapes: bool = True,
) -> mujoco.MjModel:
    integration = integration or integration_of([model], [parameters])
    mj_model = arm_spec(model, parameters, integration, shapes).compile()
    for link, (moments, axes) in description_of(model).refused_inertias().items():
        body = mj_model.body(link)
        body.inertia = moments
        mujoco.mju_mat2Quat(body.iquat, axes.ravel())
    mujoco.mj_setConst(mj_model, mujoco.MjData(mj_model))
    if parameters.touching:
        PARTS.load('contacts')(model, parameters).set_springs(mj_model)
    if model.mimic is not None and not model.mjcf:
        PARTS.load('mimic')(model, integration.integrator).add_inertias(mj_model)
    return mj_model
