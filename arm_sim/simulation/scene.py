"""A scene: the objects around an arm, fixed or free, read from a YAML file.

- {name: block, shape: box, size: [0.05, 0.05, 0.05], position: [0.5, 0.1, 0.025], mass: 0.2}
- {name: wall, shape: box, size: [0.02, 1.0, 0.5], position: [0.8, 0.0, 0.25], stiffness: 1e5}
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from arm_controllers.parameter_file import Loader
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, in_range, text_of, unknown
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import share_folder
from arm_sim.simulation.material import Material

_SIZES = {'box': 3, 'sphere': 1, 'cylinder': 2, 'capsule': 2, 'mesh': 0}
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SceneObject(Material):
    """An object in the base frame of the arm; an object with a mass is free, others are fixed."""

    name: str = ''
    shape: str = parameter('box', 'shape of the object', one_of=tuple(_SIZES))
    size: tuple[float, ...] = parameter(
        (),
        'size of the object [m]; box: along x, y, z; sphere: diameter; cylinder, capsule: '
        'diameter and length of the cylinder; mesh: none',
        above=0,
    )
    file: str = parameter('', 'file of a mesh (STL, OBJ), relative to the scene; taken as convex')
    position: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'position of the object in the base frame [m]', length=3
    )
    rotation: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'roll, pitch and yaw about the axes of the base [rad]', length=3
    )
    mass: float = parameter(0.0, 'mass of the object [kg]; 0: the object is fixed', min=0, max=1e6)
    colour: tuple[float, ...] = parameter(
        (0.85, 0.45, 0.2), 'red, green and blue of the object [1]', length=3, min=0, max=1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name:
            raise ArmError('an object has no name')
        wanted = _SIZES[self.shape]
        if len(self.size) != wanted:
            raise ArmError(f'size has {len(self.size)} numbers; a {self.shape} needs {wanted}')
        for each in self.size:
            in_range('size', each, 0.0, 1e3, True)
        if (self.shape == 'mesh') != bool(self.file):
            raise ArmError(f'file is {self.file!r}; a mesh needs one, other shapes have none')


def scene_names() -> list[str]:
    """Return the names of the shipped scenes."""
    return sorted(path.stem for path in (share_folder() / 'config' / 'scenes').glob('*.yaml'))


def read_scene(name: str) -> tuple[SceneObject, ...]:
    """Return the objects of a shipped scene, or of a file; fixed ones first; '' has none.

    Raises:
        ArmError: with file, object and value: no such scene, or a file that is none.
    """
    if not name:
        return ()
    file = Path(name).expanduser()
    if file.suffix not in ('.yaml', '.yml'):
        file = share_folder() / 'config' / 'scenes' / f'{name}.yaml'
        if not file.is_file():
            raise unknown('scene', name, scene_names())
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ArmError(f'scene {file}: cannot be read: {error}') from None


@cache
def _read(file: Path, mtime_ns: int) -> tuple[SceneObject, ...]:
    """Return the objects of a file, by its time of change [ns]; an arm of a batch reads it too."""
    try:
        rows = Loader(text_of(file, _MOST_BYTES)).get_single_data()
    except UnicodeDecodeError as error:
        raise ArmError(f'scene {file}: cannot be read: {error}') from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ArmError(f'scene {file}: not YAML: {" ".join(str(error).split())}') from None
    if not isinstance(rows, list):
        raise ArmError(f'scene {file}: a list of objects is expected')
    objects = [_object(row, f'scene {file}, object {k + 1}') for k, row in enumerate(rows)]
    names = [each.name for each in objects]
    for each in names:
        if names.count(each) > 1:
            raise ArmError(f'scene {file}: two objects have the name {each!r}')
    placed = [
        replace(each, file=str((file.parent / each.file).resolve())) if each.file else each
        for each in objects
    ]
    return tuple(sorted(placed, key=lambda each: each.mass > 0.0))


def _object(row: Any, where: str) -> SceneObject:
    known = [each.name for each in fields(SceneObject)]
    if not isinstance(row, Mapping):
        raise ArmError(f'{where}: {row!r} is not a list of names and values')
    where += f' ({row["name"]})' if isinstance(row.get('name'), str) else ''
    for name in row:
        if name not in known:
            raise ArmError(f'{where}: {unknown("key", str(name), known)}')
    try:
        return read_fields(SceneObject, row)
    except ArmError as error:
        raise ArmError(f'{where}: {error}') from None
