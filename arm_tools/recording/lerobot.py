"""Recordings as a LeRobotDataset v3, the format of LeRobot for training data.

Each recording is one episode, sampled at a constant rate. Its features:

    observation.state         positions and velocities of the joints [rad | m | rad/s | m/s]
    observation.effort        torques that were applied [N.m | N]
    action                    the command that answers the state, in its own unit
    observation.images.NAME   the newest picture of a camera, as PNG
"""

import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from arm_dynamics.checks import ArmError, Array
from arm_lab.experiments.parquet import pyarrow
from arm_lab.identification.signals import MotionSamples
from arm_sim.output_folder import whole_file
from arm_tools.inspection.position_units import in_radians
from arm_tools.inspection.wrong_numbers import model_of, wrong_numbers
from arm_tools.readers.findings import Doubt
from arm_tools.readers.joint_streams import STATES, measured_states
from arm_tools.readers.lerobot_reader import EFFORT, INFO, STATE
from arm_tools.readers.read_options import AS_FOUND, ReadAs
from arm_tools.readers.recorded_messages import Recorded, messages_of, reading, stale_index
from arm_tools.readers.ros_messages import IMAGE, JOINT_STATE, Decoded, decoder, seconds

_DATA, _EPISODES = 'data/chunk-000/file-000.parquet', 'meta/episodes/chunk-000/file-000.parquet'
_TASKS, _STATS = 'meta/tasks.parquet', 'meta/stats.json'
_PICTURES = 'observation.images.'  # begins the names of features
_SHORT = {'position': 'pos', 'velocity': 'vel', 'effort': 'effort'}
_TOUCHED = '/external_wrench', '/simulator/objects'  # topics of an arm that is not alone
_SOON = 1e-9  # a command with a state's own stamp answers that state [s]
_CHANNELS = {'rgb8': 3, 'mono8': 1}  # of pictures, by encoding
_QUANTILES = (0.01, 0.1, 0.5, 0.9, 0.99)


class Episode(NamedTuple):
    """A recording, sampled at a constant rate.

    Attributes:
        robot: name in the URDF; empty: no URDF was recorded.
        task: name of the task, or of the file.
        names: (m,) of the numbers of each feature.
        numbers: (k, m) by feature.
        pictures: (k,) of arrays (height, width, channels) by feature.
        findings: what the recording is.
    """

    robot: str
    task: str
    names: dict[str, list[str]]
    numbers: dict[str, Array]
    pictures: dict[str, list[np.ndarray]]
    findings: Sequence[str] = ()


def episode_of(path: Path | str, fps: int, how: ReadAs = AS_FOUND) -> Episode:
    """Return a recording at a rate [Hz]: the state next to each time, and its command.

    The episode begins with the first state that a command answers.

    Args:
        path: of the recording.
        fps: the rate.
        how: the measured states are read.

    Raises:
        ArmError: names the file and what is missing in it.
    """
    with reading(path) as file:
        facts: dict[str, dict[str, str]] = {}
        messages, namespace, findings = measured_states(list(messages_of(file, facts)), how)
        stamped, urdf = _decoded(messages)
        states, own = stamped.get(f'{namespace}{STATES}', []), f'{namespace}/'
        commands = stamped.get(f'{own}joint_commands', [])
        for what, found in (('joint_states', states), ('joint_commands', commands)):
            if not found:
                raise ArmError(f'it has no {what}')
        joints = list(states[0][1].name)
        field = next((x for x in _SHORT if len(getattr(commands[0][1], x))), 'position')
        times, measured = _numbers(states, joints, tuple(_SHORT))
        sent, command = _numbers(commands, joints, (field,))
        rows, instants = _rows(times, float(sent[0]), fps)
        tree = ElementTree.fromstring(urdf or '<robot/>')
        slides = [x.get('name', '') for x in tree.iterfind("joint[@type='prismatic']")]
        prismatic = np.isin(joints, slides)
        unit = np.where(prismatic | (how.units != 'deg'), 1.0, np.radians(1.0))
        q = in_radians(measured[0], joints, prismatic, how.units)
        findings += [Doubt(line) for line in stale_index(file)]
        if not any(_explains(message, namespace) for message in messages):
            findings += _wrong_numbers(urdf, joints, MotionSamples(times, q, measured[2]))
        q, v, effort = q[rows], measured[1][rows] * unit, measured[2][rows]
        answer = command[0][np.searchsorted(sent, times[rows] + _SOON) - 1]
        answer = answer if field == 'effort' else answer * unit
        pictures = {}
        for topic, taken in stamped.items():
            if topic.startswith(own) and getattr(taken[0][1], 'encoding', '') in _CHANNELS:
                name = topic.removeprefix(own).removesuffix('/image_raw').removesuffix('/color')
                newest = np.searchsorted([t for t, _ in taken], instants + _SOON) - 1
                shown = [_picture(each) for _, each in taken]
                pictures[_PICTURES + name.replace('/', '.')] = [shown[max(k, 0)] for k in newest]
        task = json.loads(facts['task']['facts'])['task'] if 'task' in facts else file.stem
    names = {
        STATE: [f'{joint}.{x}' for x in ('pos', 'vel') for joint in joints],
        EFFORT: [f'{joint}.effort' for joint in joints],
        'action': [f'{joint}.{_SHORT[field]}' for joint in joints],
    }
    numbers = {STATE: np.hstack([q, v]), EFFORT: effort, 'action': answer}
    return Episode(tree.get('name', ''), task, names, numbers, pictures, findings)


