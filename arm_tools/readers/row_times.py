"""Times of the rows of a table: their unit and their order."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_tools.readers.findings import Doubt

_SECONDS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
_SINCE_1970 = 1e9, 4e9  # times of this century [s]
_SLOW = 0.5  # step between rows that is not one of seconds
_RARE = 0.1  # time from row to row above which times in s may be ms of 2 kHz or more [s]
_FAST = 1e-4  # mean time from row to row below which times are hardly in s [s]
_ROUNDED = 0.9  # share of the rows with the time of the row before, of times that say too little
_UNSORTED = 0.2  # share of the rows that go back in time, of a table that is not sorted

DAY, HOUR = 86400.0, 3600.0  # after which times of day, and minutes and seconds, begin again [s]
_CLOSE = 0.999  # nearly all of it


def going_on(times: Array, period: float) -> tuple[Array, str]:
    """Return times (m,) that begin again after a period [s], as going on, and a line on it.

    They begin again where they go back by more than half the period. Where they then go on by
    more than half, or by nearly all of it, a row is out of order: it is of the time before.
    """
    if period == HOUR and np.nanmax(times) >= HOUR:  # minutes that go on
        return times, ''
    known = np.flatnonzero(np.isfinite(times))
    steps, turns = np.diff(times[known]) / period, np.zeros(len(times))
    turn = 0
    for k in np.flatnonzero(np.abs(steps) > 0.5):
        if steps[k] < 0.0 or turn > 0 or steps[k] > _CLOSE:
            turn -= int(np.sign(steps[k]))
            turns[known[k + 1]] = -np.sign(steps[k])
    if not turns.any():
        return times, ''
    row = int(np.flatnonzero(turns)[0]) + 1
    what = 'times of day pass midnight' if period == DAY else 'minutes pass the hour'
    line = (
        f'clock: {what} (row {row}), and go on with the next {"day" if period == DAY else "one"}'
    )
    return times + period * np.cumsum(turns), line


def check_order(times: Array, q: Array) -> None:
    """Raise ArmError for times (m,) of positions (m, n) that go back too often, or are rounded."""
    back, same = np.diff(times) < 0.0, np.diff(times) == 0.0
    moved = (np.diff(q, axis=0)[same] != 0.0).any(axis=1)
    if len(back) > 2 and same.mean() > _ROUNDED and moved.mean() > 1.0 - _ROUNDED:
        raise ArmError(
            f'{same.sum()} of {len(times)} rows have the time of the row before, at other '
            f'positions: its times are rounded, as float32 does near {times[-1]:g}; save them in '
            'float64 with all digits'
        )
    if len(back) > 2 and back.mean() > _UNSORTED:
        raise ArmError(
            f'its times go back in {back.sum()} of {len(times)} rows: sort the rows by their time'
        )


def in_seconds(times: Array, unit: str) -> tuple[Array, list[str]]:
    """Return times [s] of a column without a unit, and a line where they were not in s.

    Raises:
        ArmError: the unit is not clear.
    """
    if unit != 'auto' or len(times) < 2:
        return times * _SECONDS.get(unit, 1.0), []
    steps = np.abs(np.diff(times))
    step, size = float(np.median(steps[steps > 0.0])) if steps.any() else 0.0, np.abs(times)
    for name, factor in _SECONDS.items():
        low, high = (each / factor for each in _SINCE_1970)
        if factor < 1.0 and ((size > low) & (size < high)).all() and step > factor:
            return times * factor, [f'clock: times in {name} since 1970, read in s']
    if step > _SLOW and len(times) > 2:
        raise ArmError(
            f'its times advance by {step:g}, which are hardly seconds: --time-unit ms, us or ns '
            'reads them so, --time-unit s keeps them'
        )
    mean = float(np.ptp(times)) / (len(times) - 1)
    if 0.0 < mean < _FAST and len(times) > 2:
        raise ArmError(
            f'its times advance by {mean:.3g}, which are hardly seconds: are they days, hours or '
            'minutes? Multiply them by 86400, 3600 or 60; --time-unit s keeps them'
        )
    if step > _RARE and len(times) > 2:
        line = f'clock: {1.0 / step:.3g} rows per second; if the times are ms: --time-unit ms'
        return times, [Doubt(line)]
    return times, []


def lines_on_order(times: Array) -> list[str]:
    """Return lines on times (m,) that go back or repeat."""
    back, same = int((np.diff(times) < 0.0).sum()), int((np.diff(times) == 0.0).sum())
    lines = []
    if back:
        lines.append(f'clock: times go back {back} times: each begins a new piece')
    if same:
        lines.append(
            f'clock: {same} of {len(times)} rows have the time of the row before, not read'
        )
    return [Doubt(line) for line in lines]
