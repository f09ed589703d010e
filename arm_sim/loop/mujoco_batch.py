"""Many arms in MuJoCo itself, for what the compiled batch does not model."""

from collections.abc import Sequence
from itertools import cycle
from types import SimpleNamespace

import mujoco
import numpy as np
from mujoco.batch import Batch

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import External
from arm_dynamics.model import RobotModel
from arm_sim.engines.mujoco import ArmsInMujoco
from arm_sim.loop.many_arms import ManyArms, OneOrEach, of_each
from arm_sim.simulation.contact_state import ContactState
from arm_sim.simulation.integration import integration_of, mean_effort
from arm_sim.simulation.mujoco_contacts import Links
from arm_sim.simulation.mujoco_model import mujoco_model, set_damping

_NONE = mujoco.mjtStage.mjSTAGE_NONE.value
_POSITION = mujoco.mjtStage.mjSTAGE_POS.value
# What the arms' state is read from and written to.
_ARRAYS = (
    'qpos', 'qvel', 'qacc', 'ctrl', 'act', 'qfrc_actuator', 'xfrc_applied', 'xpos', 'xipos',
)  # fmt: skip


class MujocoBatch(ArmsInMujoco, ManyArms):
    """N arms, each a MuJoCo model of its own, stepped by MuJoCo on some threads.

    What MujocoPlant has, it has: contacts, position limits, every integrator. An arm's motion is
    MujocoPlant's to the last bit, whatever the number of arms and threads.
    """

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
        integration = integration_of(models, each)
        for index, (model, own) in enumerate(zip(models, cycle(each), strict=False)):
            key = id(model), index if own.has_drive_trains else id(own)
            if key not in made:
                made[key] = mujoco_model(model, own, integration)
            mj_models.append(made[key])
            if _layout(made[key]) != _layout(mj_models[0]):
                raise ArmError(
                    f'arm {index} of a batch has other links, joints or objects, or a shorter '
                    'integration step, than the first; such arms go into two batches'
                )
        super().__init__(models, len(models), parameters)
        self._mean_effort = mean_effort(models, each)
        self._mj_models = mj_models
        self._batch = Batch(mj_models[0], self.size, threads, bool(each[0].touching))
        self._batch.set_models(mj_models)
        bound = self._batch.bind
        arrays = SimpleNamespace(**{name: bound(name) for name in _ARRAYS})
        self._find_places(models[0], mj_models[0], arrays)
        self.effort = np.zeros(self.q.shape)
        self._on_links = bound('cfrc_ext'), bound('subtree_com')
        if self._links is not None:
            self.contacts = _BatchContacts(self._batch, mj_models, self._links)
        self.reset(models[0].neutral())

    def _clear(self) -> None:
        self._batch.reset(stage=_NONE)

    def _compute(self, whole: bool) -> None:
        self._batch.forward(**{} if whole else {'stage': _POSITION})

    def _advance(self, count: int) -> None:
        self._batch.step(nstep=count)

    def act(self, command: Array) -> None:
        """Hold commands (N, n) on the joints over one control period."""
        super().act(command)
        self.effort[:] = self._arrays.qfrc_actuator[:, self._rows_dofs[1]]

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (N, n) from now on."""
        for mj_model, row in zip(self._mj_models, damping, strict=True):
            set_damping(self._model, mj_model, self._rows_dofs[1], row)

    def external_forces(self) -> External | None:
        """Return the contact forces and pushes on links in the last integration step."""
        if self._links is None:
            return super().external_forces()
        return self._links.forces(*self._on_links)


class _BatchContacts(ContactState):
    """The contacts of each arm of a batch."""

    def __init__(self, batch: Batch, models: Sequence[mujoco.MjModel], links: Links):
        """`models`: of each arm."""
        super().__init__((len(models),))
        self._batch, self._models, self._links = batch, models, links
        self._scratch, self._count = mujoco.MjData(models[0]), batch.bind('ncon')

    def facts(self) -> Array:
        """Return what the links touch (N, 3); see ContactState."""
        rows = np.zeros((len(self._models), 3))
        for arm in np.flatnonzero(self._count).tolist():
            data = self._batch.get_data(arm, self._scratch)
            rows[arm] = self._links.facts(self._models[arm], data)
        return rows


def _layout(model: mujoco.MjModel) -> tuple[float, ...]:
    """Return what decides on the layout of a state's data, and the integration step."""
    return model.opt.timestep, model.nbody, model.nv, model.nu, model.ngeom
