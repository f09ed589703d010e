"""Blocks of LANES arms: from arrays with a row per arm to arms side by side, and back."""

import numpy as np
from numba import njit

from arm_dynamics.checks import Array

LANES = 16  # two vectors of eight doubles, or four of four


@njit(error_model='numpy', nogil=True)
def load(rows, first, block):
    """Write rows (N, m) from `first` on to a block (m LANES,); the last row fills what is left."""
    last = rows.shape[0] - 1
    for k in range(LANES):
        row = min(first + k, last)
        for i in range(rows.shape[1]):
            block[i * LANES + k] = rows[row, i]


@njit(error_model='numpy', nogil=True)
def store(block, first, rows):
    """Write a block (m LANES,) to rows (N, m) from `first` on, as far as there are rows."""
    for k in range(min(LANES, rows.shape[0] - first)):
        for i in range(rows.shape[1]):
            rows[first + k, i] = block[i * LANES + k]


def in_blocks(rows: Array) -> Array:
    """Return rows (N, ..., m) as compiled code has them: (ceil(N / LANES), ..., m LANES)."""
    whole = -(-len(rows) // LANES) * LANES
    picked = rows[np.minimum(np.arange(whole), len(rows) - 1)]
    apart = np.moveaxis(picked.reshape(-1, LANES, *rows.shape[1:]), 1, -1)
    return np.ascontiguousarray(apart).reshape(*apart.shape[:-2], -1)
