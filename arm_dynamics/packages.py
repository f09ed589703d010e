"""ROS packages around a file, as in the sources of a workspace."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

_MOST = 1000  # entries of a folder


def packages_around(file: Path) -> dict[str, Path]:
    """Return the folders of packages around a file by name; of equal names the nearest one.

    They are the folders above the file and the siblings of these folders, by the <name> of their
    package.xml; a folder above is also a package of the folder's own name. Next to the four
    nearest folders, the packages of a repository count as well.
    """
    found: dict[str, Path] = {}
    for above, folder in enumerate(file.resolve().parents[:-1]):
        deep = above < 4 and len(folder.parts) > 2
        found |= {name: path for name, path in _named(folder, deep) if name not in found}
        found.setdefault(folder.name, folder)
    return found


def _inside(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(folder.iterdir(), reverse=True)[:_MOST]
    return []


def _named(folder: Path, deep: bool) -> Iterator[tuple[str, Path]]:
    siblings = _inside(folder.parent)
    inner = [each for sibling in siblings for each in _inside(sibling)] if deep else []
    for path in (*inner, *siblings, folder):  # the last one of a name counts
        with suppress(OSError, ElementTree.ParseError):
            name = ElementTree.parse(path / 'package.xml').findtext('name', '').strip()
            if name and '/' not in name:
                yield name, path
