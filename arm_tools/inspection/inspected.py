"""What a recording is: findings of one line each, and the samples read accordingly.

A finding that is evident is applied; one that is not, or that changes what the arm is, stops an
identification until an option says which reading is right.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, one_of, units
from arm_dynamics.model import RobotModel
from arm_lab.identification.conventions import Conventions, Reading, in_time
from arm_lab.identification.effort_rest import Rest
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.strange_efforts import FAR
from arm_tools.inspection.clipped_efforts import efforts_at_limit, flat_ends, why_clipped
from arm_tools.inspection.effort_presets import preset_for
from arm_tools.inspection.effort_scales import in_torques, joint_numbers
from arm_tools.inspection.known_efforts import UNKNOWN, EffortsAre
from arm_tools.inspection.position_units import in_radians, unwrapped
from arm_tools.inspection.wrong_numbers import as_words
from arm_tools.inspection.wrong_states import in_coarse_steps, measured_states_of
from arm_tools.readers.findings import Doubt, OtherUnit, Undecided
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
    names, prismatic = model.joint_names, model.prismatic
    samples, lines = inspected_samples(path, names, how, prismatic.tolist())
    q, of_turns = unwrapped(in_radians(samples.q, names, prismatic, how.units), names, prismatic)
    samples, of_states = measured_states_of(replace(samples, q=q), names)
    are_clipped, of_limits = efforts_at_limit(samples, names)
    lines += [*of_turns, *of_states, *of_limits, *_resolution(samples, model)]
    if samples.effort.any() and not np.ptp(samples.effort, axis=0).any():
        raise ArmError(
            f'recording {str(path)!r}: the efforts of all joints are always the same: record '
            'measured efforts; without them identify --from positions'
        )
    samples = _moved(samples, efforts, names)
    efforts = efforts.with_preset(lines)
    if efforts.effort_scales:
        samples, line = in_torques(samples, model, efforts.effort_scales)
        lines, efforts = [*lines, line], replace(efforts, efforts='torque')
    if how.units == 'auto':
        other_unit = [x for x in lines if isinstance(x, OtherUnit)]
        lines += [Undecided(f'{line}; --units rad keeps them') for line in other_unit]
    flipped_q = _signs('--flip-positions', efforts.flip_positions, names)
    flipped_effort = _signs('--flip-efforts', efforts.flip_efforts, names)
    if flipped_q is not None:
        samples = replace(samples, q=samples.q * flipped_q)
    try:
        samples, found, later = in_time(model, samples, cutoff, as_given=efforts.gravity != 'auto')
    except ArmError as error:
        lines.append(f'conventions: {error}')
        return Inspected(
            samples, efforts.gravity == 'missing', False, np.ones(model.nv, dtype=bool),
            *_parted(lines), why_clipped(are_clipped, names),
        )  # fmt: skip
    decided_kinds = {'order'} if efforts.effort_order else set()
    if flipped_q is not None:
        decided_kinds |= {'reversed', 'turned', 'exchanged'}
    lines += _of_positions(found, how.units, decided_kinds)
    signs = np.where(found.signs == 0.0, 1.0, found.signs)
    signs = signs if flipped_effort is None else flipped_effort
    lines.append(_of_signs(found, signs, names, efforts.flip_efforts))
    lines.append(_of_gravity(found, efforts.gravity))
    lines.append(_of_unit(found, efforts.efforts, names))
    lines += _of_rest(found.rest, names, later)
    lines += flat_ends(found.clipped & ~are_clipped, names)
    samples = replace(samples, effort=samples.effort * signs)
    of_noise, noise_lines = _of_noise(samples.effort, found.left, names)
    known = found.gravity if efforts.gravity == 'auto' else efforts.gravity
    return Inspected(
        samples, known == 'missing', efforts.efforts == 'current', np.isfinite(found.scales),
        *_parted([*lines, *noise_lines]),
        why_clipped(found.clipped | are_clipped, names) | of_noise, later,
    )  # fmt: skip


def _parted(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the findings that are decided, and the others."""
    still_open: list[str] = [x for x in lines if isinstance(x, Undecided)]
    return [x for x in lines if not isinstance(x, Undecided)], still_open


def _signs(option: str, joints: str, names: Sequence[str]) -> Array | None:
    """Return -1 for the joints of an option, else 1 (n,); None: they are to be found."""
    if joints == 'auto':
        return None
    flipped = [x.strip() for x in joints.split(',') if x.strip() not in ('', _NONE)]
    for name in flipped:
        one_of(option, name, names)
    return np.where(np.isin(names, flipped), -1.0, 1.0)


