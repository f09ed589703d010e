"""xacro to URDF, by the package `xacro` (an optional part)."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from arm_dynamics.checks import ArmError


def urdf_of_xacro(file: Path, arguments: str = '') -> str:
    """Return the URDF that a xacro file makes.

    `$(find NAME)` is a ROS package that is sourced, or a folder of this name above the file.

    Args:
        file: path of the xacro.
        arguments: as its command takes them: 'name:=value other:=value'.

    Raises:
        ArmError: xacro is not installed, an argument is malformed, or xacro refuses the file.
    """
    try:
        import xacro
    except ImportError:
        raise ArmError(
            f'{str(file)!r} is xacro, which is not installed: ./ws pip install xacro'
        ) from None
    mappings = dict(_argument(word) for word in shlex.split(arguments))
    with _found_above(file):
        try:
            return xacro.process_file(str(file.resolve()), mappings=mappings).toxml()
        except Exception as error:  # of expressions in the file: any
            reason = ' '.join(str(error).split()) or type(error).__name__
            raise ArmError(f'xacro: {reason} (in {str(file)!r})') from None


def _argument(word: str) -> tuple[str, str]:
    name, separator, value = word.partition(':=')
    if not separator or not name:
        raise ArmError(f'xacro_args: {word!r} is not name:=value')
    return name, value


@contextmanager
def _found_above(file: Path) -> Iterator[None]:
    """Let the folders above a file be packages, as they are in a workspace's sources."""
    name, before = 'AMENT_PREFIX_PATH', os.environ.get('AMENT_PREFIX_PATH')
    with TemporaryDirectory(prefix='arm_sim_') as prefix:
        index = Path(prefix, 'share', 'ament_index', 'resource_index', 'packages')
        index.mkdir(parents=True)
        for folder in reversed(file.resolve().parents[:-1]):
            if folder.name in ('share', 'ament_index'):
                continue
            (index / folder.name).touch()
            link = Path(prefix, 'share', folder.name)
            link.unlink(missing_ok=True)
            link.symlink_to(folder)
        os.environ[name] = f'{prefix}:{before}' if before else prefix
        try:
            yield
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before
