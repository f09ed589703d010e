"""Forward model of many arms with their actuators, stepped together."""

from collections.abc import Iterable, Sequence
from itertools import cycle
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled.compiled_model import load_module
from arm_dynamics.compiled.forward_model import ForwardModelParameters
from arm_dynamics.compiled.joint_torques import DAMPING, FRICTION, FRICTION_INERTIA, kind_of
from arm_dynamics.compiled.lane_blocks import in_blocks
from arm_dynamics.compiled.lanes import dynamics_source, inertia_values
from arm_dynamics.compiled.links import Link, links_of
from arm_dynamics.model import RobotModel

# The integrators that need one acceleration per step.
INTEGRATORS = ('explicit_euler', 'semi_implicit_euler', 'implicitfast')
_MODULES: dict[tuple[object, ...], ModuleType] = {}  # by name, gravity and the links' geometry
_KNOWN = 256  # most arms whose numbers are cached while a batch is made


class SoftFriction(NamedTuple):
    """MuJoCo's Coulomb friction: a soft constraint, under which a joint creeps.

    Friction F of a joint with velocity v and acceleration a is D (a + rate v) within +-F, where
    D = stiffness / ((M(0) + A)^-1)_jj.
    """

    rate: float  # [1/s]
    stiffness: float


class BatchForwardModel:
    """Next states of N arms of one geometry, which may differ in everything else.

    The code has ForwardModel's equations with the links' inertias as arguments, so that another
    arm of the same geometry needs no compilation. An arm's numbers depend neither on the other
    arms nor on their number, to the last bit. Not thread-safe.

    Attributes:
        size: N.
        effort: (N, n) actuator torques in the last step of the last call [N.m | N].
        friction_found: False once the solver of soft friction did not converge (never observed).
    """

    def __init__(
        self,
        models: Iterable[RobotModel],
        parameters: ForwardModelParameters | Sequence[ForwardModelParameters],
        soft_friction: SoftFriction | None = None,
    ):
        """Read the arms' numbers; generate the code of their geometry, or load it.

        Args:
            models: the arms.
            parameters: of all arms or of each; actuator and integrator must be the same.
            soft_friction: replaces exact Coulomb friction.

        Raises:
            ArmError: no arms, arms of different geometry, gravity or actuator, an integrator that
                is not one of INTEGRATORS, or parameters that are not allowed.
        """
        each = [parameters] if isinstance(parameters, ForwardModelParameters) else parameters
        first: RobotModel | None = None
        tables, inertias = [], []
        known: dict[int, tuple[RobotModel, Array, Array]] = {}  # by id; a model may be repeated
        for index, (model, own) in enumerate(zip(models, cycle(each), strict=False)):
            if first is None:
                first, kind, chosen = model, links_of(model), own
                self._check(own)
            if id(model) not in known:
                links = links_of(model)
                _check_same(index, first, kind, model, links)
                if len(known) >= _KNOWN:
                    known.clear()
                inverse = np.linalg.inv(model.mass_matrix(np.zeros(model.nv))).diagonal()
                known[id(model)] = model, inertia_values(links), inverse
            if (own.actuator, own.integrator) != (chosen.actuator, chosen.integrator):
                raise ArmError(f'arm {index} of a batch has another actuator or integrator')
            table = own.table(model)
            if soft_friction:
                softness = soft_friction.stiffness / known[id(model)][2]
                table[FRICTION_INERTIA] = np.where(table[FRICTION] > 0.0, softness, 0.0)
            tables.append(table)
            inertias.append(known[id(model)][1])
        if first is None:
            raise ArmError('a batch has no arms')
        self.size, self._n = len(tables), first.nv
        whole = np.array(tables)
        self._table, self._inertia = in_blocks(whole), in_blocks(np.array(inertias))
        self._module = _dynamics(kind, first.gravity, first.name)
        friction = bool(whole[:, FRICTION].any())
        self._soft_rate = soft_friction.rate if soft_friction and friction else 0.0
        integrator = chosen.integrator
        self._options = (
            kind_of(chosen.actuators(first.joint_names)),
            int(integrator == 'explicit_euler'),
            int(integrator == 'implicitfast'),
            int(friction),
        )
        self._at_bound = np.zeros((len(self._table), self._table.shape[-1]))
        self.effort = np.zeros((self.size, self._n))
        self.friction_found = True

    @staticmethod
    def _check(parameters: ForwardModelParameters) -> None:
        if parameters.integrator not in INTEGRATORS:
            raise ArmError(
                f'integrator of a batch is {parameters.integrator!r}; allowed: '
                f'{", ".join(INTEGRATORS)}'
            )

    def reset(self) -> None:
        """Reset the state of soft friction, and the efforts."""
        self._at_bound[:] = 0.0
        self.effort[:] = 0.0

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (N, n) [N.m.s/rad | N.s/m] from now on."""
        self._table[:, DAMPING] = in_blocks(damping)

    def advance(
        self, q: Array, v: Array, command: Array, dt: float, count: int, pushes: Array
    ) -> None:
        """Advance q and v in place by `count` steps of `dt` [s].

        Args:
            q, v, command: (N, n), C-contiguous; command in rad | rad/s | N.m | V.
            dt: step [s].
            count: number of steps.
            pushes: (N, n) external joint torques, constant over the steps [N.m | N].
        """
        self.friction_found &= self._module.advance_many(
            self._options, (dt, self._soft_rate), count, q, v, command, pushes,
            self._table, self._inertia, self._at_bound, self.effort,
        )  # fmt: skip

    def follow(self, q: Array, v: Array, commands: Array, dt: float) -> Array:
        """Return q and v (K, 2, N, n) after each of K steps `dt` [s] from q and v (N, n).

        Args:
            q, v: (N, n), C-contiguous.
            commands: (K, N, n) of each step, C-contiguous.
            dt: step [s].
        """
        states = np.empty((len(commands), 2, *q.shape))
        self.friction_found &= self._module.follow_many(
            self._options, (dt, self._soft_rate), q, v, commands, self._table, self._inertia,
            states,
        )  # fmt: skip
        return states


def _dynamics(links: Sequence[Link], gravity: Array, name: str) -> ModuleType:
    """Return the module of a geometry, whose source is generated once in a process."""
    geometry: tuple[object, ...] = (name, *gravity)
    for link in links:
        geometry += (link.parent, link.prismatic, *link.motion, link.angle)
        geometry += (*link.rotation.flat, *link.translation)
    if geometry not in _MODULES:
        _MODULES[geometry] = load_module(dynamics_source(links, gravity), name)
    return _MODULES[geometry]


def _check_same(
    index: int, first: RobotModel, kind: list[Link], model: RobotModel, links: list[Link]
) -> None:
    """Raise ArmError if an arm has another geometry or gravity than the first one."""
    pairs: list[tuple[ArrayLike, ArrayLike]] = []
    if len(kind) == len(links):
        pairs = [(first.gravity, model.gravity)]
    for one, other in zip(kind, links, strict=False):
        pairs += [(one.rotation, other.rotation), (one.translation, other.translation)]
        pairs += [((one.parent, one.prismatic), (other.parent, other.prismatic))]
        pairs += [(one.motion, other.motion)]
    if not pairs or not all(np.array_equal(one, other) for one, other in pairs):
        raise ArmError(
            f'arm {index} of a batch has other joints, lengths or gravity than the first; '
            'arms of a batch may differ in inertials, rotors, friction and limits'
        )
