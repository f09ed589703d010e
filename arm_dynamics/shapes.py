"""Collision shapes of an arm's links, read from its URDF."""

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import coal
import numpy as np

from arm_dynamics.checks import ArmError, Array, one_line
from arm_dynamics.urdf import bare
from arm_dynamics.urdf_elements import number_text, vector

ONES = np.ones(3)
_FLAT = 1e-9  # thickness of a mesh that has no volume, as a share of its length


def with_shapes(
    urdf: str, find: Callable[[str], Path | str] = lambda name: ''
) -> tuple[Element, str]:
    """Return a URDF's tree of links, joints and collision shapes, and a note about the shapes.

    Where no link has a collision shape, the visual shapes are used. A mesh is used where the
    function `find` returns a file for its `filename`; else it returns why there is none, or ''.
    """
    whole = ElementTree.fromstring(urdf)
    tree = bare(whole)
    kind = 'collision' if whole.find('link/collision') is not None else 'visual'
    left_out: dict[str, str] = {}
    for link, full in zip(tree.iterfind('link'), whole.iterfind('link'), strict=True):
        for shape in full.iterfind(kind):
            geometry, origin = shape.find('geometry'), shape.find('origin')
            if geometry is None or not len(geometry):
                continue
            del geometry[1:]
            mesh = geometry.find('mesh')
            if mesh is not None:
                file = find(mesh.get('filename', ''))
                if isinstance(file, str):
                    left_out.setdefault(repr(link.get('name', '')), file)
                    continue
                mesh.set('filename', str(file))
                mesh.set('scale', number_text(vector(mesh, 'scale', '1 1 1') * unit_of(file)))
            solid = ElementTree.SubElement(link, 'collision')
            solid.extend([geometry] if origin is None else [origin, geometry])
    notes = []
    if left_out:
        what = f'mesh files are not found or not read, and so some shapes of {", ".join(left_out)}'
        notes.append(': '.join(filter(None, (what, *[*left_out.values()][:1]))))
    if tree.find('link/collision/geometry/mesh') is not None:
        notes.append('meshes count as their convex hulls')
    if tree.find('link/collision') is None:
        notes.append('no link has a known shape, so no collision can be found')
    elif kind == 'visual':
        notes.append('the URDF has no collision shapes: its visual shapes are used')
    return tree, '; '.join(notes)


def mesh_finder(urdf_file: str) -> Callable[[str], Path | str]:
    """Return a function that finds the file of a mesh of this URDF; else why coal reads none.

    A `filename` is a path, from the URDF's folder where it is relative, or `package://NAME/PATH`:
    in a package around the URDF (see `packages_around`), or in the share folder of a ROS package
    that is sourced.
    """
    folder = Path(urdf_file).expanduser().resolve().parent if urdf_file else Path('/')
    from arm_dynamics.mesh_files import usable
    from arm_dynamics.packages import packages_around

    around = cache(packages_around)

    @cache
    def find(filename: str) -> Path | str:
        return usable(filename, candidates(filename, folder, around), read_mesh)

    return find


def candidates(
    filename: str, folder: Path, around: Callable[[Path], dict[str, Path]] | None = None
) -> list[Path]:
    """Return the paths that a `filename` in a file of this folder may mean."""
    scheme, _, rest = filename.rpartition('://')
    if scheme != 'package':
        return [folder / rest]  # which is `rest`, if that is absolute
    from arm_dynamics.packages import in_sources, leads_out, packages_around  # of package://

    if leads_out(rest):
        return []
    package, _, inside = rest.partition('/')
    inside = inside.lstrip('/')  # else it is a path of its own, out of the package
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    near = (around or packages_around)(folder / 'file').get(package)
    own = in_sources(near, inside) if near else []
    return own + [Path(prefix, 'share', package, inside) for prefix in prefixes if prefix]


def read_mesh(file: str | Path, scale: Array = ONES) -> coal.BVHModelBase:
    """Return the mesh of a file, scaled (3,): STL, OBJ, DAE and other formats of Assimp.

    Raises:
        ArmError: no mesh, or one without a volume or with numbers that are not finite: coal's
            convex hull of it ends the process.
    """
    try:
        mesh = coal.MeshLoader().load(str(file), scale * unit_of(file))
    except (RuntimeError, ValueError) as error:
        raise ArmError(f'mesh {file}: {one_line(error)}') from None
    points = np.asarray(mesh.vertices())
    if not np.isfinite(points).all():
        raise ArmError(f'mesh {file}: not all of its points are finite')
    extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 4 or extent[2] <= _FLAT * extent[0]:
        raise ArmError(f'mesh {file}: its {len(points)} points lie in a plane; allowed: a solid')
    return mesh


def unit_of(file: str | Path) -> float:
    """Return the unit of a mesh [m], which only COLLADA states: coal does not read it.

    Raises:
        ArmError: it is not a number above 0.
    """
    if Path(file).suffix.lower() != '.dae':
        return 1.0
    stated = re.search(rb'<unit\b[^>]*\bmeter=["\']([^"\']*)', Path(file).read_bytes()[:100_000])
    unit = float(stated[1]) if stated else 1.0
    if not 0.0 < unit < np.inf:
        raise ArmError(f'<unit meter="{unit:g}"> must be above 0')
    return unit
