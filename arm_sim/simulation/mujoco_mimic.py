"""Joints that follow others by <mimic>, in MuJoCo: joints of their own, held by equalities.

An equality is a constraint: MuJoCo finds the force that keeps the follower's error at zero, with
the mass matrix M. It is nearly rigid here: `solimp` 0.9999 and a time constant of two steps.

The damping of servos and joints is implicit in MuJoCo's `implicitfast` (and that of joints in
`euler`): M + h D in place of M, but not where constraints are solved. A light finger behind a
strong servo would leave its leader by a third of its speed. For arms with followers h D therefore
joins the rotor inertias, and Euler's explicit step remains, which is the same equation:

    (M + A + h D) (v+ - v) = h (tau - C v - g - D v + constraints)

A servo at its effort limit keeps its h servo_kd, which `implicitfast` and engine analytical drop.
"""

from typing import Any

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

_IMPEDANCE = 0.9999  # the largest that MuJoCo has


def add_mimics(spec: mujoco.MjSpec, model: RobotModel, integrator: str) -> None:
    """Add the equalities, and let each follower leave limits and friction to its leader.

    Raises:
        ArmError: an integrator that treats the damping in another way.
    """
    mimic, names = model.mimic, model.moving_joints
    assert mimic is not None
    if integrator == 'implicit':
        raise ArmError(
            "integrator 'implicit' has no joints that follow others by <mimic>; those that do: "
            'euler, rk4, implicitfast'
        )
    if integrator == 'implicitfast':
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    for k, own in enumerate(mimic.own):
        joint = spec.joint(names[own])
        stops = [bound[k] for bound in model.stops]
        if np.isfinite(stops).all():
            joint.limited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.range = stops
    for i in set(range(len(names))).difference(mimic.own.tolist()):
        follower = spec.joint(names[i])
        follower.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        follower.actfrclimited = False
        follower.armature = follower.frictionloss = follower.damping[0] = 0.0
        equality = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=names[i], name2=names[mimic.own[mimic.leader[i]]],
        )  # fmt: skip
        equality.data[:2] = mimic.offset[i], mimic.multiplier[i]
        equality.data[2:5] = 0.0
        equality.solref = 2.0 * spec.option.timestep, 1.0
        equality.solimp = _IMPEDANCE, _IMPEDANCE, 1e-3, 0.5, 2.0


def implicit_inertia(model: RobotModel, integrator: str, mj_model: mujoco.MjModel) -> Array:
    """Return h D (n,), by which the rotor inertias are larger [kg m^2 | kg]; see above."""
    damping = np.zeros(model.nv)
    if model.mimic is not None and integrator != 'rk4':
        damping += mj_model.dof_damping[[mj_model.joint(x).dofadr[0] for x in model.joint_names]]
        if integrator == 'implicitfast':
            damping -= mj_model.actuator_biasprm[-model.nv :, 2]
    return mj_model.opt.timestep * damping


def set_damping(model: RobotModel, mj_model: mujoco.MjModel, dofs: Any, damping: Array) -> None:
    """Damp the commanded joints by `damping` (n,) from now on, implicitly."""
    if model.mimic is not None:
        more = damping - mj_model.dof_damping[dofs]
        mj_model.dof_armature[dofs] += mj_model.opt.timestep * more
    mj_model.dof_damping[dofs] = damping
