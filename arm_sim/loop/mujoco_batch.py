"""Many arms in MuJoCo itself, for what the compiled batch does not model."""

from collections.abc import Sequence
from itertools import cycle
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import External
from arm_dynamics.model import RobotModel
from arm_sim.engines.mujoco import Links, actuator_number, mujoco_model, places_of, steps_of
from arm_sim.loop.many_arms import ManyArms, OneOrEach, of_each
from arm_sim.simulation.mujoco_mimic import set_damping
from arm_sim.simulation.mujoco_mjcf import home_of, own_actuators, set_home
from arm_sim.simulation.plant import Plant

_NONE = mujoco.mjtStage.mjSTAGE_NONE.value
_POSITION = mujoco.mjtStage.mjSTAGE_POS.value


class MujocoBatch(ManyArms):
    """N arms, each a MuJoCo model of its own, stepped by MuJoCo on some threads.

    What MujocoPlant has, it has: contacts, position limits, every integrator. An arm's motion is
    MujocoPlant's to the last bit, whatever the number of arms and threads.
    """

    runs_mjcf = True

    def __init__(self, models: Sequence[RobotModel], parameters: OneOrEach, threads: int = 1):
        """Take the arms, which have the same joints.

        Args:
            models: N arms.
            parameters: of all, or of each.
            threads: on which MuJoCo steps them; 0: of all cores.

        Raises:
            ArmError: what MujocoPlant refuses, no arms, arms with other links or joints than the
                first (a payload is a link), or parameters that may not differ.
        """
        each = of_each(parameters)
        if not models:
            raise ArmError('a batch has no arms')
        made: dict[tuple[int, int], mujoco.MjModel] = {}  # arms that come again
        mj_models = []
        for index, (model, own) in enumerate(zip(models, cycle(each), strict=False)):
            key = id(model), index if own.has_drive_trains else id(own)
            if key not in made:
                made[key] = mujoco_model(model, own)
            mj_models.append(made[key])
            if _layout(made[key]) != _layout(mj_models[0]):
                raise ArmError(
                    f'arm {index} of a batch has other links or joints than the first; '
                    'arms with a payload and arms without go into two batches'
                )
        super().__init__(models, len(models), parameters)
        self._mj_models = mj_models
        self._batch = Batch(mj_models[0], self.size, threads, bool(each[0].touching))
        self._batch.set_models(mj_models)
        bound = self._batch.bind
        n, first = models[0].nv, models[0]
        self._rows_dofs = rows, dofs = places_of(mj_models[0], first.joint_names)
        self._every = places_of(mj_models[0], first.moving_joints)
        self._scattered = first.mimic is not None or not isinstance(rows, slice)
        self.actuator_names = own_actuators(first) if first.mjcf else ()
        self._home = home_of(first, mj_models[0]) if first.mjcf else None
        self._all = _State(*map(bound, _State._fields))
        # Views, or copies where the joints are not one after the other.
        self.q, self.v = self._all.qpos[:, rows], self._all.qvel[:, dofs]
        self._ctrl, self._controls = self._all.ctrl[:, -n:], self._all.ctrl[:, :-n]
        self._torque, self._applied = bound('qfrc_actuator'), bound('xfrc_applied')
        self._origin, self._centre = bound('xpos'), bound('xipos')
        self.effort = np.zeros(self.q.shape)
        self._steps = steps_of(mj_models[0], each[0])
        self._step = mj_models[0].opt.timestep
        self._links = Links(mj_models[0], models[0]) if each[0].touching else None
        self._scratch = mujoco.MjData(mj_models[0])
        self._count = bound('ncon') if self._links else np.zeros(0)
        self._on_links = bound('cfrc_ext'), bound('subtree_com')
        self.reset(models[0].neutral())

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to states q, v, each (N, n) or (n,), and forget everything else."""
        q = np.array(q, dtype=float)  # it may be the array that is reset
        v = None if v is None else np.array(v, dtype=float)
        self._batch.reset(stage=_NONE)
        if self._home is not None:
            set_home(self._all, self._home)
        super().reset(q, v)
        if self._scattered:
            rows, dofs = self._every
            self._all.qpos[:, rows] = self._model.all_positions(self.q)
            self._all.qvel[:, dofs] = self._model.all_rates(self.v)
        self._ctrl[:] = np.where(np.array(self.command_interfaces) == 'position', self.q, 0.0)
        self._batch.forward()

    def act(self, command: Array) -> None:
        """Hold commands (N, n) on the joints over one control period."""
        self._ctrl[:] = command
        count, before = self._steps, self._before
        one_by_one = bool(self.wrenches) or before is not None
        if not one_by_one:
            self._batch.step(nstep=count)
        for _ in range(count if one_by_one else 0):
            if before is not None:
                before[:] = self._all.qvel[:, self._rows_dofs[1]]
            if self.wrenches:
                self._batch.forward(stage=_POSITION)
            for frame, wrench in self.wrenches.items():
                body = self._body(frame)
                force, arm = wrench[..., :3], self._origin[:, body] - self._centre[:, body]
                self._applied[:, body, :3] = force
                self._applied[:, body, 3:] = wrench[..., 3:] + np.cross(arm, force)
            self._batch.step()
        rows, dofs = self._rows_dofs
        self.effort[:] = self._torque[:, dofs]
        if self._scattered:
            self.q[:], self.v[:] = self._all.qpos[:, rows], self._all.qvel[:, dofs]

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (N, n) from now on."""
        for mj_model, row in zip(self._mj_models, damping, strict=True):
            set_damping(self._model, mj_model, self._rows_dofs[1], row)

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Push on a frame, as ManyArms says: any but the base, which MuJoCo does not have."""
        body = self._body(frame)
        super().apply_wrench(frame, wrench)
        self._applied[:, body] = 0.0

    @property
    def integration_step(self) -> float:
        """The integration step [s], which contacts may divide."""
        return self._step

    def contact_facts(self) -> Array:
        """Return what the links touch (N, 3), as Plant says."""
        if self._links is None:
            return super().contact_facts()
        found = np.zeros((self.size, 3))
        for arm in np.flatnonzero(self._count).tolist():
            data = self._batch.get_data(arm, self._scratch)
            found[arm] = self._links.contact_facts(self._mj_models[arm], data)
        return found

    def external_forces(self) -> Sequence[Sequence[External]]:
        """Return the contact forces and pushes on links in the last integration step."""
        if self._links is None:
            return super().external_forces()
        return [self._links.forces(*arm) for arm in zip(*self._on_links, strict=True)]

    def go_on_from(self, before: Plant) -> None:
        """Take over state, wrenches, drives and sensors of another plant of the arms."""
        super().go_on_from(before)
        if isinstance(before, MujocoBatch):
            for own, other in zip(self._all, before._all, strict=True):
                own[:] = other

    def check_actuator(self, name: str, value: float) -> int:
        """Return the number of an actuator of the MJCF that takes this control."""
        return actuator_number(self._batch.model, self.actuator_names, name, value)

    def _body(self, frame: str) -> int:
        body = mujoco.mj_name2id(self._batch.model, mujoco.mjtObj.mjOBJ_BODY, frame)
        if body < 0:
            raise ArmError(f'no frame {frame!r} to push on')
        return body


class _State(NamedTuple):
    """Positions, velocities, controls and activations of all arms."""

    qpos: Array
    qvel: Array
    ctrl: Array
    act: Array


def _layout(model: mujoco.MjModel) -> tuple[float, ...]:
    """Return what decides on the layout of a state's data, and the integration step."""
    return model.opt.timestep, model.nbody, model.nv, model.nu, model.ngeom
