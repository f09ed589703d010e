"""ROS packages around a file, as in the sources of a workspace."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from arm_dynamics.checks import ArmError, text_of
from arm_dynamics.urdf_elements import read_tree

_MOST, _MOST_OF_LEVEL = 1000, 5000  # entries of a folder, and of folders side by side
_DEEP = (2, 2, 2, 1)  # folders that are looked into next to the four nearest ones
_INSTALL = re.compile(r'install\s*\(\s*DIRECTORY\s+([^()]+?)\s+DESTINATION\s+([^\s()]+)', re.I)
_SHARE = re.compile(
    r'((?:share|\$\{CMAKE_INSTALL_DATADIR\})/(?:\$\{PROJECT_NAME\}|[\w-]+)|'
    r'\$\{CATKIN_PACKAGE_SHARE_DESTINATION\})/?(.*)'
)


def packages_around(file: Path) -> dict[str, Path]:
    """Return the folders of packages around a file by name; of equal names the nearest one.

    They are the folders above the file and the siblings of these folders, by the <name> of their
    package.xml; a folder above is also a package of the folder's own name. Next to the nearest
    folders, the packages of a repository count as well, up to two folders below it.
    """
    found: dict[str, Path] = {}
    for above, folder in enumerate(file.resolve().parents[:-1]):
        deep = _DEEP[above] if above < len(_DEEP) and len(folder.parts) > 2 else 0
        found |= {name: path for name, path in _named(folder, deep) if name not in found}
        found.setdefault(folder.name, folder)
    return found


def installed(folder: Path) -> list[tuple[str, Path]]:
    """Return what a package installs from other places of its sources than it has when installed.

    These are pairs of a path in the installed package and one in the sources, of each
    install(DIRECTORY ...) of its CMakeLists.txt, and '' for the package's root.
    """
    with suppress(ArmError):
        text = re.sub('#.*', '', text_of(folder / 'CMakeLists.txt'))
        return [
            pair
            for directories, destination in _INSTALL.findall(text)
            if (place := _SHARE.fullmatch(destination.strip('"')))
            for word in directories.split()
            if (pair := _pair(folder, word.strip('"'), place[2].strip('/')))
        ]
    return []


def _pair(folder: Path, word: str, place: str) -> tuple[str, Path] | None:
    """Return where a directory of sources is installed; None: where it is anyway, or outside."""
    inside = re.sub(r'^\$\{(CMAKE_CURRENT_SOURCE_DIR|PROJECT_SOURCE_DIR)\}/', '', word)
    source = folder / inside
    if '..' in (*source.parts, *place.split('/')) or not source.is_dir():
        return None
    if not inside.endswith('/'):  # the folder itself, and not what is in it
        place = f'{place}/{source.name}'.strip('/')
    return None if folder / place == source else (place, source)


def in_sources(folder: Path, inside: str) -> list[Path]:
    """Return the paths in the sources of a package that a path in the installed one may mean."""
    paths = [folder / inside]
    for place, source in installed(folder):
        if not place or inside.startswith(f'{place}/'):
            paths.append(source / inside.removeprefix(place).lstrip('/'))
    return paths


def link_as_installed(folder: Path, place: Path) -> list[tuple[Path, Path]]:
    """Make a package's sources appear at a path as they are installed.

    Returns:
        Each link that was made, and the folder or file it leads to.
    """
    pairs = installed(folder)
    links = [(place, folder)]
    if pairs:
        links = [
            (place / to / each.name, each) for to, source in pairs for each in source.iterdir()
        ]
        links += [(place / each.name, each) for each in folder.iterdir()]
    made = []
    for link, target in links:
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
            made.append((link, target))
    return made


def _inside(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir(), reverse=True)[:_MOST]
    return []


def _named(folder: Path, deep: int) -> Iterator[tuple[str, Path]]:
    siblings = _inside(folder.parent)
    inner: list[Path] = []
    level = siblings
    for _ in range(deep):
        level = [each for path in level if _may_hold_packages(path) for each in _inside(path)]
        level = level[-_MOST_OF_LEVEL:]
        inner = [*level, *inner]
    for path in (*inner, *siblings, folder):  # the last one of a name counts
        with suppress(ArmError):
            name = read_tree(path / 'package.xml', '').findtext('name', '').strip()
            if name and '/' not in name:
                yield name, path


def _may_hold_packages(folder: Path) -> bool:
    """Return whether colcon would look into a folder; those it installs or builds in are none."""
    aside = folder.name.startswith('.') or folder.name in ('build', 'install', 'log')
    return not aside and not (folder / 'package.xml').exists()


def leads_out(address: str) -> bool:
    """Return whether NAME/PATH of package://NAME/PATH is no place in a package."""
    package, _, inside = address.partition('/')
    return os.path.normpath(inside.lstrip('/')).startswith('..') or package in ('.', '..')
