"""Where reports and pictures go, and how: a file is whole, or it is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from arm_dynamics.checks import ArmError


def writable_folder(name: str) -> Path:
    """Return a folder, made if need be; one that cannot be written is refused."""
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
    """Give a file to write, which gets its name when it is whole; a device is written as it is.

    Raises ArmError where that fails, as on a full disk; what was there before is there still.
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
