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

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

_IMPEDANCE = 0.9999  # the largest that MuJoCo has


class Mimic:
    """The joints of an arm that follow others."""

    def __init__(self, model: RobotModel, integrator: str):
        """`integrator`: MuJoCo's."""
        assert model.mimic is not None
        self.model, self.mimic, self.integrator = model, model.mimic, integrator

    def add(self, spec: mujoco.MjSpec) -> None:
        """Add the equalities, and let each follower leave limits and friction to its leader.

        Raises:
            ArmError: an integrator that treats the damping in another way.
        """
        mimic, names, model = self.mimic, self.model.moving_joints, self.model
        if self.integrator == 'implicit':
            raise ArmError(
                "integrator 'implicit' has no joints that follow others by <mimic>; those that "
                'do: euler, rk4, implicitfast'
            )
        if self.integrator == 'implicitfast':
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

    def implicit_inertia(self, mj_model: mujoco.MjModel) -> Array:
        """Return h D (n,), by which the rotor inertias are larger [kg m^2 | kg]; see above."""
        names, damping = self.model.joint_names, np.zeros(self.model.nv)
        if self.integrator != 'rk4':
            damping += mj_model.dof_damping[[mj_model.joint(x).dofadr[0] for x in names]]
            if self.integrator == 'implicitfast':
                damping -= mj_model.actuator_biasprm[-self.model.nv :, 2]
        return mj_model.opt.timestep * damping

    def add_inertias(self, mj_model: mujoco.MjModel) -> None:
        """Let h D join the rotor inertias of the arm, and of the joints of objects behind it."""
        mj_model.dof_armature[self.mimic.own] += self.implicit_inertia(mj_model)
        behind = len(self.model.moving_joints)
        if self.integrator != 'rk4':
            damping = mj_model.opt.timestep * mj_model.dof_damping[behind:]
            mj_model.dof_armature[behind:] += damping
