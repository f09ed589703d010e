"""A measure of another package: what it is and what it returns is looked at."""

from collections.abc import Container
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array, one_line, read_only

NEEDS = ('', 'force', 'contacts')
# Names that reports have for something else.
_TAKEN = """completed checksum steps task robot engine mode controller feedforward integrator
    duration_s limits limits_held command faults tracking_error_mm orientation_error_rad
    joint_error_rad joint_names joint_peak_torque_nm event_s peak_torque_joint peak_torque_at_s
    saturated_samples path_error_mm passes_mm cycles_per_second late_ticks skipped_periods"""


def check_measure(measure: Any, others: Container[str]) -> None:
    """Raise ArmError where a Measure of a plugin cannot be taken; `others` have these names."""
    if measure.needs not in NEEDS:
        allowed = ', '.join(map(repr, NEEDS))
        raise ArmError(f'it needs {measure.needs!r}; allowed: {allowed}')
    if measure.name in others or measure.name in _TAKEN.split():
        raise ArmError(f'{measure.name!r} is the name of another one')
    if not str(measure.name).isidentifier():
        raise ArmError(f'its name is {measure.name!r}; allowed: letters, digits and underscores')
    if not callable(measure.sample):
        raise ArmError(f'its sample is {measure.sample!r}; it must be a function')
    format(0.0, measure.format)


def values_of_plugin(measure: Any, samples: Any) -> Array:
    """Return the samples (k,) of a measure; nan where it masks one.

    Raises:
        ArmError: the function fails, or returns anything but a real number per sample.
    """
    # A foreign function may write into what it receives, by ways that no view forbids.
    copies = (read_only(x.copy()) if isinstance(x, np.ndarray) else x for x in samples)
    try:
        x = np.asarray(np.ma.filled(measure.sample(samples._make(copies)), np.nan))
    except Exception as error:  # a foreign function may raise anything
        raise ArmError(f'measure {measure.name!r} fails: {one_line(error)}') from error
    if x.shape != samples.error_mm.shape:
        raise ArmError(
            f'measure {measure.name!r} returns an array of shape {x.shape}; '
            f'expected: {samples.error_mm.shape}, one number per sample'
        )
    if x.dtype.kind not in 'bfiu':
        raise ArmError(
            f'measure {measure.name!r} returns numbers of type {x.dtype}; they must be real'
        )
    return x.astype(float)
