"""Compilation by numba: said in one line, kept on disk, done anew where a source changes."""

import atexit
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core import event
from numba.core.caching import FunctionCache

_subjects: dict[str, str] = {}  # what is compiled, by how names of modules begin
_said: set[str] = set()


def announce(modules: str, subject: str) -> None:
    """Have one line on stderr when numba begins to compile functions of these modules.

    Args:
        modules: the beginning of their names.
        subject: what they compute. The line comes once; loading from the disk is silent.
    """
    _subjects[modules] = subject


class _Announcer(event.Listener):
    def on_start(self, event: event.Event) -> None:
        """Say what begins."""
        module = event.data['dispatcher'].py_func.__module__
        for beginning, subject in _subjects.items():
            if module.startswith(beginning) and subject not in _said:
                _said.add(subject)
                text = f'arm_sim: compiling {subject}: once, kept in {cache_folder()}'
                print(text, file=sys.stderr, flush=True)

    def on_end(self, _: event.Event) -> None:
        """Say nothing."""


event.register('numba:compile', _Announcer())


def _kept_if_there_is_room(save: Callable) -> Callable:
    """Let numba go on with code that it cannot keep, as on a full disk; one line says so."""

    def save_overload(*args: Any) -> None:
        try:
            save(*args)
        except OSError as error:
            if 'kept' not in _said:
                _said.add('kept')
                text = f'arm_sim: compiled code cannot be kept in {cache_folder()}'
                print(f'{text}: {error.strerror}', file=sys.stderr, flush=True)

    return save_overload


FunctionCache.save_overload = _kept_if_there_is_room(FunctionCache.save_overload)


def cache_folder() -> Path:
    """Return the folder of compiled code: $XDG_CACHE_HOME/arm_sim or ~/.cache/arm_sim.

    Where that cannot be written, /tmp/arm_sim_<uid>, if nobody else has a hand in it: code is
    imported from it. Else a new folder that lives as long as this process.
    """
    home = os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'
    folder = Path(home) / 'arm_sim'
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return folder
    except OSError:
        fallback = Path(tempfile.gettempdir()) / f'arm_sim_{os.getuid()}'
        with suppress(FileExistsError):
            fallback.mkdir(mode=0o700)
        found = fallback.lstat()
        private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
        return fallback if private and found.st_uid == os.getuid() else _own_folder()


@cache
def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix='arm_sim_'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def digest(*texts: bytes) -> str:
    """Return a hash of sources: 16 hexadecimal digits."""
    return hashlib.sha256(b'\0'.join(texts)).hexdigest()[:16]


def kept(function: Callable, **options: bool) -> Any:
    """Compile a function at its first call, and keep the code on disk.

    Numba's cache notices changes only in the file of the function itself, although its machine
    code contains that of the functions it calls. Here the cache folder's name holds a hash of all
    their files, so that a change in any of them leads to another folder. A called function counts
    where the source calls it by its plain name: f(), not module.f().

    Numba also keeps code by the path of its file. Links are resolved, since an installation by
    links and the source tree are the same code.
    """
    code = function.__code__
    function.__code__ = code.replace(co_filename=os.path.realpath(code.co_filename))
    sources = _sources(function)
    folder = digest(*(_text(source) for source in sorted(sources)))
    given = config.CACHE_DIR
    config.CACHE_DIR = str(Path(given or _default_folder()) / folder)
    try:
        compiled = njit(cache=True, error_model='numpy', no_cfunc_wrapper=True, **options)(
            function
        )
    finally:
        config.CACHE_DIR = given
    compiled.sources = sources
    return compiled


def inlined(function: Callable) -> Any:
    """Compile and keep a small function that becomes part of those that call it."""
    return kept(function, forceinline=True)


def passed(function: Callable) -> Any:
    """Compile a function that takes functions; its code is kept with the one that calls it."""
    compiled = njit(inline='always', error_model='numpy')(function)
    compiled.sources = _sources(function)
    return compiled


def _sources(function: Callable) -> frozenset[str]:
    """Return the files of a function and of all compiled ones that it calls."""
    code = function.__code__
    called = (function.__globals__.get(name) for name in code.co_names)
    return frozenset({code.co_filename}).union(*(getattr(f, 'sources', ()) for f in called))


@cache
def _text(path: str) -> bytes:
    return Path(path).read_bytes()


_default_folder = cache(cache_folder)
