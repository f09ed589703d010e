"""What is no array of real numbers, before NumPy makes one of it."""

from numbers import Real

import numpy as np


def why_not_real(values: object) -> str:
    """Return what values are, where a part of them would be lost or misread as float64; '': not.

    Such are imaginary parts, texts, masked numbers, None, and rows of different lengths.
    """
    try:
        array = np.asarray(values)
        kind = array.dtype.kind
        sound = kind in 'biuf' or (kind == 'O' and all(isinstance(x, Real) for x in array.ravel()))
        if sound and not np.ma.is_masked(values):
            return ''
        text = repr(values)
    except Exception as error:  # what is foreign may raise anything
        text = f'{type(values).__name__}, {error}'
    text = ' '.join(text.split())
    return text if len(text) <= 120 else f'{text[:117]}...'
