"""Sine and cosine of all joint angles in one vectorised loop.

The C library's sin and cos take two thirds of the time of a small arm's dynamics. These functions
are within one unit in the last place of them up to about 1e6 rad. They consist of additions and
multiplications, and therefore give the same bits on every machine.
"""

import math

import numpy as np
from numba import njit

# pi/2 in three parts: the first two have 33 bits each, so that k times them is exact.
_QUARTER_1 = 1.5707963267341256
_QUARTER_2 = 6.0771005063039660e-11
_QUARTER_3 = 2.0222662487959506e-21
_PER_QUARTER = 2.0 / math.pi

# Taylor series: on |r| <= pi/4 the first terms left out are below 1e-17.
_S3, _S5, _S7, _S9, _S11, _S13, _S15, _S17 = (
    (-1) ** k / math.factorial(2 * k + 1) for k in range(1, 9)
)
_C4, _C6, _C8, _C10, _C12, _C14, _C16 = ((-1) ** k / math.factorial(2 * k) for k in range(2, 9))


@njit(error_model='numpy')
def sincos(x, sine, cosine):
    """Write sin(x) and cos(x) of the angles x (n,) [rad].

    Without branches, and with a length unknown to the compiler, so that it makes a vector loop.
    """
    for i in range(x.shape[0]):
        k = np.floor(x[i] * _PER_QUARTER + 0.5)
        r = ((x[i] - k * _QUARTER_1) - k * _QUARTER_2) - k * _QUARTER_3
        z = r * r
        s = _S9 + z * (_S11 + z * (_S13 + z * (_S15 + z * _S17)))
        s = r + r * z * (_S3 + z * (_S5 + z * (_S7 + z * s)))
        c = _C8 + z * (_C10 + z * (_C12 + z * (_C14 + z * _C16)))
        c = 1.0 - (0.5 * z - z * z * (_C4 + z * (_C6 + z * c)))
        half = np.floor(0.5 * k)
        odd = half != 0.5 * k
        lower_half = np.floor(0.5 * half) != 0.5 * half  # k mod 4 is 2 or 3
        sine_size = c if odd else s
        cosine_size = s if odd else c
        sine[i] = -sine_size if lower_half else sine_size
        cosine[i] = -cosine_size if lower_half != odd else cosine_size
