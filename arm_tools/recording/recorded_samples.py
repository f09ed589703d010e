"""Joint states of any recording: MCAP, also cut off, rosbag2, LeRobot, tables of numbers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError, Array, T
from arm_lab.identification.rollouts import Followed
from arm_lab.identification.signals import MotionSamples
from arm_tools.recording.array_files import ARRAYS, arrays_of
from arm_tools.recording.arrays import numbers_in
from arm_tools.recording.column_names import array_names, joint_names_in
from arm_tools.recording.joint_streams import (
    AS_FOUND,
    Doubt,
    ReadAs,
    measured,
    sampling,
    streams_of,
    timed,
)
from arm_tools.recording.lerobot import INFO
from arm_tools.recording.lerobot_reader import followed_of, samples_of
from arm_tools.recording.position_units import check_units
from arm_tools.recording.quantity_files import quantity_files
from arm_tools.recording.recorded_messages import (
    REST_PERIOD,
    is_of_messages,
    messages_of,
    reading,
    stale_index,
)
from arm_tools.recording.recorded_velocities import of_velocities
from arm_tools.recording.tables import TABLES, table_of, voltages_of
from arm_tools.recording.text_table import kind_of

_REST = 1e-9  # largest motion between two states at rest [rad | m]
_SOON = 1e-9  # a command with a state's own stamp acts after that state [s]


def inspected_samples(
    path: Path | str,
    joint_names: Sequence[str],
    how: ReadAs = AS_FOUND,
    slides: Sequence[bool] | None = None,
) -> tuple[MotionSamples, list[str]]:
    """Return times, positions and torques of these joints in their order, and lines on them.

    The numbers are as recorded, whatever `how.units`; the lines are on topic, clock and sampling.
    `slides` says which joints are prismatic, where this is known.

    Raises:
        ArmError: names the file and what is missing in it.
    """
    with reading(path) as file:
        if _is_table(file):
            table, lines = table_of(file, joint_names, 'effort', how=how, slides=slides)
            check_units(how.units, lines)
            samples = MotionSamples(*table)
            lines += sampling(samples.times)
        elif (file / INFO).is_file():
            how.check_messages()
            samples = samples_of(file, joint_names_in(how.columns, joint_names))
            lines = sampling(samples.times)
        else:
            samples, lines = _of_messages(file, joint_names, how)
        effort = samples.effort
        for name, q in zip(joint_names, samples.q.T, strict=True):
            if len(q) and np.isnan(q).all():
                raise ArmError(f'joint {name!r}: its positions have no number')
        if len(effort):  # of some joints alone, as of a base without torque sensors
            none = np.isnan(effort).all(axis=0)
            if none.all():
                raise ArmError('its efforts have no number, which are needed')
            samples = replace(samples, effort=np.where(none, 0.0, effort))
        samples, lost = _whole(samples)
        return samples, [*lines, *lost]


def read_voltages(
    path: Path | str, joint_names: Sequence[str], times: Array, how: ReadAs = AS_FOUND
) -> Array:
    """Return the voltages (m, n) [V] behind the torques recorded at times (m,) [s]; NaN: none yet.

    These are the newest commands before each time, `voltage` (m, n) of an .npz file, or the
    columns `<joint>.voltage` of a CSV file.

    Raises:
        ArmError: names the file and what is missing in it.
    """
    with reading(path) as file:
        if _is_table(file) and kind_of(file) in ARRAYS:
            name = array_names(how.columns).get('voltage', 'voltage')
            return numbers_in(arrays_of(file), name, len(times), joint_names, 'voltage')
        if _is_table(file):
            found = voltages_of(file, joint_names, how)
            if len(found) != len(times):
                raise ArmError('some rows were not read: voltages need all of them')
            return found
        sent, _ = _of_messages(file, joint_names, how, commands=True)
        if (np.diff(sent.times) < 0.0).any():
            raise ArmError('the stamps of its joint commands go back; record without a reset')
        newest = np.searchsorted(sent.times, times - _SOON) - 1
        return np.where((newest >= 0)[:, np.newaxis], sent.effort[newest], np.nan)


def read_followed(
    path: Path | str,
    joint_names: Sequence[str],
    how: ReadAs = AS_FOUND,
    slides: Sequence[bool] | None = None,
) -> Followed:
    """Return times, positions and position commands of these joints, in their order.

    The numbers are as recorded; `slides` is that of `inspected_samples`. The
    commands are `command` (m, n) of an .npz file (`q_reference` where there is none), the
    columns `<joint>.command` of a CSV file, or the newest joint commands at each state.

    Raises:
        ArmError: names the file and what is missing in it.
    """
    with reading(path) as file:
        if _is_table(file):
            table, lines = table_of(file, joint_names, 'command', 'q_reference', how, slides)
            check_units(how.units, lines)
            found = Followed(*table)
        elif (file / INFO).is_file():
            how.check_messages()
            found = followed_of(file, joint_names_in(how.columns, joint_names))
        else:
            states, _ = _of_messages(file, joint_names, how, effort=False)
            sent, _ = _of_messages(file, joint_names, how, commands=True, effort=False)
            newest = np.searchsorted(sent.times, states.times + _SOON) - 1
            first = int(np.argmax(newest >= 0))
            newest = newest[first:]
            found = Followed(states.times[first:], states.q[first:], sent.q[newest])
        if (np.diff(_finite(found).times) <= 0.0).any():
            raise ArmError('its times do not increase; cut it at the reset')
        return found


def _is_table(file: Path) -> bool:
    if file.is_dir():
        has_messages = any(is_of_messages(x) for x in file.iterdir())
        return not has_messages and bool(quantity_files(file))
    return not is_of_messages(file) and kind_of(file) in TABLES


def _whole(samples: MotionSamples) -> tuple[MotionSamples, list[str]]:
    """Return the samples of which every number is finite, and a line on the others.

    Raises:
        ArmError: there is none.
    """
    parts = samples.times[:, np.newaxis], samples.q, samples.effort
    kept = np.isfinite(np.hstack(parts)).all(axis=1)
    if kept.all() or not kept.any():
        return _finite(samples), []
    line = f'{int((~kept).sum())} of {len(kept)} states lack a number, and are not read'
    return samples.part(np.flatnonzero(kept)), [Doubt(f'states: {line}')]


def _finite(found: T) -> T:
    """Return samples; raise ArmError where they have a number that is not finite."""
    for name, values in vars(found).items():
        if not np.isfinite(values).all():
            raise ArmError(f'some {name} are not finite')
    return found


def _of_messages(
    file: Path,
    joint_names: Sequence[str],
    how: ReadAs = AS_FOUND,
    commands: bool = False,
    effort: bool = True,
) -> tuple[MotionSamples, list[str]]:
    """Return the joint states of MCAP or rosbag2, or the joint commands, and lines on them."""
    if not file.is_dir() and not is_of_messages(file):
        raise ArmError(
            f'it must be an .mcap, .db3, {", ".join(TABLES)} file, or the folder of a bag'
            '; rosbags-convert converts a .bag of ROS 1; write others as CSV'
        )
    how.check_messages()
    facts: dict[str, dict[str, str]] = {}
    names = joint_names_in(how.columns, joint_names)
    streams = streams_of(messages_of(file, facts), names, commands)
    if commands:
        stream = streams[0]
        if effort and np.isnan(stream.effort).all(axis=1).any():
            raise ArmError('its joint commands have no effort, which is needed')
        times, _ = timed(stream, how)
        return MotionSamples(times, stream.q, stream.effort), []
    stream, lines = measured(streams, how, effort)
    times, of_clock = timed(stream, how)
    efforts = stream.effort if effort else np.zeros_like(stream.q)
    samples = MotionSamples(times, stream.q, efforts)
    if REST_PERIOD in facts.get('arm_sim', {}) and len(times) > 1:
        samples = _with_rest(samples, float(facts['arm_sim'][REST_PERIOD]))
    stale = [Doubt(line) for line in stale_index(file)]
    of_v = of_velocities(times, stream.q, stream.v, joint_names)
    return samples, [*lines, *stale, *of_clock, *sampling(samples.times), *of_v]


def _with_rest(samples: MotionSamples, longest: float) -> MotionSamples:
    """Return samples with the states at rest, which the recorder left out for `longest` [s]."""
    steps = np.diff(samples.times)
    period = steps[steps > 0.0].min(initial=longest)
    same = (np.abs(np.diff(samples.q, axis=0)) < _REST).all(axis=1)
    gap = same & (steps > 1.5 * period) & (steps < longest + 1.5 * period)
    counts = np.append(np.where(gap, np.rint(steps / period), 1).astype(int), 1)
    rows = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return MotionSamples(
        samples.times[rows] + number * period, samples.q[rows], samples.effort[rows]
    )
