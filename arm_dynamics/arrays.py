"""The array type that all rooms share."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
