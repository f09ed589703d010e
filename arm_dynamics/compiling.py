"""Compilation by numba: announced in one line, cached on disk, repeated where a source changes."""

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType

from numba import config, njit
from numba.core import event
from numba.core.caching import FunctionCache

from arm_dynamics.temporary_folder import temporary_folder

_subjects: dict[str, str] = {}  # what is compiled, by the beginning of modules' names
_announced: set[str] = set()


def announce(modules: str, subject: str) -> None:
    """Print one line on stderr when numba begins to compile a function of these modules.

    Args:
        modules: what the names of the modules begin with.
        subject: what the functions compute. The line is printed once, and not where the code is
            loaded from the cache.
    """
    _subjects[modules] = subject


class _Announcer(event.Listener):
    def on_start(self, event: event.Event) -> None:
        """Print the announcement of the module whose function numba compiles."""
        module = event.data['dispatcher'].py_func.__module__
        for beginning, subject in _subjects.items():
            if module.startswith(beginning) and subject not in _announced:
                _announced.add(subject)
                text = f'arm_sim: compiling {subject}: once, kept in {cache_folder()}'
                print(text, file=sys.stderr, flush=True)

    def on_end(self, _: event.Event) -> None:
        """Do nothing; numba requires the method."""


event.register('numba:compile', _Announcer())


def _tolerant(save: Callable) -> Callable:
    """Let numba use code that it cannot store, as on a full disk, with one line on stderr."""

    def save_overload(*args: object) -> None:
        try:
            save(*args)
        except OSError as error:
            if 'not stored' not in _announced:
                _announced.add('not stored')
                text = f'arm_sim: compiled code cannot be kept in {cache_folder()}'
                print(f'{text}: {error.strerror}', file=sys.stderr, flush=True)

    return save_overload


FunctionCache.save_overload = _tolerant(FunctionCache.save_overload)


def cache_folder() -> Path:
    """Return the folder of compiled code: $XDG_CACHE_HOME/arm_sim or ~/.cache/arm_sim.

    Where that cannot be written, /tmp/arm_sim_<uid>, if it is private to this user, because code
    is imported from it. Else a new folder that is removed when this process ends.
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
        status = fallback.lstat()
        private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
        return fallback if private and status.st_uid == os.getuid() else process_folder()


def digest(*texts: bytes) -> str:
    """Return a hash of sources: 16 hexadecimal digits."""
    return hashlib.sha256(b'\0'.join(texts)).hexdigest()[:16]


def cached_njit(function: Callable, **options: bool) -> Callable:
    """Compile a function by numba at its first call, with a cache on disk that sees all changes.

    Numba's own cache notices changes only in the file of the function itself, although the machine
    code contains that of the functions it calls. Here the cache folder's name holds a hash of all
    their files, so that a change in any of them leads to another folder. A called function counts
    where the source calls it by its plain name: f(), not module.f().

    Numba's cache key is the path of the file. Links are resolved, so that an installation by
    links and the source tree share their code.
    """
    code = function.__code__
    function.__code__ = code.replace(co_filename=os.path.realpath(code.co_filename))
    sources = _sources(function)
    folder = digest(*(content(source) for source in sorted(sources)))
    configured = config.CACHE_DIR
    config.CACHE_DIR = str(Path(configured or _default_folder()) / folder)
    try:
        compiled = njit(cache=True, error_model='numpy', no_cfunc_wrapper=True, **options)(
            function
        )
    finally:
        config.CACHE_DIR = configured
    compiled.sources = sources
    return compiled


def unlocked_njit(function: Callable) -> Callable:
    """Compile a function that other threads of Python run beside."""
    return cached_njit(function, nogil=True)


def inlined_njit(function: Callable) -> Callable:
    """Compile a small function that becomes part of the functions that call it."""
    return cached_njit(function, forceinline=True)


def higher_order_njit(function: Callable) -> Callable:
    """Compile a function that takes functions; the cache of the calling function holds it."""
    compiled = njit(inline='always', error_model='numpy')(function)
    compiled.sources = _sources(function)
    return compiled


def _sources(function: Callable) -> frozenset[str]:
    """Return the files of a function and of all functions that it calls by their plain names."""
    files = {os.path.realpath(function.__code__.co_filename)}
    for name in function.__code__.co_names:
        called: object = function.__globals__.get(name)
        plain = getattr(called, 'py_func', called)  # what another decorator of numba has
        if hasattr(called, 'sources'):
            files |= called.sources
        elif isinstance(plain, FunctionType) and plain is not function:
            files |= _sources(plain)
    return frozenset(files)


@cache
def content(path: str) -> bytes:
    """Return the source of a module, by the path of its file."""
    return Path(path).read_bytes()


_default_folder = cache(cache_folder)
process_folder = cache(temporary_folder)  # holds the code of a process without a cache
