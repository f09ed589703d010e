"""What a recording is: findings of one line each, and the samples read accordingly.

A finding that is evident is applied; one that is not, or that changes what the arm is, stops an
identification until an option says which reading is right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.model import RobotModel
from arm_lab.identification.conventions import Conventions, Reading, in_time
from arm_lab.identification.effort_rest import Rest
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.strange_efforts import FAR
from arm_tools.inspection.clipped_efforts import clipped, flat_ends
from arm_tools.inspection.effort_presets import preset_for
from arm_tools.inspection.effort_scales import in_torques, joint_numbers
from arm_tools.inspection.known_efforts import UNKNOWN, EffortsAre
from arm_tools.inspection.position_units import in_radians, unwrapped
from arm_tools.inspection.wrong_numbers import as_words
from arm_tools.inspection.wrong_states import in_coarse_steps, measured_states_of
from arm_tools.readers.findings import Doubt, OtherUnit
from arm_tools.readers.read_options import AS_FOUND, ReadAs
from arm_tools.readers.recorded_samples import inspected_samples

_NONE = 'none'
_SPREAD = 3.0  # largest ratio of the scales of efforts in N.m, times one factor
_DELAYED = 0.001  # a delay that is named [s]
_LIKE = 1.5  # largest ratio of scales that are one unit's
_NOTHING = 0.5  # share of an effort's variance from which on the motion explains nothing of it


@dataclass(frozen=True)
class Inspected:
    """A recording as it is read.

    Attributes:
        samples: with signs and units of the model.
        weightless: whether the efforts lack the links' weight.
        currents: whether the efforts are multiples of the torques, of unknown size.
        shown: (n,) whether the weights of the model's links show this size.
        lines: the findings.
        open: findings that an option must decide first.
        unused: by a joint's index, why its torque is not used.
        later: how much later the efforts were read, which came behind the positions [s].
    """

    samples: MotionSamples
    weightless: bool
    currents: bool
    shown: NDArray[np.bool_]
    lines: list[str]
    open: list[str]
    unused: Mapping[int, str] = field(default_factory=dict)
    later: float = 0.0


def inspected(
    path: Path | str,
    model: RobotModel,
    how: ReadAs = AS_FOUND,
    efforts: EffortsAre = UNKNOWN,
    cutoff: float = 10.0,
) -> Inspected:
    """Return a recording as it is read, with findings.

    Raises:
        ArmError: the file cannot be read, or not one way; a joint that the arm does not have.
    """
    joints, units = (model.joint_names, model.prismatic), how.units
    samples, lines = inspected_samples(path, joints[0], how, joints[1].tolist())
    q, turns = unwrapped(in_radians(samples.q, *joints, units), *joints)
    samples = replace(samples, q=q)
    samples, measured = measured_states_of(samples, joints[0])
    lines = [*lines, *turns, *measured, *_resolution(samples, model)]
    if samples.effort.any() and not np.ptp(samples.effort, axis=0).any():
        raise ArmError(
            f'recording {str(path)!r}: the efforts of all joints are always the same: record '
            'measured efforts; without them identify --from positions'
        )
    samples = _moved(samples, efforts, model)
    efforts = efforts.with_preset(lines)
    if efforts.effort_scales:
        samples, line = in_torques(samples, model, efforts.effort_scales)
        lines, efforts = [*lines, line], replace(efforts, efforts='torque')
    other = [x for x in lines if isinstance(x, OtherUnit) and units == 'auto']
    still = [f'{line}; --units rad keeps them' for line in other]
    flips = {
        kind: _named(f'--flip-{kind}', getattr(efforts, f'flip_{kind}'), model)
        for kind in ('positions', 'efforts')
    }
    if flips['positions'] is not None:
        samples = replace(samples, q=samples.q * flips['positions'])
    try:
        samples, found, later = in_time(model, samples, cutoff, as_given=efforts.gravity != 'auto')
    except ArmError as error:
        return Inspected(
            samples, efforts.gravity == 'missing', False, np.ones(model.nv, dtype=bool),
            [*lines, f'conventions: {error}'], still, clipped(joints[0], lines),
        )  # fmt: skip
    lines = [*lines]
    known = {'order'} if efforts.effort_order else set()
    if flips['positions'] is not None:
        known |= {'reversed', 'turned', 'exchanged'}
    _of_positions(found, units, known, lines, still)
    signs = flips['efforts']
    if signs is None:
        signs = np.where(found.signs == 0.0, 1.0, found.signs)
    lines.append(_of_signs(found, signs, model, efforts.flip_efforts))
    weightless = _gravity(found, efforts.gravity, lines, still)
    currents = _unit(found, efforts.efforts, model, lines, still)
    lines += _of_rest(found.rest, model, later)
    lines += flat_ends(found.clipped, joints[0], lines)
    samples = replace(samples, effort=samples.effort * signs)
    unused = clipped(joints[0], lines) | _of_noise(samples, found, joints[0], lines)
    return Inspected(
        samples, weightless, currents, np.isfinite(found.scales), lines, still, unused, later
    )


def _named(option: str, joints: str, model: RobotModel) -> Array | None:
    """Return -1 for the joints of an option, else 1 (n,); None: they are to be found."""
    if joints == 'auto':
        return None
    named = [x.strip() for x in joints.split(',') if x.strip() not in ('', _NONE)]
    for name in named:
        one_of(option, name, model.joint_names)
    return np.array([-1.0 if name in named else 1.0 for name in model.joint_names])


def _moved(samples: MotionSamples, known: EffortsAre, model: RobotModel) -> MotionSamples:
    """Return samples with other zeros, two joints exchanged, and efforts in another order."""
    names = model.joint_names
    shifts = joint_numbers('--shift-positions', known.shift_positions, names)
    q = samples.q + np.array([shifts.get(name, 0.0) for name in names])
    pair = [x.strip() for x in known.exchange_joints.split(',') if x.strip()]
    for name in pair:
        one_of('--exchange-joints', name, names)
    order = np.arange(len(names))
    if pair:
        if len(set(pair)) != 2:
            raise ArmError(f'--exchange-joints {known.exchange_joints!r}: it must be two joints')
        i, j = map(names.index, pair)
        order[[i, j]] = j, i
    effort = samples.effort[:, order]
    if under := [x.strip() for x in known.effort_order.split(',') if x.strip()]:
        if sorted(under) != sorted(names):
            raise ArmError(
                f'--effort-order {known.effort_order!r}: it must have each of {", ".join(names)}'
            )
        effort = effort[:, [names.index(x) for x in under]]
    return replace(samples, q=q[:, order], effort=effort)


def _resolution(samples: MotionSamples, model: RobotModel) -> list[str]:
    """Return a line on the steps of the positions, and on joints without efforts."""
    steps = []
    for column in samples.q.T:
        values = np.abs(np.diff(column))
        values = values[values > 0.0]
        steps.append(float(values.min()) if len(values) else np.nan)
    silent = [
        name
        for name, effort in zip(model.joint_names, samples.effort.T, strict=True)
        if len(effort) and np.ptp(effort) == 0.0
    ]
    shown = ', '.join(f'{step:.2g}' for step in steps)
    lines = [f'resolution: smallest steps of the positions {shown} [rad | m]']
    if silent:
        lines.append(f'efforts: {", ".join(silent)}: always the same, none is recorded')
    return lines


def _of_noise(
    samples: MotionSamples, found: Conventions, names: Sequence[str], lines: list[str]
) -> dict[int, str]:
    """Return why an effort is not used that has few values, of which none is of the motion."""
    unused, found_in = {}, []
    for j in np.flatnonzero(in_coarse_steps(samples.effort) & (found.left > _NOTHING)).tolist():
        count, most = len(np.unique(samples.effort[:, j])), np.abs(samples.effort[:, j]).max()
        found_in.append((names[j], str(count), f'{most:.3g}'))
        what = f'{count} values of at most {most:.3g}, which no motion explains'
        unused[j] = f'joint {names[j]!r}: its efforts are {what}'
    if found_in:
        joints, counts, largest = map(', '.join, zip(*found_in, strict=True))
        what = f'{counts} values of at most {largest}, which no motion explains'
        lines.append(Doubt(f'efforts: {joints}: {what}: is none recorded? Not used'))
    return unused


def _of_positions(
    found: Conventions, units: str, known: set[str], lines: list[str], still: list[str]
) -> None:
    """Add what positions and the order of efforts are, if not as the model has them.

    `known`: kinds of readings that an option has decided.
    """
    if found.degrees and units == 'deg':
        still.append(
            'positions fit the arm neither in radians nor in degrees: are they counts of '
            'encoders? Convert them to rad'
        )
    elif found.degrees and units != 'rad':
        still.append(
            'positions fit the arm in degrees, and not in radians: --units deg reads them so, '
            '--units rad confirms radians'
        )
    if found.hidden_positions and 'reversed' not in known:
        hidden = ', '.join(found.hidden_positions)
        lines.append(f'sign of the positions: not shown by this motion: {hidden}')
    several = sum(alike[0].kind == 'reversed' for alike in found.positions) > 1
    for alike in found.positions:
        if (kind := alike[0].kind) in known:
            continue
        line = ', or alike '.join(_reading(each) for each in alike)
        if kind == 'order':
            still.append(f'{line}; --effort-order with the names in order keeps them')
            continue
        line += f'; --flip-positions {_NONE} keeps them'
        still.append(line + (' (several: with commas between the names)' if several else ''))


def _reading(of: Reading) -> str:
    """Return another reading in words, with what brings it about."""
    remedy = {
        'reversed': f'--flip-positions {of.joints[0]}',
        'turned': f'--shift-positions {of.joints[0]}={of.offset:.4f}',
        'exchanged': f'--exchange-joints {",".join(of.joints)}',
        'order': f'--effort-order {",".join(of.joints)}',
        'unit': 'convert them to rad or m in the file',
    }
    return f'{as_words(of)}: {remedy[of.kind]}'


def _of_signs(found: Conventions, signs: Array, model: RobotModel, option: str) -> str:
    """Return a line on the signs of the efforts."""
    names = np.array(model.joint_names)
    flipped, unknown = names[signs < 0.0], names[found.signs == 0.0]
    line = 'sign of the efforts: as the model has it'
    if len(flipped):
        named = f'joint{"s" * (len(flipped) > 1)} {", ".join(flipped)}'
        line = f'sign of the efforts: {named}: sign reversed, and read so'
        line += ' (--flip-efforts none keeps it)' if option == 'auto' else ', as the option says'
    if len(unknown):
        line += f'; not shown by this motion: {", ".join(unknown)}'
    return line


def _of_rest(rest: Rest, model: RobotModel, later: float) -> list[str]:
    """Return lines on the efforts' delay, friction and offsets; `later` [s] they were read."""
    names = np.array(model.joint_names)
    shown = ', '.join(names[rest.friction]) or 'no joint'
    pairs = zip(names, rest.offsets, strict=True)
    offsets = ', '.join(f'{name} {x:.3g}' for name, x in pairs if np.isfinite(x)) or 'none'
    behind = later + rest.behind
    place = 'behind' if behind >= 0.0 else 'ahead of'
    size, within = abs(behind), f'± {1e3 * rest.within:.2g} ms'
    read = ', and read so' * (later != 0.0)
    delay = f'about {1e3 * size:.1f} ms {place} the positions ({within}){read}'
    if not size > max(rest.within, _DELAYED):
        delay = f'none shown ({1e3 * rest.behind:.1f} {within})'
    delay = delay if np.isfinite(behind) else 'not shown'
    pairs = zip(names, rest.alone, strict=True)
    apart = [f'; {name} alone {1e3 * x:.1f} ms behind' for name, x in pairs if np.isfinite(x)]
    return [
        f'delay of the efforts: {"".join([delay, *apart])}',
        f'friction in the efforts: shown by {shown}',
        f'offset of the efforts, as recorded: {offsets}',
    ]


