"""Goal files: a goal of FollowJointTrajectory in YAML, as ROS's tools print it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import ArmError, Array, text_of
from arm_dynamics.model import RobotModel
from arm_sim.output_folder import whole_file

_STATES = ('positions', 'velocities', 'accelerations')
_MOST_BYTES = 10**8
_DEEPEST = 20


def write_goal(path: Path | str, goal: Goal) -> None:
    """Write a goal with positions, velocities and accelerations at each point."""
    assert goal.velocities is not None
    assert goal.accelerations is not None
    lines = ['trajectory:', f'  joint_names: {list(goal.joint_names)}', '  points:']
    rows = zip(goal.times, goal.positions, goal.velocities, goal.accelerations, strict=True)
    for time, *states in rows:
        told = [
            f'{name}: [{", ".join(f"{x:.12f}" for x in values)}]'
            for name, values in zip(_STATES, states, strict=True)
        ]
        sec, nanosec = divmod(round(float(time) * 1e9), 10**9)
        told.append(f'time_from_start: {{sec: {sec}, nanosec: {nanosec}}}')
        lines.append(f'  - {{{", ".join(told)}}}')
    with whole_file(path) as file:
        file.write(('\n'.join(lines) + '\n').encode())


def read_goal(path: Path | str, model: RobotModel) -> Goal:
    """Return the goal of a file, its joints in the model's order.

    Raises:
        ArmError: names the file and what is wrong in it.
    """
    tree = _tree(path)
    try:
        told = tree['trajectory']
        names, points = [str(name) for name in told['joint_names']], told['points']
        if sorted(names) != sorted(model.joint_names):
            raise ArmError(f'its joints are {names}; the robot has {list(model.joint_names)}')
        order = [names.index(name) for name in model.joint_names]
        stamps = [each['time_from_start'] for each in points]
        times = np.array([each['sec'] + 1e-9 * each['nanosec'] for each in stamps])
        states = [_values([each[name] for each in points], len(order)) for name in _STATES]
        if len(times) < 2 or not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
            raise ArmError('it needs two points or more, at times that increase')
    except ArmError as error:
        raise ArmError(f'goal file {str(path)!r}: {error}') from None
    except (KeyError, TypeError, ValueError, IndexError) as error:
        what = f'no {error}' if isinstance(error, KeyError) else str(error)
        raise ArmError(
            f'goal file {str(path)!r}: {what}; it must be {{trajectory: {{joint_names, points: '
            f'[{{{", ".join(_STATES)}, time_from_start: {{sec, nanosec}}}}]}}}}'
        ) from None
    q, v, a = (each[:, order] for each in states)
    return Goal(model.joint_names, times, q, v, a)


def _tree(path: Path | str) -> Any:
    file = Path(path).expanduser()
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise ArmError(f'goal file {str(path)!r} is larger than {_MOST_BYTES // 10**6} MB')
        text = text_of(file, _MOST_BYTES)
    except (OSError, UnicodeDecodeError) as error:
        raise ArmError(f'goal file {str(path)!r} cannot be read: {error}') from None
    loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # ten times as quick
    try:
        simple = _is_simple(yaml.parse(text, Loader=loader))
        tree = loader(text).get_single_data() if simple else None
    except (yaml.YAMLError, ValueError) as error:
        told = ' '.join(str(error).split())
        raise ArmError(f'goal file {str(path)!r} is not YAML: {told}') from None
    if not simple:
        raise ArmError(f'goal file {str(path)!r} has an alias (*name) or {_DEEPEST} nested levels')
    return tree


def _is_simple(events: Iterator[yaml.Event]) -> bool:
    """Whether YAML has no alias, ten of which can stand for 10^10 numbers, and is not deep.

    Of 100 000 brackets the quick loader dies.
    """
    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth == _DEEPEST:
            return False
    return True


def _values(rows: list[Any], n: int) -> Array:
    values = np.array(rows, dtype=float)
    if values.shape != (len(rows), n) or not np.isfinite(values).all():
        raise ArmError(f'each point needs {n} finite {", ".join(_STATES)}')
    return values
