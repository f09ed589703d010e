"""Goal files: a goal of FollowJointTrajectory in YAML, as ROS's tools print it."""

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import ArmError, one_line, text_of
from arm_dynamics.model import RobotModel
from arm_sim.output_folder import whole_file

_STATES = ('positions', 'velocities', 'accelerations')
_FORM = (
    f'{{trajectory: {{joint_names, points: [{{{", ".join(_STATES)}, '
    'time_from_start: {sec, nanosec}}]}}'
)
_MOST_BYTES = 10**8
_DEEPEST = 20  # libyaml crashes at 100 000 nested brackets
# libyaml is ten times as fast as PyYAML's own classes, where PyYAML is built with it.
_Loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
_Dumper = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)


def write_goal(path: Path | str, goal: Goal) -> None:
    """Write a goal with positions, velocities and accelerations at each point."""
    states = [np.round(getattr(goal, name), 12).tolist() for name in _STATES]
    points = [
        dict(zip(_STATES, rows, strict=True))
        | {'time_from_start': dict(zip(('sec', 'nanosec'), divmod(ns, 10**9), strict=True))}
        for *rows, ns in zip(*states, np.rint(1e9 * goal.times).astype(int).tolist(), strict=True)
    ]
    tree = {'trajectory': {'joint_names': list(goal.joint_names), 'points': points}}
    with whole_file(path) as file:
        yaml.dump(
            tree, file, _Dumper, encoding='utf-8', default_flow_style=None, sort_keys=False,
            width=10**6,
        )  # fmt: skip


def read_goal(path: Path | str, model: RobotModel, needed: tuple[str, ...] = _STATES) -> Goal:
    """Return the goal of a file, its joints in the model's order.

    `needed`: what each point has; the rest of positions, velocities and accelerations may be
    missing at all points.

    Raises:
        ArmError: names the file and what is wrong in it.
    """
    refusal = f'goal file {str(path)!r} cannot be read'
    text = text_of(Path(path).expanduser(), refusal, _MOST_BYTES)
    try:
        return _goal(_tree(text), model, needed)
    except ArmError as error:
        why = f': {error}'
    except yaml.YAMLError as error:
        why = f' is not YAML: {one_line(error)}'
    except (KeyError, TypeError, ValueError, IndexError) as error:
        missing = 'no ' if isinstance(error, KeyError) else ''
        why = f': {missing}{error}; it must be {_FORM}'
    raise ArmError(f'goal file {str(path)!r}{why}')


def _tree(text: str) -> object:
    """Return the content of a YAML text without aliases, ten of which can mean 10^10 numbers."""
    levels = accumulate(
        isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if not isinstance(event, yaml.AliasEvent)
        else _DEEPEST
        for event in yaml.parse(text, Loader=_Loader)
    )
    if any(level >= _DEEPEST for level in levels):
        raise ArmError(f'it has an alias (*name) or {_DEEPEST} nested levels')
    return _Loader(text).get_single_data()


def _goal(tree: Any, model: RobotModel, needed: tuple[str, ...]) -> Goal:
    names = [str(name) for name in tree['trajectory']['joint_names']]
    if sorted(names) != sorted(model.joint_names):
        raise ArmError(f'its joints are {names}; the robot has {list(model.joint_names)}')
    order, points = [names.index(name) for name in model.joint_names], tree['trajectory']['points']
    stamps = [each['time_from_start'] for each in points]
    times = np.array([stamp['sec'] + 1e-9 * stamp['nanosec'] for stamp in stamps])
    given = [name for name in _STATES if name in needed or any(name in each for each in points)]
    states = [np.array([each[name] for each in points], dtype=float) for name in given]
    if any(x.shape != (len(times), len(names)) or not np.isfinite(x).all() for x in states):
        raise ArmError(f'each point needs {len(names)} finite {", ".join(given)}')
    if len(times) < 2 or not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise ArmError('it needs two or more points at increasing times')
    rows = {name: each[:, order] for name, each in zip(given, states, strict=True)}
    others = rows.get('velocities'), rows.get('accelerations')
    return Goal(model.joint_names, times, rows['positions'], *others)