def _gravity(found: Conventions, option: str, lines: list[str], still: list[str]) -> bool:
    """Return whether the efforts lack the links' weight, and add what was found."""
    times = np.exp(found.gravity_gain / len(found.signs))
    ratio = f'variance left, in the geometric mean of the joints: {times:.3g} times'
    if option != 'auto':
        lines.append(f'gravity: {option}, as --gravity says')
        return option == 'missing'
    if found.mounted:
        along = [round(each, 2) + 0.0 for each in found.mounted]
        still.append(
            f'gravity: the efforts fit the arm if it is {along} in the frame of the base, as on a '
            f'wall: --config FILE with "/**: {{ros__parameters: {{gravity: {along}}}}}" in it '
            'reads it so; --gravity included keeps the base as given'
        )
        return found.gravity == 'missing'
    if found.gravity == 'none':
        lines.append('gravity: makes no torque in this motion')
    elif found.gravity == 'ambiguous':
        still.append(
            'gravity: the efforts fit the arm as given with gravity and without it alike '
            f'({ratio}): --gravity included or --gravity missing'
        )
    elif found.gravity == 'missing':
        lines.append(
            f'gravity: the efforts fit the arm as given without gravity ({ratio} less than with '
            'it), and are read so (--gravity included reads them otherwise)'
        )
    else:
        lines.append(f'gravity: the efforts contain it ({ratio} less than without)')
    return found.gravity == 'missing'


