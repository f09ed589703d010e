"""Finds models of example-robot-data and robot_descriptions by name, where these are installed."""

import importlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from arm_dynamics.checks import ArmError, one_line


def named_models(name: str) -> tuple[Path, str] | None:
    """Return the file of a model of an installed package, and arguments for its xacro.

    None if there is no such model.

    `panda` is a file of example-robot-data; `panda_description` is a module of
    robot_descriptions, which fetches its files by git when it is used for the first time.

    Raises:
        ArmError: several files have this name, or the model's files cannot be fetched.
    """
    files = example_models().get(name, ()) or example_models().get(f'{name}_robot', ())
    if len(files) > 1:
        paths = ', '.join(map(str, files))
        raise ArmError(f'robot {name!r} is several files: {paths}; give the path of one')
    return (files[0], '') if files else _of_robot_descriptions(name)


@cache
def example_models() -> dict[str, tuple[Path, ...]]:
    """Return the URDF files of example-robot-data by their names."""
    models: dict[str, tuple[Path, ...]] = {}
    for folder in _prefixes():
        robots = folder / 'share' / 'example-robot-data' / 'robots'
        for file in sorted(robots.glob('*/*/*.urdf')):
            models[file.stem] = (*models.get(file.stem, ()), file)
        if models:
            break
    return models


def _prefixes() -> Iterator[Path]:
    """Yield the prefixes in which PyPI's wheel or a ROS package may be installed."""
    yield from (Path(folder) / 'cmeel.prefix' for folder in sys.path)
    yield from map(Path, filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(':')))


def _of_robot_descriptions(name: str) -> tuple[Path, str] | None:
    if not re.fullmatch(r'[a-z]\w*_description', name) or not find_spec('robot_descriptions'):
        return None
    if not find_spec(f'robot_descriptions.{name}'):
        return None
    try:
        module = importlib.import_module(f'robot_descriptions.{name}')
    except Exception as error:  # git's, the network's
        why = f'robot_descriptions cannot fetch it: {one_line(error)}'
        raise ArmError(f'robot {name!r}: {why}') from None
    arguments = getattr(module, 'XACRO_ARGS', {}).items()
    for kind in ('URDF_PATH', 'XACRO_PATH', 'MJCF_PATH'):
        if hasattr(module, kind):
            return Path(getattr(module, kind)), shlex.join(f'{key}:={x}' for key, x in arguments)
    return None
