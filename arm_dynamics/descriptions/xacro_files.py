"""xacro to URDF, by the package `xacro` (an optional part) in a confined process of its own."""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError
from arm_dynamics.packages import packages_around
from arm_dynamics.temporary_folder import own_folder

_LONGEST = 60.0  # time that a file may take [s]


def is_xacro(file: Path, tree: Element) -> bool:
    """Whether a file is xacro, which can run any program of this machine."""
    return file.suffix == '.xacro' or any('wiki/xacro}' in each.tag for each in tree.iter())


def urdf_of_xacro(file: Path, arguments: str = '') -> str:
    """Return the URDF that a xacro file makes.

    `$(find NAME)` is a package of `packages_around` the file, or a ROS package that is sourced.
    The file runs in a process of its own, see `xacro_process`.

    Args:
        file: path of the xacro.
        arguments: as its command takes them: 'name:=value other:=value'.

    Raises:
        ArmError: xacro is not installed, an argument is malformed, or xacro refuses the file.
    """
    if find_spec('xacro') is None:
        raise ArmError(f'{str(file)!r} is xacro, which is not installed: ./ws pip install xacro')
    mappings = dict(_argument(word) for word in shlex.split(arguments))
    with TemporaryDirectory(dir=own_folder()) as prefix:
        index = Path(prefix, 'share', 'ament_index', 'resource_index', 'packages')
        index.mkdir(parents=True)
        packages = packages_around(file)
        for name, folder in packages.items():
            if name != 'ament_index':
                (index / name).touch()
                Path(prefix, 'share', name).symlink_to(folder)
        prefixes = filter(None, (prefix, os.environ.get('AMENT_PREFIX_PATH')))
        answer = _run([str(file.resolve()), json.dumps(mappings)], ':'.join(prefixes))
        for name, folder in packages.items():  # and not the temporary folder
            place = str(Path(prefix, 'share', name))
            answer = {key: text.replace(f'{place}/', f'{folder}/') for key, text in answer.items()}
    missing = re.search(r"package '([^']*)' not found", answer.get('error', ''))
    if missing:
        raise ArmError(
            f'xacro: package {missing[1]!r} is not found: source its workspace, or put its '
            f'folder, with a package.xml, next to a folder above the file (in {str(file)!r})'
        )
    if 'error' in answer:
        raise ArmError(f'xacro: {answer["error"]} (in {str(file)!r})')
    return str(answer['urdf'])


def _run(words: list[str], prefixes: str) -> dict[str, str]:
    script = str(Path(__file__).with_name('xacro_process.py'))
    environment = {
        'PATH': os.environ.get('PATH', ''),
        'HOME': os.environ.get('HOME', '/'),
        'AMENT_PREFIX_PATH': prefixes,
        'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
    }
    try:
        done = subprocess.run(
            [sys.executable, '-P', script, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LONGEST,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {'error': f'takes longer than {_LONGEST:g} s'}
    except ValueError:
        return {'error': f'its process ended with code {done.returncode}'}
    return dict(answer)


def _argument(word: str) -> tuple[str, str]:
    name, separator, value = word.partition(':=')
    if not separator or not name:
        raise ArmError(f'xacro_args: {word!r} is not name:=value')
    return name, value
