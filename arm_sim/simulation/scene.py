"""A scene: the objects around an arm, fixed, free or jointed, read from a YAML file.

- {name: block, shape: box, size: [0.05, 0.05, 0.05], position: [0.5, 0.1, 0.025], mass: 0.2}
- {name: wall, shape: box, size: [0.02, 1.0, 0.5], position: [0.8, 0.0, 0.25], stiffness: 1e5}
- {name: lid, size: [0.2, 0.2, 0.01], position: [0.5, 0.0, 0.3], mass: 0.3, joint: hinge,
   axis: [0, 1, 0], axis_position: [-0.1, 0.0, 0.0], range: [0.0, 1.5]}
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import yaml

from arm_controllers.parameter_rows import read_rows
from arm_dynamics.checks import ArmError, in_range, text_of, unknown
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import share_folder
from arm_sim.simulation.material import Material

_SIZES = {'box': 3, 'sphere': 1, 'cylinder': 2, 'capsule': 2, 'mesh': 0}
_MOST_BYTES, _MOST_TEXT = 1_000_000, 100_000  # of a file; of a parameter


@dataclass(frozen=True, kw_only=True)
class SceneObject(Material):
    """An object around an arm.

    An object without joint and parent is free where it has a mass, and fixed where it has none.
    """

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
        (0.0, 0.0, 0.0), 'position of the object in the base frame, or in the frame of its parent '
        '[m]', length=3, min=-1e3, max=1e3,
    )  # fmt: skip
    rotation: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'roll, pitch and yaw about the axes of the base, or of the parent [rad]',
        length=3, min=-1e3, max=1e3,
    )  # fmt: skip
    mass: float = parameter(0.0, 'mass of the object [kg]; 0: the object is fixed', min=0, max=1e6)
    parent: str = parameter('', 'object further up in the scene that carries this one')
    joint: str = parameter(
        '', "joint of the object with its parent, or with the base: 'hinge' or 'slide'; empty: a "
        'child is rigidly attached', one_of=('hinge', 'slide'),
    )  # fmt: skip
    axis: tuple[float, ...] = parameter(
        (0.0, 0.0, 1.0),
        'direction of the joint in the frame of the object [1]',
        length=3,
        min=-1e3,
        max=1e3,
    )
    axis_position: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), 'a point of the axis in the frame of the object [m]', length=3,
        min=-1e3, max=1e3,
    )  # fmt: skip
    range: tuple[float, ...] = parameter(
        (), 'least and largest position of the joint [rad | m]; empty: without limits', length=2,
        min=-1e3, max=1e3,
    )  # fmt: skip
    joint_damping: float = parameter(
        0.0, 'damping of the joint [N.m.s/rad | N.s/m]', min=0, max=1e6
    )
    joint_friction: float = parameter(
        0.0, 'Coulomb friction of the joint [N.m | N]', min=0, max=1e6
    )
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
        if self.joint and not self.mass:
            raise ArmError(f'joint is {self.joint!r}, but the object has no mass')
        if not any(self.axis):
            raise ArmError('axis is zero; it must have a direction')
        if self.range and not (self.joint and self.range[0] < self.range[1]):
            raise ArmError(f'range is {self.range}; a joint has one that rises, others have none')

    @property
    def is_free(self) -> bool:
        """Whether the object moves freely."""
        return self.mass > 0.0 and not self.joint and not self.parent


def scene_names() -> list[str]:
    """Return the names of the shipped scenes."""
    return sorted(path.stem for path in (share_folder() / 'config' / 'scenes').glob('*.yaml'))


def scene_file(name: str) -> Path:
    """Return the file of a scene: a shipped one, YAML or MJCF (`.xml`).

    Raises:
        ArmError: there is no such shipped scene.
    """
    file = Path(name).expanduser()
    if file.suffix not in ('.yaml', '.yml', '.xml'):
        file = share_folder() / 'config' / 'scenes' / f'{name}.yaml'
        if not file.is_file():
            raise unknown('scene', name, scene_names())
    return file


def read_scene(name: str) -> tuple[SceneObject, ...]:
    """Return the objects of a shipped scene or YAML file; fixed ones first; '' has none.

    Raises:
        ArmError: with file, object and value: no such scene, or a file that is none.
    """
    if not name:
        return ()
    file = scene_file(name)
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ArmError(f'scene {file}: cannot be read: {error}') from None


@cache
def _read(file: Path, mtime_ns: int) -> tuple[SceneObject, ...]:
    """Return the objects of a file, by its time of change [ns]; an arm of a batch reads it too."""
    text = text_of(file, f'scene {file}: cannot be read', _MOST_BYTES)
    return read_objects(text, f'scene {file}', file.parent, _MOST_BYTES)


@lru_cache(maxsize=8)
def read_objects(
    text: str, where: str = 'objects', folder: Path = Path(), most: int = _MOST_TEXT
) -> tuple[SceneObject, ...]:
    """Return the objects of a YAML text, a list; '' has none.

    `folder`: of the files of meshes; `most`: characters that are allowed.

    Raises:
        ArmError: with `where`, object and value.
    """
    objects = read_rows(SceneObject, text, where, 'object', most)
    moving: dict[str, bool] = {}
    for each in objects:
        name, parent = each.name, each.parent
        if name in moving:
            raise ArmError(f'{where}: two objects have the name {name!r}')
        if parent and parent not in moving:
            raise ArmError(
                f'{where}: parent of {name!r} is {parent!r}; it must be an object further up'
            )
        moving[name] = each.is_free or bool(each.joint) or moving.get(parent, False)
    placed = [
        replace(each, file=str((folder / each.file).resolve())) if each.file else each
        for each in objects
    ]
    return tuple(sorted(placed, key=lambda each: moving[each.name]))


def objects_text(objects: Iterable[SceneObject]) -> str:
    """Return the YAML text of objects, which `read_objects` reads with the same numbers."""
    rows = [
        {
            each.name: np.asarray(value).tolist()  # NumPy's numbers, too
            for each in fields(SceneObject)
            if not np.array_equal(value := getattr(one, each.name), np.asarray(each.default))
        }
        for one in objects
    ]
    return yaml.safe_dump(rows, default_flow_style=None, sort_keys=False, width=9999) * bool(rows)