def _decoded(messages: Sequence[Recorded]) -> tuple[dict[str, list[tuple[float, Decoded]]], str]:
    """Return states and pictures by topic with their times [s], and the text of the URDF."""
    stamped: dict[str, list[tuple[float, Decoded]]] = {}
    urdf = ''
    for message in messages:
        if message.kind in (JOINT_STATE, IMAGE):
            each = decoder(message.kind)(message.data)
            stamped.setdefault(message.topic, []).append((seconds(each), each))
        elif message.topic.endswith('/robot_description') and not urdf:
            urdf = decoder(message.kind)(message.data).data
    return stamped, urdf


def _explains(message: Recorded, namespace: str) -> bool:
    """Return whether a message is of a touch, or of a simulator that says what it simulates."""
    if message.topic == '/parameter_events':
        return bool(decoder(message.kind)(message.data).node == f'{namespace}/simulator')
    return message.topic.removeprefix(namespace) in _TOUCHED


def _wrong_numbers(urdf: str, joints: Sequence[str], samples: MotionSamples) -> list[str]:
    """Return what the states are not, if the recording has the arm."""
    model = model_of(urdf)
    if model is None or not set(model.joint_names) <= set(joints):
        return []
    order = [joints.index(name) for name in model.joint_names]
    own = MotionSamples(samples.times, samples.q[:, order], samples.effort[:, order])
    return wrong_numbers(model, own)


def _numbers(
    stamped: Sequence[tuple[float, Decoded]], joints: Sequence[str], fields: Sequence[str]
) -> tuple[Array, list[Array]]:
    """Return times (k,) and fields (k, n) of JointStates, each time once."""
    times, first = np.unique([t for t, _ in stamped], return_index=True)
    if (np.diff(first) < 0).any():
        raise ArmError('its stamps go back; record without a reset')
    found = []
    for field in fields:
        rows = [getattr(stamped[k][1], field) for k in first]
        if any(list(stamped[k][1].name) != list(joints) for k in first) or not all(map(len, rows)):
            raise ArmError(f'not every message has the {field} of {", ".join(joints)}')
        found.append(np.array(rows))
    return times, found


def _rows(times: Array, begin: float, fps: int) -> tuple[NDArray[np.intp], Array]:
    """Return the indices (k,) of the states next to the instants (k,) [s] of an episode."""
    first = int(np.searchsorted(times, begin - _SOON))
    times = times[first:]
    if len(times) < 2:
        raise ArmError('it has fewer than two states with a command')
    rate = 1.0 / float(np.median(np.diff(times)))
    if fps > rate * (1.0 + 1e-6):
        raise ArmError(f'it has {rate:.4g} states per second; --fps is {fps}')
    count = int((times[-1] - times[0]) * fps + 1e-6) + 1
    instants = times[0] + np.arange(count) / fps
    after = np.clip(np.searchsorted(times, instants), 1, len(times) - 1)
    nearer = instants - times[after - 1] <= times[after] - instants
    return first + after - nearer, instants


def _picture(message: Decoded) -> np.ndarray:
    """Return the pixels (height, width, channels) of an Image."""
    h, w, channels = message.height, message.width, _CHANNELS[message.encoding]
    return message.data.reshape(h, message.step)[:, : w * channels].reshape(h, w, channels)


