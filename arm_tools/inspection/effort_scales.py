"""Scales of recorded efforts that are known: from an option, or from `identified.json`."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError, Array, in_range, one_of
from arm_dynamics.model import RobotModel
from arm_lab.identification.signals import MotionSamples

_OPTION = '--effort-scales'


def in_torques(
    samples: MotionSamples, model: RobotModel, option: str
) -> tuple[MotionSamples, str]:
    """Return samples with efforts over their scales, 0 where the scale is unknown, and a line.

    Raises:
        ArmError: no such file or joint, or a scale that is none.
    """
    names = model.joint_names
    scales = known_scales(option, names)
    known = np.isfinite(scales)
    effort = np.where(known, samples.effort / np.where(known, scales, 1.0), 0.0)
    pairs = zip(names, scales, strict=True)
    said = ', '.join(f'{n} {x:.4g}' if np.isfinite(x) else f'{n} not known' for n, x in pairs)
    return replace(samples, effort=effort), f'efforts: divided by {_OPTION}: {said}'


def known_scales(option: str, names: Sequence[str]) -> Array:
    """Return the scales (n,) of an option, NaN where there is none.

    Raises:
        ArmError: no such file or joint, or a scale that is none.
    """
    if option.endswith('.json'):
        found = _of_file(Path(option).expanduser())
    else:
        found = joint_numbers(_OPTION, option, names)
    for name, scale in found.items():
        one_of(_OPTION, name, names)
        in_range(f'{_OPTION} {name}', scale, 0.0, 1e9, exclusive=True)
    if not found:
        raise ArmError(f'{_OPTION} {option!r} has no scale that is known')
    return np.array([found.get(name, np.nan) for name in names])


def joint_numbers(option: str, text: str, names: Sequence[str]) -> dict[str, float]:
    """Return the numbers of an option by joint.

    Raises:
        ArmError: no such joint, or no number.
    """
    found = {}
    for part in filter(str.strip, text.split(',')):
        name, _, number = part.partition('=')
        try:
            found[name.strip()] = float(number)
        except ValueError:
            raise ArmError(f'{option} {part!r}: it must be JOINT=NUMBER') from None
        one_of(option, name.strip(), names)
    return found


def _of_file(file: Path) -> dict[str, float]:
    try:
        facts = json.loads(file.read_text())
        scale, names = facts['torque_scale'], facts['joint_names']
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArmError(f'{_OPTION} {str(file)!r} is no identified.json: {error}') from None
    if scale is None:
        raise ArmError(f'{_OPTION} {str(file)!r}: identify found no scales there')
    rows = zip(names, scale['values'], scale['shown'], strict=True)
    return {name: value for name, value, shown in rows if shown}
