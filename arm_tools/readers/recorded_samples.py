"""Joint states of any recording: MCAP, also cut off, rosbag2, LeRobot, tables of numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError, Array, T
from arm_lab.identification.rollouts import Followed
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.array_files import arrays_of, has_arrays
from arm_tools.readers.arrays import numbers_in
from arm_tools.readers.column_names import array_names, joint_names_in
from arm_tools.readers.findings import Doubt
from arm_tools.readers.joint_streams import Stream, measured, sampling, streams_of, timed
from arm_tools.readers.lerobot_reader import INFO, followed_of, lines_on, samples_of
from arm_tools.readers.quantity_files import quantity_files
from arm_tools.readers.read_options import AS_FOUND, ReadAs
from arm_tools.readers.recorded_messages import (
    REST_PERIOD,
    Recorded,
    is_of_messages,
    messages_of,
    reading,
    stale_index,
)
from arm_tools.readers.tables import TABLES, table_of, voltages_of
from arm_tools.readers.text_table import kind_of
from arm_tools.readers.velocities import lines_on_velocities

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
            samples = MotionSamples(*table)
            lines += sampling(samples.times)
        elif (file / INFO).is_file():
            how.check_messages()
            samples = samples_of(file, joint_names_in(how.columns, joint_names))
            lines = [*lines_on(file, samples.q), *sampling(samples.times)]
        else:
            samples, lines = _states(file, joint_names, how)
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
        if _is_table(file) and has_arrays(file):
            name = array_names(how.columns).get('voltage', 'voltage')
            return numbers_in(arrays_of(file), name, len(times), joint_names, 'voltage')
        if _is_table(file):
            voltages = voltages_of(file, joint_names, how)
            if len(voltages) != len(times):
                raise ArmError('some rows were not read: voltages need all of them')
            return voltages
        sent_at, sent = _commands(file, joint_names, how)
        if np.isnan(sent.effort).all(axis=1).any():
            raise ArmError('its joint commands have no effort, which is needed')
        if (np.diff(sent_at) < 0.0).any():
            raise ArmError('the stamps of its joint commands go back; record without a reset')
        newest = np.searchsorted(sent_at, times - _SOON) - 1
        return np.where((newest >= 0)[:, np.newaxis], sent.effort[newest], np.nan)


def read_followed(
    path: Path | str,
    joint_names: Sequence[str],
    how: ReadAs = AS_FOUND,
    slides: Sequence[bool] | None = None,
) -> tuple[Followed, list[str]]:
    """Return times, positions and position commands of these joints, in their order, and lines.

    The numbers are as recorded; `slides` is that of `inspected_samples`. The
    commands are `command` (m, n) of an .npz file (`q_reference` where there is none), the
    columns `<joint>.command` of a CSV file, or the newest joint commands at each state.

    Raises:
        ArmError: names the file and what is missing in it.
    """
    with reading(path) as file:
        if _is_table(file):
            table, lines = table_of(file, joint_names, 'command', 'q_reference', how, slides)
            followed = Followed(*table)
            lines += sampling(followed.times)
        elif (file / INFO).is_file():
            how.check_messages()
            followed = followed_of(file, joint_names_in(how.columns, joint_names))
            lines = [*lines_on(file, followed.q), *sampling(followed.times)]
        else:
            states, lines = _states(file, joint_names, how, effort=False)
            sent_at, sent = _commands(file, joint_names, how)
            newest = np.searchsorted(sent_at, states.times + _SOON) - 1
            first = int(np.argmax(newest >= 0))
            answers = sent.q[newest[first:]]
            followed = Followed(states.times[first:], states.q[first:], answers)
        if (np.diff(_finite(followed).times) <= 0.0).any():
            raise ArmError('its times do not increase; cut it at the reset')
        return followed, lines


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
    if kept.all():
        return samples, []
    if not kept.any():
        raise ArmError(
            f'each of its {len(kept)} states lacks a number: a row needs its time, and position '
            'and effort of every joint; rows of one quantity need a file each (q.csv, tau.csv)'
        )
    line = f'{int((~kept).sum())} of {len(kept)} states lack a number, and are not read'
    return samples.part(np.flatnonzero(kept)), [Doubt(f'states: {line}')]


def _finite(samples: T) -> T:
    """Return samples; raise ArmError where they have a number that is not finite."""
    for name, values in vars(samples).items():
        if not np.isfinite(values).all():
            raise ArmError(f'some {name} are not finite')
    return samples


def _messages(file: Path, how: ReadAs, facts: dict[str, dict[str, str]]) -> Iterator[Recorded]:
    """Return the messages of MCAP or rosbag2; metadata of MCAP are added to `facts`."""
    if not file.is_dir() and not is_of_messages(file):
        raise ArmError(
            f'it must be an .mcap, .db3, {", ".join(TABLES)} file, or the folder of a bag'
            '; rosbags-convert converts a .bag of ROS 1; write others as CSV'
        )
    how.check_messages()
    return messages_of(file, facts)


def _commands(file: Path, joint_names: Sequence[str], how: ReadAs) -> tuple[Array, Stream]:
    """Return the times (m,) of the joint commands of MCAP or rosbag2 [s], and these commands."""
    names = joint_names_in(how.columns, joint_names)
    sent, *_ = streams_of(_messages(file, how, {}), names, commands=True)
    return timed(sent, how)[0], sent


def _states(
    file: Path, joint_names: Sequence[str], how: ReadAs, effort: bool = True
) -> tuple[MotionSamples, list[str]]:
    """Return the joint states of MCAP or rosbag2, and lines on them; zeros without `effort`."""
    facts: dict[str, dict[str, str]] = {}
    messages = _messages(file, how, facts)
    try:
        streams = streams_of(messages, joint_names_in(how.columns, joint_names))
    except ArmError as error:
        raise ArmError('; '.join([str(error), *stale_index(file)])) from None
    stream, lines = measured(streams, how, effort)
    times, of_clock = timed(stream, how)
    efforts = stream.effort if effort else np.zeros_like(stream.q)
    samples = MotionSamples(times, stream.q, efforts)
    if REST_PERIOD in facts.get('arm_sim', {}) and len(times) > 1:
        samples = _with_rest(samples, float(facts['arm_sim'][REST_PERIOD]))
    lines += [Doubt(line) for line in stale_index(file)]
    of_velocities = lines_on_velocities(times, stream.q, stream.v, joint_names)
    return samples, [*lines, *of_clock, *sampling(samples.times), *of_velocities]


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
