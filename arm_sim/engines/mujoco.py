"""The arm in MuJoCo, built from the URDF in code.

Equation:
    (M(q) + A) dv/dt = tau - C(q, v) v - g(q) - D v + J(q)^T f + what friction and contacts give

    tau = servo_kp (u - q) - servo_kd v    actuator: servo
    tau = servo_kd (u - v)                 actuator: velocity
    tau = u                                actuator: torque

With `implicitfast`, damping of servos and joints joins the inertia (h: the time step):

    (M + A + h D + h servo_kd) (v+ - v) = h (tau - C v - g - D v + J^T f),  q+ = q + h v+

A: rotor inertias, D: viscous friction. Coulomb friction and contacts are MuJoCo's soft
constraints.

Source: Todorov, Erez and Tassa, "MuJoCo: A physics engine for model-based control", IROS 2012, and
the chapter "Computation" of MuJoCo's documentation. The model is built in code from the URDF; no
second file describes the arm. Before the first step inertia, bias torque and friction are compared
with the controllers' model, which is Pinocchio's, and a difference beyond 1e-9 is refused.

When to use it: always, unless a reason below speaks for another. Every URDF, servos or torque
motors, contacts with floor, table and objects, and the physics that most people in the field know.

When not: DC motors with voltage commands, joints that must stick in dry friction without creeping,
integrators of a known order, or steps by the million: engine analytical. The base is fixed, and
links are rigid.
"""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import External
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_sim.simulation.integration import integration_of, mean_effort, rk4_step
from arm_sim.simulation.mujoco_arm import description_of
from arm_sim.simulation.mujoco_model import (
    mujoco_model,
    places_of,
    set_damping,
    state_places,
    steps_of,
)
from arm_sim.simulation.mujoco_parts import PARTS
from arm_sim.simulation.plant import Plant, PlantParameters

# Its warnings go to a file in the working folder otherwise; `Simulation` checks every state.
mujoco.set_mju_user_warning(lambda message: None)