def _moved(samples: MotionSamples, known: EffortsAre, names: Sequence[str]) -> MotionSamples:
    """Return samples with other zeros, two joints exchanged, and efforts in another order."""
    shifts = joint_numbers('--shift-positions', known.shift_positions, names)
    q = samples.q + np.array([shifts.get(name, 0.0) for name in names])
    pair = [x.strip() for x in known.exchange_joints.split(',') if x.strip()]
    for name in pair:
        one_of('--exchange-joints', name, names)
    order = np.arange(len(names))
    if pair:
        if len(set(pair)) != 2:
            raise ArmError(f'--exchange-joints {known.exchange_joints!r}: it must be two joints')
        i, j = (names.index(name) for name in pair)
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
    is_silent = [len(effort) and np.ptp(effort) == 0.0 for effort in samples.effort.T]
    silent = [*compress(model.joint_names, is_silent)]
    shown = ', '.join(f'{step:.2g}' for step in steps)
    of = units('rad | m', model.prismatic)
    lines = [f'resolution: smallest steps of the positions {shown} [{of}]']
    if silent:
        lines.append(f'efforts: {", ".join(silent)}: always the same, none is recorded')
    return lines


def _of_noise(
    efforts: Array, left: Array, names: Sequence[str]
) -> tuple[dict[int, str], list[str]]:
    """Return which efforts have few values, of which none is of the motion, and a line on them.

    Args:
        efforts: (m, n).
        left: (n,) share of each effort's variance that the motion does not explain.
        names: of the joints.
    """
    joints = np.flatnonzero(in_coarse_steps(efforts) & (left > _NOTHING)).tolist()
    counts = [str(len(np.unique(efforts[:, j]))) for j in joints]
    largest = [f'{np.abs(efforts[:, j]).max():.3g}' for j in joints]
    text = '{} values of at most {}, which no motion explains'
    unused = {
        j: f'joint {names[j]!r}: its efforts are {text.format(count, most)}'
        for j, count, most in zip(joints, counts, largest, strict=True)
    }
    if not joints:
        return unused, []
    what = text.format(', '.join(counts), ', '.join(largest))
    named = ', '.join(names[j] for j in joints)
    return unused, [Doubt(f'efforts: {named}: {what}: is none recorded? Not used')]


def _of_positions(found: Conventions, units: str, decided_kinds: set[str]) -> Iterator[str]:
    """Yield what positions and the order of efforts are, if not as the model has them.

    `decided_kinds`: kinds of readings that an option has decided.
    """
    if found.unit and units == 'deg':
        yield Undecided(
            'positions fit the arm neither in radians nor in degrees: are they counts of '
            'encoders? Convert them to rad'
        )
    elif found.unit == 'turns' and units != 'rad':
        yield Undecided(
            'positions fit the arm in turns, and not in radians: multiply them by 2 pi; '
            '--units rad confirms radians'
        )
    elif found.unit and units != 'rad':
        yield Undecided(
            'positions fit the arm in degrees, and not in radians: --units deg reads them so, '
            '--units rad confirms radians'
        )
    if found.hidden_positions and 'reversed' not in decided_kinds:
        hidden = ', '.join(found.hidden_positions)
        yield f'sign of the positions: not shown by this motion: {hidden}'
    several = sum(alike[0].kind == 'reversed' for alike in found.positions) > 1
    for alike in found.positions:
        kind = alike[0].kind
        if kind in decided_kinds:
            continue
        line = ', or alike '.join(_reading(each) for each in alike)
        if kind == 'order':
            yield Undecided(f'{line}; --effort-order with the names in order keeps them')
            continue
        line += f'; --flip-positions {_NONE} keeps them'
        yield Undecided(line + ' (several: with commas between the names)' * several)


def _reading(reading: Reading) -> str:
    """Return another reading in words, with what brings it about."""
    remedy = {
        'reversed': f'--flip-positions {reading.joints[0]}',
        'turned': f'--shift-positions {reading.joints[0]}={reading.offset:.4f}',
        'exchanged': f'--exchange-joints {",".join(reading.joints)}',
        'order': f'--effort-order {",".join(reading.joints)}',
        'unit': 'convert them to rad or m in the file',
    }
    return f'{as_words(reading)}: {remedy[reading.kind]}'


def _named(names: Sequence[str], which: NDArray[np.bool_]) -> str:
    """Return the names of some of the joints (n,), with commas between."""
    return ', '.join(np.array(names)[which])


