"""Units in the names of columns: `q [deg]`, `time_ms`."""

import re

import numpy as np

DEGREE = np.pi / 180.0  # [rad]
# Units by quantity, and by their factor to the unit of this package. `grad` means degrees.
_UNITS: dict[str, dict[float, str]] = {
    'time': {1.0: 's, sec, seconds, sek', 1e-3: 'ms, msec', 1e-6: 'us, µs', 1e-9: 'ns'},
    'angle': {1.0: 'rad, radian, radians', 1e-3: 'mrad', DEGREE: 'deg, °, degree, degrees, grad'},
    'length': {1.0: 'm', 1e-2: 'cm', 1e-3: 'mm'},
    'torque': {
        1.0: 'Nm, N.m, N*m, N·m, N m, N-m', 1e-2: 'Ncm', 1e-3: 'mNm, Nmm', 1e3: 'kNm',
        0.0980665: 'kgf.cm',
    },
    'force': {1.0: 'N'},
    'current': {1.0: 'A, %', 1e-3: 'mA'},
    'voltage': {1.0: 'V'},
}  # fmt: skip
# Quantity and factor, by a unit in small letters.
UNITS = {
    unit.casefold(): (quantity, factor)
    for quantity, by_factor in _UNITS.items()
    for factor, units in by_factor.items()
    for unit in units.split(', ')
}
_BRACKETS = re.compile(r'\s*[\[(]\s*([^\[\]()]*[^\[\]()\d\s])\s*[\])]$')  # not the index of q[0]
# Units at the end of a name that are no part of another word.
_SUFFIX = re.compile(r'_(deg|degrees|rad|ms|us|ns|nm|mnm)$', re.IGNORECASE)


def name_and_unit(field: str) -> tuple[str, str]:
    """Return the name of a column, and its unit if the name ends with one; else ''."""
    name = field.strip().strip('"\'').strip()
    unit = _BRACKETS.search(name)
    if unit and unit.start() and unit[1].casefold() in UNITS:
        return name[: unit.start()], unit[1]
    suffix = _SUFFIX.search(name)
    return name, suffix[1] if suffix else ''


def without_brackets(name: str) -> str:
    """Return the name of a column without the brackets at its end; '' where it has none."""
    unit = _BRACKETS.search(name)
    return name[: unit.start()] if unit else ''
