"""ROS packages around a file, as in the sources of a workspace."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree


def packages_around(file: Path) -> dict[str, Path]:
    """Return the folders of packages around a file by name; of equal names the nearest one.

    They are the folders above the file and the siblings of these folders, by the <name> of their
    package.xml; a folder above is also a package of the folder's own name.
    """
    found: dict[str, Path] = {}
    for folder in file.resolve().parents[:-1]:
        found |= {name: path for name, path in _named(folder) if name not in found}
        found.setdefault(folder.name, folder)
    return found


def _named(folder: Path) -> Iterator[tuple[str, Path]]:
    siblings: list[Path] = []
    with suppress(OSError):
        siblings = sorted(folder.parent.iterdir(), reverse=True)
    for path in (*siblings, folder):  # the last one of a name counts
        with suppress(OSError, ElementTree.ParseError):
            name = ElementTree.parse(path / 'package.xml').findtext('name', '').strip()
            if name and '/' not in name:
                yield name, path
