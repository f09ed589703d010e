"""The file of a mesh, or why there is none, in one line with the remedy."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from arm_dynamics.checks import ArmError
from arm_dynamics.packages import leads_out

# What a library says of its own sources, before its reason.
_SOURCE = re.compile(r'From file: .*? at line: \d+ .*?message: ', re.IGNORECASE)
# What the first bytes of a file in place of a mesh are.
_NO_MESH = {
    rb'version https://git-lfs': 'stands for a file of Git LFS: run `git lfs pull`',
    rb'\s*<(!doctype )?html': 'is a web page: download the file itself',
    rb'\Z': 'is empty',
}


def usable(filename: str, paths: Sequence[Path], read: Callable[[Path], object]) -> Path | str:
    """Return the first of the paths that is a mesh with a volume; else why there is none.

    Args:
        filename: of the mesh, as in the URDF.
        paths: those that it may mean.
        read: reads a file; raises ArmError for one that is no mesh.
    """
    reason = ''
    for path in filter(Path.is_file, paths):
        try:
            read(path)
            return path
        except ArmError as error:
            reason = reason or no_mesh(path) or _SOURCE.sub('', str(error))
    return reason or lacking(filename, paths)


def no_mesh(path: Path) -> str:
    """Return what a file is in place of a mesh, such as a pointer of Git LFS; else ''."""
    if not path.is_file():  # reading a pipe may never end
        return ''
    with path.open('rb') as stream:
        head = stream.read(100)
    found = (what for start, what in _NO_MESH.items() if re.match(start, head, re.IGNORECASE))
    return ''.join(f'{path.name!r} {what}' for what in [*found][:1])


def lacking(filename: str, paths: Sequence[Path]) -> str:
    """Return why none of the paths that a file's name may mean is a file."""
    scheme, _, rest = filename.rpartition('://')
    if '\\' in filename:
        return f'{filename!r}: write / in place of \\'
    if scheme not in ('', 'package', 'file'):
        return f'{filename!r}: a mesh is a path, or begins with package://'
    if scheme == 'package' and leads_out(rest):
        return f'{filename!r} leads out of its package'
    for path in paths:
        if path.exists():
            return f'{filename!r} is {"a folder" if path.is_dir() else "not a regular file"}'
        if near := near_file(path):
            return f'{filename!r} does not exist, but there is {near}'
    packages = [each for x in paths for each in x.parents[len(Path(rest).parts) - 2 :][:1]]
    if scheme == 'package' and not any(map(Path.is_dir, packages)):
        return f'package {rest.partition("/")[0]!r} is not found: source its workspace'
    return f'{filename!r} does not exist'


def near_file(path: Path) -> str:
    """Return a name as that of a missing file: in other letters, or the nearest in its folder."""
    path = Path(os.path.normpath(path.absolute()))
    here = next(folder for folder in path.parents if folder.is_dir())
    for part in path.relative_to(here).parts:
        names: list[str] = []
        with suppress(OSError):
            names = [x for x in os.listdir(here) if not x.endswith('.mtl')]  # colours alone
        alike = [name for name in names if name.lower() == part.lower()]
        if not alike:
            stem = rf'{re.escape(Path(part).stem)}\.\w+'
            near = [x for x in names if re.fullmatch(stem, x, re.I) and here == path.parent]
            near = near or get_close_matches(part, names, 1, 0.8) * (here == path.parent)
            return ''.join(f'{name!r}' for name in near[:1])
        here /= alike[0]
    return f'{str(here)!r}' + ', in other small or capital letters' * (here != path)
