"""Many simulated arms: a Plant with a row per arm, whatever engine steps them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.devices import alike
from arm_sim.simulation.plant import Plant, PlantParameters

# Parameters that are the same for all arms of a batch, besides those of devices.
_ALIKE = 'timestep', 'control_decimation', 'actuator', 'integrator', 'contacts', 'scene'

OneOrEach = PlantParameters | Sequence[PlantParameters]  # of all arms, or of each


class ManyArms(Plant):
    """N arms with their drives and sensors; arrays are (N, n).

    A subclass sets q, v and effort, steps by `act`, and resets at the end of its constructor.

    Attributes:
        size: N.
        beyond: (N,) whether a joint has been where the engine does what this batch does not.
    """

    beyond: NDArray[np.bool_]

    def __init__(self, models: Sequence[RobotModel], size: int, parameters: OneOrEach):
        """Take the arms' number, and the parameters of all or of each.

        `models` are all arms; where neither sensors nor drive trains need each one, the
        first is enough.

        Raises:
            ArmError: another number of parameters, or drives that a batch does not have.
        """
        each = of_each(parameters)
        if isinstance(parameters, Sequence) and size != len(each):
            raise ArmError(f'{size} arms of a batch have {len(each)} parameters')
        if any(own.compensates for own in each):
            raise ArmError(
                'effort_convention and friction_compensation: the drives of a batch have no '
                'model of the arm; run its arms one by one'
            )
        self.size, self.arms, self.beyond = size, (size,), np.zeros(size, dtype=bool)
        self._set_up(models, each if len(each) == size else each * size)

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to states q, v, each (N, n) or (n,), and forget everything else."""
        self.beyond[:] = False
        super().reset(q, v)


def of_each(parameters: OneOrEach) -> list[PlantParameters]:
    """Return the parameters of all arms, or of each, as a list.

    Raises:
        ArmError: there are none, or arms that do not take their steps together.
    """
    each = list(parameters) if isinstance(parameters, Sequence) else [parameters]
    if not each:
        raise ArmError('a batch has no parameters')
    for index, other in enumerate(each):
        for name in (*_ALIKE, *alike()):
            one, common = getattr(other, name), getattr(each[0], name)
            if one != common:
                raise ArmError(
                    f'{name} of arm {index} is {one!r}; all arms of a batch have one, {common!r}'
                )
    return each