def write_dataset(folder: Path, episodes: Sequence[Episode], fps: int) -> int:
    """Write a LeRobotDataset v3; return the number of frames.

    Args:
        folder: of the dataset; an earlier one that this function wrote is replaced.
        episodes: with the same features.
        fps: frames per second [Hz].

    Raises:
        ArmError: episodes that do not fit together, other files in the folder, no pyarrow.
    """
    arrow, parquet = pyarrow('the export')
    ours = {folder / name for name in (INFO, _DATA, _EPISODES, _TASKS, _STATS)}
    others = [x for part in ('data', 'meta', 'videos') for x in (folder / part).rglob('*.*')]
    if foreign := sorted(set(others) - ours):
        raise ArmError(f'output_dir has {str(foreign[0])!r}, of another dataset; choose another')
    first = episodes[0]
    for each in episodes[1:]:
        if each.names != first.names or set(each.pictures) != set(first.pictures):
            raise ArmError('the recordings have different joints, commands or cameras')
    features, tasks = _features(first), list(dict.fromkeys(each.task for each in episodes))
    parts, rows, everything, start = [], [], [], 0
    for number, each in enumerate(episodes):
        count = len(each.numbers['action'])
        columns = _columns(each, number, start, tasks.index(each.task), fps)
        stats = {name: _stats(columns[name], features[name]) for name in features}
        parts.append({name: _arrow(arrow, columns[name], features[name]) for name in features})
        rows.append({
            'episode_index': number, 'tasks': [each.task], 'length': count,
            'data/chunk_index': 0, 'data/file_index': 0,
            'dataset_from_index': start, 'dataset_to_index': start + count,
            'meta/episodes/chunk_index': 0, 'meta/episodes/file_index': 0,
            **{f'stats/{x}/{y}': v for x, of in stats.items() for y, v in of.items()},
        })  # fmt: skip
        everything.append(columns)
        start += count
    whole = {
        name: _stats([x for columns in everything for x in columns[name]], features[name])
        for name in features
    }
    info = {
        'codebase_version': 'v3.0', 'robot_type': first.robot or None,
        'total_episodes': len(episodes), 'total_frames': start, 'total_tasks': len(tasks),
        'chunks_size': 1000, 'data_files_size_in_mb': 100, 'video_files_size_in_mb': 200,
        'fps': fps, 'splits': {'train': f'0:{len(episodes)}'},
        'data_path': 'data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet',
        'video_path': None, 'features': features,
    }  # fmt: skip
    # pandas, with which LeRobot reads the tasks, finds its index in the metadata.
    task = {'name': 'task', 'field_name': 'task', 'pandas_type': 'unicode',
            'numpy_type': 'object', 'metadata': None}  # fmt: skip
    index = {'index_columns': ['task'], 'columns': [task], 'column_indexes': []}
    task_table = arrow.table({'task_index': range(len(tasks)), 'task': tasks})
    tables = {
        _DATA: arrow.concat_tables([arrow.table(part) for part in parts]),
        _EPISODES: arrow.Table.from_pylist(rows),
        _TASKS: task_table.replace_schema_metadata({'pandas': json.dumps(index)}),
    }
    for name, table in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / name) as file:
            parquet.write_table(table, file)
    for name, content in ((_STATS, whole), (INFO, info)):
        with whole_file(folder / name) as file:
            file.write(json.dumps(content, indent=4).encode())
    return start


def _features(episode: Episode) -> dict[str, dict[str, object]]:
    """Return the features as `meta/info.json` describes them."""
    found: dict[str, dict[str, object]] = {
        name: {'dtype': 'float32', 'shape': [len(names)], 'names': names}
        for name, names in episode.names.items()
    }
    for name, pictures in episode.pictures.items():
        shape = list(pictures[0].shape)
        found[name] = {'dtype': 'image', 'shape': shape, 'names': ['height', 'width', 'channels']}
    found['timestamp'] = {'dtype': 'float32', 'shape': [1], 'names': None}
    for name in ('frame_index', 'episode_index', 'index', 'task_index'):
        found[name] = {'dtype': 'int64', 'shape': [1], 'names': None}
    return found


def _columns(episode: Episode, number: int, start: int, task: int, fps: int) -> dict[str, Any]:
    """Return the values of each feature, one per frame."""
    frames = np.arange(len(episode.numbers['action']))
    return {
        **{name: each.astype(np.float32) for name, each in episode.numbers.items()},
        **episode.pictures,
        'timestamp': (frames / fps).astype(np.float32),
        'frame_index': frames,
        'episode_index': np.full_like(frames, number),
        'index': start + frames,
        'task_index': np.full_like(frames, task),
    }


def _arrow(arrow: ModuleType, values: Any, feature: dict[str, Any]) -> Any:
    """Return a column for Parquet."""
    if feature['dtype'] == 'image':
        kind = arrow.struct([('bytes', arrow.binary()), ('path', arrow.string())])
        files = {id(x): _png(x) for x in {id(x): x for x in values}.values()}
        return arrow.array([{'bytes': files[id(x)], 'path': None} for x in values], kind)
    kind, (size,) = arrow.from_numpy_dtype(np.dtype(feature['dtype'])), feature['shape']
    if values.ndim == 1:
        return arrow.array(values, kind)
    return arrow.FixedSizeListArray.from_arrays(arrow.array(values.ravel(), kind), size)


def _png(picture: np.ndarray) -> bytes:
    with io.BytesIO() as file:
        Image.fromarray(picture.squeeze()).save(file, 'PNG')
        return file.getvalue()


def _stats(values: Any, feature: dict[str, Any]) -> dict[str, list[object]]:
    """Return the statistics of a feature; of pictures per channel, as shares of 255."""
    shape: tuple[int, ...] = (-1,)
    if feature['dtype'] == 'image':
        shape = (feature['shape'][2], 1, 1)
        distinct: Iterable[np.ndarray] = {id(x): x for x in values}.values()
        rows = np.concatenate([x.reshape(-1, shape[0]) for x in distinct]) / 255.0
    else:
        rows = np.asarray(values, dtype=float).reshape(len(values), -1)
    found = {'min': rows.min(0), 'max': rows.max(0), 'mean': rows.mean(0), 'std': rows.std(0)}
    for share, row in zip(_QUANTILES, np.quantile(rows, _QUANTILES, axis=0), strict=True):
        found[f'q{100 * share:02.0f}'] = row
    return {name: x.reshape(shape).tolist() for name, x in found.items()} | {
        'count': [len(values)]
    }