def _of_signs(found: Conventions, signs: Array, names: Sequence[str], option: str) -> str:
    """Return a line on the signs of the efforts."""
    flipped, unknown = _named(names, signs < 0.0), _named(names, found.signs == 0.0)
    line = 'sign of the efforts: as the model has it'
    if flipped:
        plural = 's' * (int((signs < 0.0).sum()) > 1)
        line = f'sign of the efforts: joint{plural} {flipped}: sign reversed, and read so'
        line += ' (--flip-efforts none keeps it)' if option == 'auto' else ', as the option says'
    if unknown:
        line += f'; not shown by this motion: {unknown}'
    return line


def _of_rest(rest: Rest, names: Sequence[str], later: float) -> list[str]:
    """Return lines on the efforts' delay, friction and offsets; `later` [s] they were read."""
    shown = _named(names, rest.friction) or 'no joint'
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


def _of_gravity(found: Conventions, option: str) -> str:
    """Return a line on whether the efforts lack the links' weight."""
    times = np.exp(found.gravity_gain / len(found.signs))
    ratio = f'variance left, in the geometric mean of the joints: {times:.3g} times'
    if option != 'auto':
        return f'gravity: {option}, as --gravity says'
    if found.mounted:
        along = [round(each, 2) + 0.0 for each in found.mounted]
        return Undecided(
            f'gravity: the efforts fit the arm if it is {along} in the frame of the base, as on a '
            f'wall: --config FILE with "/**: {{ros__parameters: {{gravity: {along}}}}}" in it '
            'reads it so; --gravity included keeps the base as given'
        )
    if found.gravity == 'none':
        return 'gravity: makes no torque in this motion'
    if found.gravity == 'ambiguous':
        return Undecided(
            'gravity: the efforts fit the arm as given with gravity and without it alike '
            f'({ratio}): --gravity included or --gravity missing'
        )
    if found.gravity == 'missing':
        return (
            f'gravity: the efforts fit the arm as given without gravity ({ratio} less than with '
            'it), and are read so (--gravity included reads them otherwise)'
        )
    return f'gravity: the efforts contain it ({ratio} less than without)'


def _of_unit(found: Conventions, option: str, names: Sequence[str]) -> str:
    """Return a line on whether the efforts are multiples of the torques."""
    known = np.isfinite(found.scales)
    parts = ', '.join(
        f'{name} {scale:.3g}' if np.isfinite(scale) else f'{name} not shown'
        for name, scale in zip(names, found.scales, strict=True)
    )
    scales = f'recorded over modelled effort: {parts}'
    if option != 'auto':
        return f'unit of the efforts: {option}, as the options say; {scales}'
    if found.newtons and found.strange.any():
        alone = _named(names, found.strange)
        return Undecided(
            f'unit of the efforts: {alone} alone in another unit, or of a motor in front of its '
            f'gear ({scales}): --effort-scales gives each scale; --efforts torque confirms N.m'
        )
    size = found.scales[known]
    if found.factor != 1.0 and size.max() < _SPREAD * size.min():
        factor = f'{found.factor:.2g}'
        given = ','.join(f'{name}={factor}' for name in names)
        return Undecided(
            f'unit of the efforts: {factor} times N.m, or links of {factor} times the weight in '
            f'the URDF ({scales}): --effort-scales {given} with the exact factor, or --efforts '
            'torque'
        )
    if not len(size) and (found.left < 1.0).any():
        return Undecided(
            f'unit of the efforts: not shown, as the given arm explains no effort ({scales}): '
            '--efforts torque confirms N.m, --efforts current another unit'
        )
    if found.newtons and found.factor == 1.0:
        far = np.abs(np.log(found.scales / np.median(size))) > np.log(FAR) if len(size) else known
        alone = _named(names, far)
        if alone:
            alone = f"; {alone}: a rotor unlike the model's, or another unit (--effort-scales)"
        return f'unit of the efforts: N.m or N ({scales}){alone}'
    one = size.max() < _LIKE * size.min()
    what = 'another unit' if one else "currents, or shares of each drive's rated torque"
    preset = f'--preset {x} or ' if (x := preset_for(names)) and not one else ''
    return Undecided(
        f'unit of the efforts: no N.m, {what} ({scales}): {preset}--efforts current takes the '
        "scales from the weights of the URDF's links, whatever the tool carries, identify "
        '--loaded from a known load, --effort-scales those that are known; --efforts torque '
        'confirms N.m'
    )


def decided(found: Inspected) -> Inspected:
    """Return a recording of which nothing is open.

    Raises:
        ArmError: an option must say first what a number is.
    """
    if found.open:
        raise ArmError('; '.join(found.open))
    return found
