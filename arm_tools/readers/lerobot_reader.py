"""A LeRobotDataset, v2 or v3, as a recording: positions, torques or commands of its episodes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array, some_of
from arm_lab.experiments.parquet import pyarrow
from arm_lab.identification.rollouts import Followed
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.column_names import renamed
from arm_tools.readers.findings import Doubt

INFO = 'meta/info.json'
_OBSERVED = 'observation.'
STATE, EFFORT = 'observation.state', 'observation.effort'  # features
_POSITIONS = '{}.pos', '{}.position', '{}'
_EFFORTS = '{}.effort', '{}.torque', '{}.current', '{}'
_FRAME, _TIME = 'frame_index', 'timestamp'
_NO_RADIANS, _PER_CENT = 20.0, 100.0  # largest positions
_OFF = 0.01  # share by which the stated rate may be off
_LATE = 1e-3  # least difference of a stamp that is named [s]


def samples_of(folder: Path, joint_names: Sequence[str]) -> MotionSamples:
    """Return times, positions and torques of these joints of all episodes, one after another.

    Raises:
        ArmError: no torques, or other joints.
    """
    info = _info(folder)
    position = STATE, _columns(info, STATE, _POSITIONS, joint_names)
    if EFFORT in info['features']:
        effort = EFFORT, _columns(info, EFFORT, _EFFORTS, joint_names)
    else:
        try:
            effort = STATE, _columns(info, STATE, _EFFORTS[:-1], joint_names)
        except ArmError:
            others = [x for x in info['features'] if x.startswith(_OBSERVED) and x != STATE]
            has = f' (rename one of {some_of(others)}?)' * bool(others)
            raise ArmError(
                f'has no torques: no {EFFORT}{has}, and none in {STATE}; identify --from '
                'positions reads its action as commands'
            ) from None
    return MotionSamples(*_read(folder, info, position, effort))


def followed_of(folder: Path, joint_names: Sequence[str]) -> Followed:
    """Return times, positions and position commands of these joints of the longest episode.

    Raises:
        ArmError: no commands, or other joints.
    """
    info = _info(folder)
    pairs = [(x, _columns(info, x, _POSITIONS, joint_names)) for x in (STATE, 'action')]
    times, q, command = _read(folder, info, *pairs)
    longest = max(_episodes(times), key=len)
    return Followed(times[longest], q[longest], command[longest])


def lines_on(folder: Path, q: Array) -> list[str]:
    """Return lines on frames that are missing or late, and positions q in per cent."""
    _, parquet = pyarrow('a LeRobotDataset')
    info = _info(folder)
    stated = info.get('total_frames')
    files = (folder / 'data').rglob('*.parquet')
    there = sum(parquet.read_metadata(file).num_rows for file in files)
    lines = []
    if stated not in (None, there):
        lines.append(f'files: {there} frames are there, and {stated} stated in {INFO}')
    if _NO_RADIANS < np.abs(q).max(initial=0.0) <= _PER_CENT:
        lines.append(
            'positions: none is beyond 100; are they degrees, or per cent of each range, as '
            "LeRobot's drivers write them by default? Convert per cent to degrees or radians"
        )
    if off := _late(folder, info):
        lines.append(
            f'clock: {_TIME}s are up to {1e3 * off:.3g} ms off {_FRAME} / fps, which counts: '
            f'record at the stated {info["fps"]:g} fps, or write the frames into a CSV file'
        )
    return [Doubt(line) for line in lines]


def _late(folder: Path, info: dict[str, Any]) -> float:
    """Return how far stamps are off the numbers of their frames; 0: as rounding, or no stamps."""
    if _TIME not in info['features']:
        return 0.0
    table = pyarrow('a LeRobotDataset')[1].read_table(folder / 'data', columns=[_FRAME, _TIME])
    frames, stamps = (np.array(table[x].to_pylist(), float).ravel() for x in (_FRAME, _TIME))
    times = frames / float(info['fps'])
    off = max(float(np.ptp((stamps - times)[part])) for part in _episodes(times))
    rounding = 4.0 * float(np.spacing(np.float32(np.abs(stamps).max(initial=0.0))))
    return off if off > max(_LATE, rounding) else 0.0


def _info(folder: Path) -> dict[str, Any]:
    try:
        info = json.loads((folder / INFO).read_text())
    except ValueError as error:
        raise ArmError(f'{INFO} is no JSON: {error}') from None
    if not isinstance(info, dict) or not {'features', 'fps'} <= set(info):
        raise ArmError(f'{INFO} has no features or fps')
    return info


def _names(info: dict[str, Any], feature: str) -> list[str]:
    names = info['features'].get(feature, {}).get('names') or []
    if isinstance(names, dict):  # of v2: one list under a key
        names = [x for part in names.values() for x in part]
    return list(names)


def _columns(
    info: dict[str, Any], feature: str, forms: Sequence[str], joints: Sequence[str]
) -> list[int]:
    """Return where a feature has the joints.

    Raises:
        ArmError: it has others.
    """
    names = _names(info, feature)
    form = next((x for x in forms if x.format(joints[0]) in names), forms[0])
    for joint in joints:
        if names.count(form.format(joint)) != 1:
            has = ', '.join(map(str, names)) or f'no names: write them into {INFO}'
            bare = [re.sub(r'[.](pos|position)$', '', str(x)) for x in names]
            remedy = renamed(joints, bare) if feature == STATE else ''
            raise ArmError(f'{feature} has no {form.format(joint)}; it has {has}{remedy}')
    return [names.index(form.format(joint)) for joint in joints]


def _read(folder: Path, info: dict[str, Any], *wanted: tuple[str, list[int]]) -> list[Array]:
    """Return times of the frames [s] and the columns of features."""
    _, parquet = pyarrow('a LeRobotDataset')
    if not (folder / 'data').is_dir():
        raise ArmError('has no folder data')
    named = [x for x in (_TIME,) if x in info['features']]
    table = parquet.read_table(folder / 'data', columns=[*{x for x, _ in wanted}, _FRAME, *named])
    found = []
    for name, at in wanted:
        values = np.array(table[name].to_pylist(), dtype=float)
        if not len(values):
            raise ArmError('has no frames, as of a recording that was stopped at once')
        names = _names(info, name)
        if values.shape[1] != len(names):
            raise ArmError(
                f'{name} has {values.shape[1]} numbers in each frame, and {len(names)} names in '
                f'{INFO}: correct its names'
            )
        found.append(values[:, at])
    times = np.array(table[_FRAME]) / float(info['fps'])
    for stamps in (np.array(table[x].to_pylist(), dtype=float).ravel() for x in named):
        _check_rate(times, stamps, float(info['fps']))
    return [times, *found]


def _episodes(times: Array) -> list[Array]:
    """Return the numbers of the frames of each episode."""
    begins = np.flatnonzero(np.diff(times, prepend=np.inf) <= 0.0)
    return np.split(np.arange(len(times)), begins[1:])


def _check_rate(times: Array, stamps: Array, fps: float) -> None:
    """Raise ArmError where the frames of an episode have not the rate that the dataset states."""
    for part in _episodes(times):
        by_frames, by_stamps = (float(np.ptp(x[part])) for x in (times, stamps))
        if abs(by_frames - by_stamps) > max(_OFF * by_frames, 0.5 / fps):
            raise ArmError(
                f'an episode lasts {by_stamps:.4g} s by {_TIME}, and {by_frames:.4g} s by '
                f'{_FRAME} and the fps of {INFO}, {fps:g}: correct the fps, or the other'
            )
