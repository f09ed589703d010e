"""Floor and table around an arm."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import in_range
from arm_dynamics.parameters import Parameters, parameter


@dataclass(frozen=True, kw_only=True)
class Surroundings(Parameters):
    """Obstacles around an arm, in its base frame."""

    floor: bool = parameter(True, 'if true, the plane z = 0 of the base frame is a floor')
    table: tuple[float, ...] = parameter(
        (), 'box in the base frame: centre x, y, z and sizes along them [m]; empty: none', length=6
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.table[3:]:
            in_range('size of table', size, 0.0, np.inf, True)
