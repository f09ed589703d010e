"""The same random numbers for each run of a law that draws without a seed of its own."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def seeded() -> Iterator[None]:
    """Seed the global generators of NumPy and Python, and give them back as they were."""
    kept = np.random.get_state(), random.getstate()
    np.random.seed(0)
    random.seed(0)
    try:
        yield
    finally:
        np.random.set_state(kept[0])
        random.setstate(kept[1])