def _unit(
    found: Conventions, option: str, model: RobotModel, lines: list[str], still: list[str]
) -> bool:
    """Return whether the efforts are multiples of the torques, and add what was found."""
    known = np.isfinite(found.scales)
    parts = ', '.join(
        f'{name} {scale:.3g}' if np.isfinite(scale) else f'{name} not shown'
        for name, scale in zip(model.joint_names, found.scales, strict=True)
    )
    scales = f'recorded over modelled effort: {parts}'
    if option != 'auto':
        lines.append(f'unit of the efforts: {option}, as the options say; {scales}')
        return option == 'current'
    if found.newtons and found.strange.any():
        alone = ', '.join(np.array(model.joint_names)[found.strange])
        still.append(
            f'unit of the efforts: {alone} alone in another unit, or of a motor in front of its '
            f'gear ({scales}): --effort-scales gives each scale; --efforts torque confirms N.m'
        )
        return False
    size = found.scales[known]
    if found.factor != 1.0 and size.max() < _SPREAD * size.min():
        factor = f'{found.factor:.2g}'
        given = ','.join(f'{name}={factor}' for name in model.joint_names)
        still.append(
            f'unit of the efforts: {factor} times N.m, or links of {factor} times the weight in '
            f'the URDF ({scales}): --effort-scales {given} with the exact factor, or --efforts '
            'torque'
        )
        return False
    if not len(size) and (found.left < 1.0).any():
        still.append(
            f'unit of the efforts: not shown, as the given arm explains no effort ({scales}): '
            '--efforts torque confirms N.m, --efforts current another unit'
        )
        return False
    if found.newtons and found.factor == 1.0:
        far = np.abs(np.log(found.scales / np.median(size))) > np.log(FAR) if len(size) else known
        alone = ', '.join(np.array(model.joint_names)[far])
        if alone:
            alone = f"; {alone}: a rotor unlike the model's, or another unit (--effort-scales)"
        lines.append(f'unit of the efforts: N.m or N ({scales}){alone}')
        return False
    one = size.max() < _LIKE * size.min()
    what = 'another unit' if one else "currents, or shares of each drive's rated torque"
    preset = f'--preset {x} or ' if (x := preset_for(model.joint_names)) and not one else ''
    still.append(
        f'unit of the efforts: no N.m, {what} ({scales}): {preset}--efforts current takes the '
        "scales from the weights of the URDF's links, whatever the tool carries, identify "
        '--loaded from a known load, --effort-scales those that are known; --efforts torque '
        'confirms N.m'
    )
    return False


def decided(found: Inspected) -> Inspected:
    """Return a recording of which nothing is open.

    Raises:
        ArmError: an option must say first what a number is.
    """
    if found.open:
        raise ArmError('; '.join(found.open))
    return found
