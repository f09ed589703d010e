"""How long the inferences of a slow policy take, in simulated time."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError

Latency = Callable[[int, int], float]  # of a seed and the number of the inference [s]
LONGEST = 10.0  # [s]
FORMS = 'seconds such as 0.1, a range such as 0.05..0.2 (drawn), or a file with one per line'


def latency_of(latency: float | str) -> Latency:
    """Return a latency [s] from 0.1, '0.05..0.2' (drawn uniformly), or a file with one per line.

    A file, such as a recorded trace, begins again at its end.

    Raises:
        ArmError: anything else, or a latency that is negative or longer than LONGEST.
    """
    text = str(latency)
    low, drawn, high = text.partition('..')
    try:
        latencies = np.array([float(low), float(high if drawn else low)])
    except ValueError:
        try:
            latencies = np.loadtxt(Path(text).expanduser(), ndmin=1)
        except (OSError, ValueError):
            raise ArmError(f'latency is {text!r}; it must be {FORMS}') from None
        drawn = ''
    within = (latencies >= 0.0) & (latencies <= LONGEST)
    if latencies.ndim != 1 or not latencies.size or not within.all():
        raise ArmError(f'latency is {text!r}; each one must be from 0 to {LONGEST:g} s')
    if drawn:
        return lambda seed, k: float(np.random.default_rng((seed, k)).uniform(*latencies))
    return lambda seed, k: float(latencies[k % len(latencies)])
