"""Collision shapes of an arm's links, read from its URDF."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import coal

from arm_dynamics.packages import packages_around
from arm_dynamics.urdf import bare


def with_shapes(
    urdf: str, find: Callable[[str], Path | None] = lambda name: None
) -> tuple[Element, str]:
    """Return a URDF's tree of links, joints and collision shapes, and a note about the shapes.

    Where no link has a collision shape, the visual shapes are used. A mesh is used where the
    function `find` returns a file for its `filename`.
    """
    whole = ElementTree.fromstring(urdf)
    tree = bare(whole)
    kind = 'collision' if whole.find('link/collision') is not None else 'visual'
    left_out, count, hulls = [], 0, False
    for link, full in zip(tree.iterfind('link'), whole.iterfind('link'), strict=True):
        for shape in full.iterfind(kind):
            geometry, origin = shape.find('geometry'), shape.find('origin')
            if geometry is None or not len(geometry):
                continue
            mesh = geometry.find('mesh')
            if mesh is not None:
                file = find(mesh.get('filename', ''))
                if file is None:
                    left_out.append(link.get('name', ''))
                    continue
                mesh.set('filename', str(file))
                hulls = True
            solid = ElementTree.SubElement(link, 'collision')
            solid.extend([geometry] if origin is None else [origin, geometry])
            count += 1
    notes = []
    if left_out:
        names = ', '.join(repr(name) for name in dict.fromkeys(left_out))
        notes.append(f'mesh files are not found or not read, and so some shapes of {names}')
    if hulls:
        notes.append('meshes count as their convex hulls')
    if not count:
        notes.append('no link has a known shape, so no collision can be found')
    elif kind == 'visual':
        notes.append('the URDF has no collision shapes: its visual shapes are used')
    return tree, '; '.join(notes)


def mesh_finder(urdf_file: str) -> Callable[[str], Path | None]:
    """Return a function that finds the file of a mesh of this URDF, if coal can read it.

    A `filename` is a path, from the URDF's folder where it is relative, or `package://NAME/PATH`:
    in a package around the URDF (see `packages_around`), or in the share folder of a ROS package
    that is sourced.
    """
    folder = Path(urdf_file).expanduser().resolve().parent if urdf_file else Path('/')
    loader = coal.MeshLoader()
    known: dict[str, Path | None] = {}

    def find(filename: str) -> Path | None:
        if filename not in known:
            read = partial(_is_read, loader)
            known[filename] = next(filter(read, candidates(filename, folder)), None)
        return known[filename]

    return find


def candidates(filename: str, folder: Path) -> list[Path]:
    """Return the paths that a `filename` in a file of this folder may mean."""
    scheme, _, rest = filename.rpartition('://')
    if scheme != 'package':
        return [folder / rest]  # which is `rest`, if that is absolute
    package, _, inside = rest.partition('/')
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    near = packages_around(folder / 'file').get(package)
    own = [near / inside] if near else []
    return own + [Path(prefix, 'share', package, inside) for prefix in prefixes if prefix]


def _is_read(loader: coal.MeshLoader, file: Path) -> bool:
    """Return whether coal reads a mesh from a file: STL, OBJ, DAE and other formats of Assimp."""
    if not file.is_file():
        return False
    try:
        return loader.load(str(file)).num_vertices > 3
    except (RuntimeError, ValueError):
        return False
