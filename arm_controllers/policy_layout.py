"""What a policy observes and what its action means: one layout for training and for control.

An action in [-1, 1] per joint is a command on top of a law: u = u_law + scale * action. With a
`rate` an action is the position of each joint [rad | m], which the law is to reach. Per joint, in
this order, a policy observes, clipped to [-10, 10]:

    100 e, 10 de/dt, 1000 integral of e, q_r, v_r, 0.1 a_r, the last action

where e = q_r - q; the last action of positions is the position that the law follows. Where the
tool has a force-torque sensor, the wrench / 20 follows (6).
"""

import json
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.model import RobotModel

VERSION = 1  # of the observation; files of another version are refused
BOUND = 10.0  # of each observed number
_ERROR, _RATE, _INTEGRAL, _ACCELERATION, _WRENCH = 100.0, 10.0, 1000.0, 0.1, 0.05
_PER_JOINT = 7


class Memory(NamedTuple):
    """What a policy remembers; arrays of many arms have leading axes.

    Attributes:
        integral: (..., n) of the error [rad s | m s].
        action: (..., n) the last one.
    """

    integral: Array
    action: Array


@dataclass(frozen=True)
class PolicyLayout:
    """The joints, the law below the policy, and the size of an action.

    Attributes:
        joint_names: in the order of observation and action.
        law: below the policy, by name.
        parameters: of that law.
        scale: (n,) command of an action of 1, in the unit of the law's commands.
        period: of control [s].
        wrench: whether the policy observes the force-torque sensor.
        rate: joint positions per second in a chunk, the first one 1 / rate after the observation
            [Hz]; 0: actions are commands, one per control period.
    """

    joint_names: tuple[str, ...]
    law: str
    parameters: dict[str, object]
    scale: tuple[float, ...]
    period: float
    wrench: bool = False
    rate: float = 0.0

    @property
    def size(self) -> int:
        """The length of an observation."""
        return _PER_JOINT * len(self.joint_names) + 6 * self.wrench

    def start(self, measured: Measurement) -> Memory:
        """Return the memory before the first period."""
        return Memory(np.zeros(measured.q.shape), np.zeros(measured.q.shape))

    def observe(
        self, model: RobotModel, memory: Memory, measured: Measurement, reference: Reference
    ) -> Array:
        """Return the observation (..., size); `model` computes the difference of positions."""
        error = model.difference(measured.q, reference.q)
        parts = [
            _ERROR * error, _RATE * (reference.v - measured.v), _INTEGRAL * memory.integral,
            reference.q, reference.v, _ACCELERATION * reference.a, memory.action,
        ]  # fmt: skip
        if self.wrench:
            parts.append(_WRENCH * np.asarray(measured.wrench))
        found: Array = np.concatenate(parts, axis=-1)
        return np.clip(found, -BOUND, BOUND, out=found)

    def remember(
        self,
        model: RobotModel,
        memory: Memory,
        measured: Measurement,
        reference: Reference,
        action: Array,
    ) -> Memory:
        """Return the memory after a period with this action (..., n)."""
        error, most = model.difference(measured.q, reference.q), BOUND / _INTEGRAL
        integral = np.clip(memory.integral + self.period * error, -most, most)
        return Memory(integral, action)

    def text(self) -> str:
        """Return the layout as the metadata of a file."""
        return json.dumps({'version': VERSION, **asdict(self)})

    @classmethod
    def of_text(cls, text: str, where: str) -> 'PolicyLayout':
        """Return the layout from metadata.

        Raises:
            ArmError: no layout, or that of another version.
        """
        try:
            found = json.loads(text, parse_int=_number)
            version = found.pop('version')
            names = tuple(found.pop('joint_names')), tuple(map(float, found.pop('scale')))
            rate = float(found.pop('rate', 0.0))
            layout = cls(joint_names=names[0], scale=names[1], rate=rate, **found)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArmError(
                f"{where}: the metadata 'arm_sim' is no policy layout: {error}"
            ) from None
        if version != VERSION:
            raise ArmError(f'{where}: layout version {version}; this release reads {VERSION}')
        layout._check(where)
        return layout

    def _check(self, where: str) -> None:
        """Raise ArmError, which begins with `where`, for values that no layout has."""
        kinds = {'law': str, 'parameters': dict, 'wrench': bool}
        wrong = [name for name, kind in kinds.items() if not isinstance(getattr(self, name), kind)]
        wrong += ['period'] * (type(self.period) not in (int, float))
        wrong += ['joint_names'] * (not all(isinstance(each, str) for each in self.joint_names))
        for name in wrong:
            raise ArmError(f'{where}: {name} is {getattr(self, name)!r} in its metadata')
        in_range(f'{where}: rate', self.rate, 0.0, 1000.0)
        in_range(f'{where}: period', self.period, 1e-6, 1.0)
        if len(self.scale) != len(self.joint_names) or not np.isfinite(self.scale).all():
            raise ArmError(
                f'{where}: scale is {list(self.scale)}; it must be a finite number for each of '
                f'its {len(self.joint_names)} joints'
            )


def _number(digits: str) -> float:
    """Return an integer, or the float of one that no array holds: inf where it is too large."""
    return int(digits) if len(digits) < 19 else float(digits)
