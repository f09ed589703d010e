"""xacro to URDF, by the package `xacro` (an optional part) in a confined process of its own."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from arm_dynamics.checks import ArmError, line_on, say_once, some_of, typed
from arm_dynamics.mesh_files import near_file
from arm_dynamics.packages import link_as_installed, packages_around
from arm_dynamics.robot_words import near_option
from arm_dynamics.temporary_folder import own_folder

_LONGEST = 60.0  # time that a file may take [s]
_FEW = 3  # empty arguments, of which one may make a path


def urdf_of_xacro(file: Path, arguments: str = '') -> str:
    """Return the URDF that a xacro file makes.

    `$(find NAME)` is a package of `packages_around` the file, or a ROS package that is sourced.
    The file runs in a process of its own, see `confined_process`.

    Args:
        file: path of the xacro.
        arguments: as its command takes them: 'name:=value other:=value'.

    Raises:
        ArmError: xacro is not installed, an argument is malformed, or xacro refuses the file.
    """
    if find_spec('xacro') is None:
        install = typed('pip install xacro')
        raise ArmError(f'{str(file)!r} is xacro, which is not installed: {install}')
    mappings = dict(_argument(word) for word in shlex.split(arguments))
    with TemporaryDirectory(dir=own_folder()) as prefix:
        index = Path(prefix, 'share', 'ament_index', 'resource_index', 'packages')
        index.mkdir(parents=True)
        links = []
        for name, folder in packages_around(file).items():
            if name != 'ament_index':
                (index / name).touch()
                place = Path(prefix, 'share', name)
                links += [*link_as_installed(folder, place), (place, folder)]
        prefixes = filter(None, (prefix, os.environ.get('AMENT_PREFIX_PATH')))
        words = [str(file.resolve()), json.dumps(mappings), *(str(each) for _, each in links)]
        answer = _run(words, ':'.join(prefixes))
        for link, target in sorted(links, key=_length, reverse=True):  # no temporary folder
            answer = {key: text.replace(str(link), str(target)) for key, text in answer.items()}
    for line in _lines(answer):
        say_once(f'{file.name}: {line}')
    missing = re.search(r"package '([^']*)' not found", answer.get('error', ''))
    if missing:
        raise ArmError(
            f'xacro: package {missing[1]!r} is not found: source its workspace, or put its '
            f'folder, with a package.xml, next to a folder above the file (in {str(file)!r})'
        )
    if 'error' in answer:
        lacking = re.search(r'Undefined substitution argument (\w+)', answer['error'])
        remedy = f"; give it: xacro_args:='{lacking[1]}:=VALUE'" if lacking else ''
        absent = re.search(r"(?:No such file or|Is a) directory: '([^']+)'", answer['error'])
        if absent:
            near = '' if Path(absent[1]).is_dir() else near_file(Path(absent[1]))
            left = json.loads(answer.get('left', '{}'))
            remedy = f'; there is {near}' if near else _default_in(Path(absent[1]), left)
        text = re.sub(r"^<class '[^']*'>: ", '', answer['error'])
        text = re.sub(r'^(.{10,}?)(?: \1)+(?= |$)', r'\1', text)  # which xacro says twice
        text = re.sub(r'^No such file or directory: \S+ (?=\[Errno)', '', text)
        if _unseen(answer):
            remedy = '; xacro does not see those of the shell: write its value'
        if 'recursion' in text:
            remedy = '; does a file include itself, or a macro call itself?'
        raise ArmError(f'xacro: {text}{remedy} (in {answer.get("within", str(file))!r})')
    return str(answer['urdf'])


def _lines(answer: Mapping[str, str]) -> Iterator[str]:
    """Yield what the user should know: warnings of xacro, arguments and variables not used."""
    asked = answer.get('asked', '').split()
    for line in answer.get('said', '').splitlines():
        if not line.strip() or line.startswith('when '):  # where it is
            continue
        yield f'xacro: {" ".join(re.sub(chr(27) + "[^m]*m", "", line).split())}'
    for name in answer.get('unused', '').split():
        near = ''.join(f'; did you mean {x}:=?' for x in get_close_matches(name, asked, 1))
        near = near or near_option(name)
        yield f'xacro_args: {name}:= has no effect, as the file has no such argument{near}'
    lacking, named = answer.get('lacking', '').split(), _unseen(answer)
    hidden = [name for name in lacking if name in os.environ and name != named]
    text = 'xacro does not see the environment variable {}: write its value'
    yield from line_on(hidden, text)


def _unseen(answer: Mapping[str, str]) -> str:
    """Return the environment variable that an error is about, or ''."""
    found = re.search(r"environment variable '([^']+)' is not set", answer.get('error', ''))
    return found[1] if found else ''


def _default_in(absent: Path, left: Mapping[str, str]) -> str:
    """Return which argument, left at its default, made the path of a missing file, and remedy."""
    here = next(folder for folder in absent.parents if folder.is_dir())
    part = absent.relative_to(here).parts[0]
    names = [x for x in left if len(left[x]) > 1 and left[x] in part]
    names = names or [name for name, text in left.items() if not text]
    if not names or len(names) > _FEW:
        return ''
    there = sorted(each.name for each in here.iterdir() if not each.name.startswith('.'))
    defaults = ', '.join(f'{name} is {left[name]!r}' for name in names)
    has = f'{str(here)!r} has {some_of(there)}'
    return f"; by default {defaults}, and {has}: give xacro_args:='{names[0]}:=VALUE'"


def _length(pair: tuple[Path, Path]) -> int:
    return len(str(pair[0]))


def _run(words: list[str], prefixes: str) -> dict[str, str]:
    script = str(Path(__file__).with_name('confined_process.py'))
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
            start_new_session=True,  # without the terminal, of which it could read
            capture_output=True,
            timeout=_LONGEST,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {'error': f'takes longer than {_LONGEST:g} s'}
    except ValueError:
        last = done.stderr.decode(errors='replace').strip().splitlines()[-1:]
        return {'error': f'its process ended with code {": ".join([str(done.returncode), *last])}'}
    return dict(answer)


def _argument(word: str) -> tuple[str, str]:
    name, separator, value = word.partition(':=')
    if not separator or not name:
        raise ArmError(f'xacro_args: {word!r} is not name:=value')
    return name, value
