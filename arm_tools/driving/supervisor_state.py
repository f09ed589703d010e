"""Phases and memory of the supervisor."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array

WAITING, DRIVING, STOPPED = range(3)  # phases


class SupervisorState(NamedTuple):
    """Memory of the supervisor.

    Attributes:
        phase: (..., 1) WAITING, DRIVING or STOPPED.
        since: (..., 1) time in this phase; while WAITING, time at rest [s].
        q, v: (..., n) the newest reading [rad | m], [rad/s | m/s].
        sent: (..., n) the newest command.
        rate: (..., n) change of a position command in time [rad/s | m/s].
        stop_q, stop_v: (..., n) where and how fast the stop began; before, where the arm is held.
        blind: (..., 1) whether the readings cannot be used any more.
        still: (..., 1) time since a reading changed [s].
        flickers: (..., 1) whether readings change at rest, too, as those with noise do.
        period: (..., 1) mean period of the states [s].
        seen: (..., 2, k, n) values and limits of the checks in the newest period of DRIVING.
    """

    phase: NDArray[np.int_]
    since: Array
    q: Array
    v: Array
    sent: Array
    rate: Array
    stop_q: Array
    stop_v: Array
    blind: NDArray[np.bool_]
    still: Array
    flickers: NDArray[np.bool_]
    period: Array
    seen: Array
