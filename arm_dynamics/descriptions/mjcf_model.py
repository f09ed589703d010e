"""Parameters of an MJCF that its URDF cannot hold, and what no URDF says."""

from collections.abc import Sequence

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, some_of, unit
from arm_dynamics.descriptions.mjcf import actuators_on
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues

_TOLERANCE = 1e-9  # of the largest entry, at least 1: two correct models differ by rounding alone


_REMEDY = (
    ', which is not in its model, so that goals would miss their position; mjcf:=converted '
    'simulates the arm without springs and tendons'
)


def parameters_of(m: mujoco.MjModel, model: RobotModel) -> dict[str, ParameterValues]:
    """Return sections of a parameter file: rotor inertias, gravity, position servos, the start.

    The start is the key frame `home`, else the first one, where it is within the limits.
    """
    joints = [m.joint(name) for name in model.joint_names]
    shared: ParameterValues = {'armature': model.armature.tolist()}
    falls = not m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = m.opt.gravity * float(falls)
    if not np.array_equal(gravity, model.gravity):
        shared['gravity'] = gravity.tolist()
    servos = [servo_of(m, joint.id) for joint in joints]
    if all(servos):
        shared['servo_kp'], shared['servo_kd'] = map(list, zip(*servos, strict=True))
    found = {'/**': shared}
    if m.nkey:
        places = home(m)
        start = np.array([places[name] for name in model.joint_names])
        if ((model.position_lower <= start) & (start <= model.position_upper)).all():
            found['simulator'] = {'initial_positions': start.tolist()}
    return found


def home_state(m: mujoco.MjModel) -> mujoco.MjData:
    """Return the state of the key frame `home`, else of the first one, else MuJoCo's own."""
    data, names = mujoco.MjData(m), [m.key(k).name for k in range(m.nkey)]
    if names:
        mujoco.mj_resetDataKeyframe(m, data, names.index('home') if 'home' in names else 0)
    return data


def home(m: mujoco.MjModel) -> dict[str, float]:
    """Return the position of each joint in `home_state` [rad | m]."""
    qpos = home_state(m).qpos
    return {m.joint(k).name: float(qpos[m.jnt_qposadr[k]]) for k in range(m.njnt)}


def has_spring(m: mujoco.MjModel, joint: int) -> bool:
    """Return whether a joint has a spring."""
    return bool(m.jnt_stiffness[joint] or m.jnt_stiffnesspoly[joint].any())


def servo_of(m: mujoco.MjModel, joint: int) -> tuple[float, float] | None:
    """Return kp and kd [N.m/rad | N/m, and times s] of a joint's position servo, if it has one."""
    for k in actuators_on(m, joint):
        gain, bias = m.actuator_gainprm[k], m.actuator_biasprm[k]
        is_servo = gain[0] > 0.0 and bias[1] == -gain[0] and bias[0] == 0.0
        is_servo &= m.actuator_gaintype[k] == mujoco.mjtGain.mjGAIN_FIXED
        is_servo &= m.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_AFFINE
        if is_servo and m.actuator_gear[k, 0] == 1.0:
            return float(gain[0]), float(-bias[2])
    return None


def springs_at(m: mujoco.MjModel, names: Sequence[str], coupled: Sequence[str]) -> str:
    """Return a line on what springs and tendons do to joints; '' where they do nothing.

    The torques are the largest at random positions of these joints, the others at home. Springs of
    joints in loops act on all joints `coupled` in them.
    """
    joints, data, rng = [m.joint(name) for name in names], home_state(m), np.random.default_rng(0)
    sprung = [name for name in coupled if has_spring(m, m.joint(name).id)]
    if sprung and (moved := [name for name in names if name in coupled]):
        return f'springs of {some_of(sprung)} act through a loop on joint {moved[0]!r}{_REMEDY}'
    most, where, of = 0.0, '', ''
    for _ in range(10):
        for joint in joints:
            limited = m.jnt_limited[joint.id]
            lower, upper = m.jnt_range[joint.id] if limited else (-np.pi, np.pi)
            data.qpos[joint.qposadr[0]] = rng.uniform(lower, upper)
        mujoco.mj_forward(m, data)
        for joint in joints:
            size = abs(float(data.qfrc_spring[joint.dofadr[0]]))
            if size > most:
                most, where = size, str(joint.name)
                of = unit('torque', bool(joint.type[0] == mujoco.mjtJoint.mjJNT_SLIDE))
    if most < _TOLERANCE:
        return ''
    how = f'springs and tendons of the MJCF give up to {most:.3g} {of}'
    return f'{how} at joint {where!r}{_REMEDY}'


def check_damping(m: mujoco.MjModel, model: RobotModel) -> None:
    """Raise ArmError for moving joints with nonlinear damping."""
    for name in model.moving_joints:
        if m.dof_dampingpoly[int(m.joint(name).dofadr[0])].any():
            raise ArmError(f'joint {name!r}: nonlinear damping is not simulated: give one number')


def check_springs(m: mujoco.MjModel, model: RobotModel) -> None:
    """Raise ArmError for moving joints with springs or nonlinear damping."""
    for name in model.moving_joints:
        joint = m.joint(name)
        if has_spring(m, joint.id):
            stiffness = f'stiffness {m.jnt_stiffness[joint.id]:g}'
            raise ArmError(
                f'joint {name!r}: a spring, {stiffness}, is not simulated: remove it, or hold '
                'the joint (leave it out of joints:=); mjcf:=converted simulates the arm without'
            )
    check_damping(m, model)
