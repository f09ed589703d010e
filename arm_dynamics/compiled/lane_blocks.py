"""Conversion between arrays with a row per arm and blocks of LANES interleaved arms."""

import numpy as np
from numba import njit

from arm_dynamics.checks import Array

LANES = 16  # two vectors of eight doubles, or four of four


@njit(error_model='numpy', nogil=True)
def load(rows, first, block):
    """Copy rows (N, m) from `first` on to a block (m LANES,), padded by the last row."""
    last = rows.shape[0] - 1
    for k in range(LANES):
        row = min(first + k, last)
        for i in range(rows.shape[1]):
            block[i * LANES + k] = rows[row, i]


@njit(error_model='numpy', nogil=True)
def store(block, first, rows):
    """Copy a block (m LANES,) to rows (N, m) from `first` on, without the padding."""
    for k in range(min(LANES, rows.shape[0] - first)):
        for i in range(rows.shape[1]):
            rows[first + k, i] = block[i * LANES + k]


def in_blocks(rows: Array) -> Array:
    """Return rows (N, ..., m) as blocks (ceil(N / LANES), ..., m LANES) for compiled code."""
    whole = -(-len(rows) // LANES) * LANES
    picked = rows[np.minimum(np.arange(whole), len(rows) - 1)]
    apart = np.moveaxis(picked.reshape(-1, LANES, *rows.shape[1:]), 1, -1)
    return np.ascontiguousarray(apart).reshape(*apart.shape[:-2], -1)
