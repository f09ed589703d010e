"""Where reports and pictures go."""

from pathlib import Path

from arm_dynamics.errors import ArmError


def writable_folder(name: str) -> Path:
    """Return a folder, made if need be.

    Raises:
        ArmError: it cannot be written.
    """
    folder = Path(name).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / '.probe').touch()
        (folder / '.probe').unlink()
    except OSError as error:
        raise ArmError(f'output_dir {str(folder)!r} cannot be written: {error.strerror}') from None
    return folder