class ArmsInMujoco(Plant):
    """One arm or many in MuJoCo: what MujocoPlant and the batch share.

    Attributes:
        mj_model: MuJoCo's model, of many arms that of the first.
    """

    mj_model: mujoco.MjModel
    _arrays: Any  # MjData, or what has arrays of these names with a leading axis of the arms

    def _notes_on_mjcf(self, model: RobotModel) -> tuple[str, ...]:
        """Return no notes: MuJoCo simulates the MJCF itself."""
        return ()

    def _find_places(self, model: RobotModel, mj_model: mujoco.MjModel, arrays: Any) -> None:
        """Take MuJoCo's model and arrays; find the arm's places in them."""
        self.mj_model, self._arrays, n = mj_model, arrays, model.nv
        self._rows_dofs = rows, dofs = places_of(mj_model, model.joint_names)
        self._every = places_of(mj_model, model.moving_joints)
        self._scattered = model.mimic is not None or not isinstance(rows, slice)
        # Views, or copies where the joints are not one after the other.
        self.q, self.v = arrays.qpos[..., rows], arrays.qvel[..., dofs]
        self._ctrl = arrays.ctrl[..., -n:]
        self._servos = np.array(self.command_interfaces) == 'position'
        self._changing = {*self.command_interfaces} != {'effort'}  # efforts under a held command
        self._steps, self._step = steps_of(mj_model, self.parameters), mj_model.opt.timestep
        self._smooth = mj_model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        self._links = self._touched = None
        if self.parameters.touching:
            self._touched = PARTS.load('contacts')(model, self.parameters)
            self._links = self._touched.links(mj_model)
        self._description = description_of(model)
        self._home = self._description.home(mj_model)
        data = arrays if isinstance(arrays, mujoco.MjData) else None
        self.mjcf = self._description.parts(mj_model, arrays.ctrl[..., :-n], data)

    def _clear(self) -> None:
        """Forget state, controls and forces."""
        raise NotImplementedError

    def _compute(self, whole: bool) -> None:
        """Compute the poses of all bodies, or the whole of what follows from the state."""
        raise NotImplementedError

    def _advance(self, count: int) -> None:
        """Take integration steps."""
        raise NotImplementedError

    @property
    def integration_step(self) -> float:
        """The integration step [s], which contacts may divide."""
        return self._step

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v; the servo holds q until the first command."""
        q = np.array(q, dtype=float)  # it may be the array that is reset
        v = None if v is None else np.array(v, dtype=float)
        self._clear()
        if self._home is not None:
            for name in ('qpos', 'ctrl', 'act'):
                getattr(self._arrays, name)[..., :] = getattr(self._home, name)
        super().reset(q, v)
        if self._scattered:
            rows, dofs = self._every
            self._arrays.qpos[..., rows] = self._model.all_positions(self.q)
            self._arrays.qvel[..., dofs] = self._model.all_rates(self.v)
        self._ctrl[:] = np.where(self._servos, self.q, 0.0)
        self._compute(whole=True)
        self.effort[:] = 0.0

    def act(self, command: Array) -> None:
        """Hold `command` (n,) over one control period."""
        self._ctrl[:] = command
        arrays, before = self._arrays, self._before
        if self._smooth:
            self._move_smoothly()
        else:
            n = self._steps
            at_once = [n] if before is None or n == 1 else [n - 1, 1]
            for count in [1] * n if self.wrenches else at_once:
                if before is not None:
                    before[:] = arrays.qvel[..., self._rows_dofs[1]]
                if self.wrenches:
                    self._push()
                self._advance(count)
        if self._scattered:
            rows, dofs = self._rows_dofs
            self.q[:], self.v[:] = arrays.qpos[..., rows], arrays.qvel[..., dofs]
            self.effort[:] = arrays.qfrc_actuator[..., dofs]

    def _move_smoothly(self) -> None:
        """Move over one control period by rk4; accelerations and efforts are those of its end."""
        arrays = self._arrays
        if self.wrenches:
            for _ in range(self._steps):
                rk4_step(self._pushed, arrays.qpos, arrays.qvel, self.integration_step)
        else:
            self._advance(self._steps)
        if self._before is not None or (self._mean_effort is None and self._changing):
            self._pushed(arrays.qpos, arrays.qvel)

    def _push(self) -> None:
        """Let the external wrenches act on their bodies, where these are now."""
        self._compute(whole=False)
        arrays = self._arrays
        for frame, wrench in self.wrenches.items():
            body, force = self._body(frame), wrench[..., :3]
            arm = arrays.xpos[..., body, :] - arrays.xipos[..., body, :]
            arrays.xfrc_applied[..., body, :3] = force
            arrays.xfrc_applied[..., body, 3:] = wrench[..., 3:] + np.cross(arm, force)

    def _pushed(self, q: Array, v: Array) -> Array:
        """Return dv/dt of all joints under the external wrenches; q, v are those of MuJoCo."""
        if self.wrenches:
            self._push()
        self._compute(whole=True)
        return self._arrays.qacc.copy()

    def _acceleration(self, before: Array) -> Array:
        """Return dv/dt (n,) at the end of a period."""
        if not self._smooth:
            return super()._acceleration(before)
        return self._arrays.qacc[..., self._rows_dofs[1]].copy()

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame, any but the base, which MuJoCo does not have."""
        body = self._body(frame)
        super().apply_wrench(frame, wrench)
        self._arrays.xfrc_applied[..., body, :] = 0.0

    def _body(self, frame: str) -> int:
        body = mujoco.mj_name2id(self.mj_model, mujoco.mjtObj.mjOBJ_BODY, frame)
        if body < 0:
            raise ArmError(f'no frame {frame!r} to push on')
        return body

    def continue_from(self, before: Plant) -> None:
        """Take over state, objects, wrenches, drives and sensors of another plant of the arm.

        An object that the other one lacks begins where its description places it.
        """
        super().continue_from(before)
        if isinstance(before, ArmsInMujoco):
            own, other, theirs = self._arrays, before._arrays, state_places(before.mj_model)
            for name, (q, v) in state_places(self.mj_model).items():
                if name in theirs:
                    its_q, its_v = theirs[name]
                    own.qpos[..., q] = other.qpos[..., its_q]
                    own.qvel[..., v] = other.qvel[..., its_v]
            own.act[:] = other.act
            own.ctrl[..., : -len(self.joint_names)] = other.ctrl[..., : -len(self.joint_names)]


class MujocoPlant(ArmsInMujoco):
    """An arm; with `contacts` its links touch each other, floor and table, with a `scene` objects.

    Refused is what `mujoco_model` refuses.

    Attributes:
        mj_data: MuJoCo's data, for viewers and tests.
    """

    has_contacts = True

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        super().__init__(model, parameters)
        self._mean_effort = mean_effort([model], [parameters])
        integration = integration_of([model], [parameters])
        self._integrator = integration.integrator
        mj_model = mujoco_model(model, parameters, integration)
        self.mj_data = mujoco.MjData(mj_model)
        self._find_places(model, mj_model, self.mj_data)
        self.effort = self.mj_data.qfrc_actuator[self._rows_dofs[1]]
        self._on_links = self.mj_data.cfrc_ext[np.newaxis], self.mj_data.subtree_com[np.newaxis]
        if mj_model.nsensor and not model.mjcf:  # read once in a control period, in `forces`
            mj_model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
        if model.friction.any() and not parameters.has_drive_trains:
            self.notes += (
                'Coulomb friction: in MuJoCo it lets a joint creep, in the model it fades below '
                f'{STANDSTILL} rad/s; for slow paths there is friction_velocity:=reference',
            )
        if self._touched is not None:
            self.notes += self._touched.notes(mj_model)
            self.contacts = self._touched.state(mj_model, self.mj_data, self._links)
        has_scene = bool(parameters.scene or parameters.objects)
        loose = self._description.loose_links()
        if has_scene or loose:
            self.scene = PARTS.load('objects')(mj_model, self.mj_data, has_scene, loose)
        step = self.mj_model.opt.timestep
        if step < 0.9 * parameters.timestep / parameters.joint_substeps / integration.steps:
            self.notes += (f'contacts: the integration step is {step * 1e3:.3g} ms',)
        self.notes += self._description.notes(self, self.mj_data, self._rows_dofs[1])
        self.reset(model.neutral())
        self.contacts.facts(), self.external_forces()  # compile before a deadline

    def _clear(self) -> None:
        mujoco.mj_resetData(self.mj_model, self.mj_data)

    def _compute(self, whole: bool) -> None:
        (mujoco.mj_forward if whole else mujoco.mj_kinematics)(self.mj_model, self.mj_data)

    def _advance(self, count: int) -> None:
        mujoco.mj_step(self.mj_model, self.mj_data, count)

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (n,) from now on."""
        set_damping(self._model, self.mj_model, self._rows_dofs[1], damping)

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n), MuJoCo's."""
        mujoco.mj_forward(self.mj_model, self.mj_data)
        full = np.zeros((self.mj_model.nv, self.mj_model.nv))
        mujoco.mj_fullM(self.mj_model, self.mj_data, full)
        dofs = np.arange(self.mj_model.nv)[self._every[1]]
        mass = self._model.reduced(full[np.ix_(dofs, dofs)])
        if self._model.mimic is not None and not self._model.mjcf:
            mimic = PARTS.load('mimic')(self._model, self._integrator)
            mass -= np.diag(mimic.implicit_inertia(self.mj_model))
        return mass

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping and Coulomb friction (n,) of MuJoCo's joints."""
        dofs = self._rows_dofs[1]
        return self.mj_model.dof_damping[dofs], self.mj_model.dof_frictionloss[dofs]

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,), MuJoCo's."""
        mujoco.mj_forward(self.mj_model, self.mj_data)
        return self._model.reduced(self.mj_data.qfrc_bias[self._every[1]].copy())

    def external_forces(self) -> External | None:
        """Return the contact forces and pushes on links in the last integration step."""
        if self._links is None:
            return super().external_forces()
        mujoco.mj_rnePostConstraint(self.mj_model, self.mj_data)
        return self._links.forces(*self._on_links)
