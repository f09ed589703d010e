"""Folders for results, and files that are written completely or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from arm_dynamics.checks import ArmError


def writable_folder(name: str) -> Path:
    """Return a folder, created if it does not exist; raise ArmError if it cannot be written."""
    folder = Path(name).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / '.probe').touch()
        (folder / '.probe').unlink(missing_ok=True)
    except OSError as error:
        raise ArmError(f'output_dir {str(folder)!r} cannot be written: {error.strerror}') from None
    return folder


@contextmanager
def whole_file(path: Path | str) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when it is complete; a device is written directly.

    Raises ArmError on failure, such as a full disk; an older file of this name is kept then.
    """
    target = Path(path).expanduser().resolve()
    special = target.exists() and not target.is_file()
    part = target if special else target.with_name(f'.{target.name}.part')
    try:
        with part.open('wb') as file:
            yield file
        part.replace(target)
    except OSError as error:
        raise ArmError(f'{str(path)!r} cannot be written: {error.strerror or error}') from None
    finally:
        if not special:
            part.unlink(missing_ok=True)
