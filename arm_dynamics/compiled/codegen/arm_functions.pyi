"""Signatures of the generated functions that `rollouts` calls."""

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

def forward_dynamics(
    q: _Array, v: _Array, tau: _Array, armature: _Array, sine: _Array, cosine: _Array, a: _Array
) -> None: ...
def articulated_dynamics(
    q: _Array,
    v: _Array,
    tau: _Array,
    free: _Array,
    sine: _Array,
    cosine: _Array,
    a: _Array,
    load: _Array,
) -> None: ...
def mass_matrix(q: _Array, sine: _Array, cosine: _Array, m: _Array) -> None: ...
def placements(
    q: _Array, sine: _Array, cosine: _Array, rotation: _Array, translation: _Array
) -> None: ...
