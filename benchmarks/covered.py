"""Table of errors, and of how many of the truths lie in the stated 95 % intervals."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_COVER = 1.96  # standard deviations of a 95 % interval


def print_coverage(rows: dict[str, tuple[Array, Array]]) -> float:
    """Print errors and what their stated standard errors cover; return the least share covered.

    `rows`: by name with unit, errors and standard errors of the same shape.
    """
    print('| | error RMS | error mean | largest | covered |')
    print('| --- | ---: | ---: | ---: | ---: |')
    least = 1.0
    for name, (error, stated) in rows.items():
        covered = float((np.abs(error) <= _COVER * stated).mean())
        least = min(least, covered)
        print(f'| {name} | {np.sqrt((error**2).mean()):.2g} | {error.mean():.2g} | '
              f'{np.abs(error).max():.2g} | {100 * covered:.1f} % |')  # fmt: skip
    return least
