"""Where the URDF files of the shipped robots are."""

from pathlib import Path

from arm_dynamics.checks import ArmError


def share_folder() -> Path:
    """Return the folder that holds urdf/, config/ and launch/.

    That is the source tree when the package runs from one (also through a symlink install), else
    share/arm_sim of the installation prefix that holds this file.
    """
    here = Path(__file__).resolve()
    for folder in (here.parents[1], *(parent / 'share' / 'arm_sim' for parent in here.parents)):
        if (folder / 'urdf').is_dir():
            return folder
    raise ArmError(f'no urdf/ folder above {here}: is arm_sim installed completely?')


def robot_names() -> list[str]:
    """Return the names of the shipped robots, sorted."""
    return sorted(path.stem for path in (share_folder() / 'urdf').glob('*.urdf'))


def find_urdf(robot: str) -> Path:
    """Return the URDF file of `robot`: a shipped robot's name or a path to a URDF file."""
    shipped = share_folder() / 'urdf' / f'{robot}.urdf'
    if shipped.is_file() and '/' not in robot:
        return shipped
    path = Path(robot).expanduser()
    if path.is_file():
        return path
    raise ArmError(
        f'robot {robot!r} is neither a shipped robot ({", ".join(robot_names())}) '
        'nor the path of a URDF file'
    )
