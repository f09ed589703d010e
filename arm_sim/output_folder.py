"""Where reports and pictures go."""

import atexit
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from arm_dynamics.checks import ArmError


def writable_folder(name: str) -> Path:
    """Return a folder, made if need be; one that cannot be written is refused."""
    folder = Path(name).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / '.probe').touch()
        (folder / '.probe').unlink()
    except OSError as error:
        raise ArmError(f'output_dir {str(folder)!r} cannot be written: {error.strerror}') from None
    return folder


def temporary_folder() -> Path:
    """Return a new folder that lives as long as this process."""
    folder = Path(mkdtemp(prefix='arm_sim_'))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder
