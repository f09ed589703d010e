"""Compiled code is kept on disk, compiled again where a source changes, and announced once."""

import os
import subprocess
import sys
import tempfile
from functools import partial

import pytest

from arm_dynamics import compiling
from arm_dynamics.compiling import cache_folder

ADDS = """from numba import njit
from numba.extending import register_jitable
from arm_dynamics.compiling import cached_njit
STEP = {step}
@{decorator}
def add(x): return x + STEP
"""
TWICE = """from adds import add
from arm_dynamics.compiling import announce, cached_njit, higher_order_njit
announce('twice', 'sums')
@higher_order_njit
def again(f, x): return f(f(x))
@cached_njit
def twice(x): return again(add, x)
"""
TWICE_PLAIN = TWICE.replace('again(add, x)', 'add(add(x))')
PRINT = 'from twice import twice; print(twice(1.0), twice.stats.cache_hits.total())'


def run(folder, first=''):
    done = subprocess.run(
        [sys.executable, '-c', first + PRINT],
        env={
            'XDG_CACHE_HOME': str(folder),
            'PYTHONPATH': ':'.join([str(folder), *sys.path]),
            'PYTHONDONTWRITEBYTECODE': '1',  # whose files a full disk would leave cut off
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ('decorator', 'twice'),
    [('cached_njit', TWICE), ('njit', TWICE_PLAIN), ('register_jitable', TWICE_PLAIN)],
    ids=['cached_njit', 'njit', 'register_jitable'],
)
def test_code_is_kept_until_a_function_that_it_calls_changes_in_another_file(
    tmp_path, decorator, twice
):
    adds = partial(ADDS.format, decorator=decorator)
    (tmp_path / 'twice.py').write_text(twice)
    (tmp_path / 'adds.py').write_text(adds(step=1))
    said = f'arm_sim: compiling sums: once, kept in {tmp_path / "arm_sim"}\n'
    assert run(tmp_path) == ('3.0 0', said)
    kept = sorted(tmp_path.rglob('*.nbi'))
    assert run(tmp_path) == ('3.0 1', '')
    (tmp_path / 'adds.py').write_text(adds(step=2))
    assert run(tmp_path) == ('5.0 0', said)
    assert set(kept) < set(tmp_path.rglob('*.nbi'))  # what another process may use stays


def test_code_that_a_full_disk_does_not_keep_is_used_all_the_same_and_one_line_states_it(tmp_path):
    (tmp_path / 'twice.py').write_text(TWICE)
    (tmp_path / 'adds.py').write_text(ADDS.format(step=1, decorator='cached_njit'))
    full = 'import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (100, 100)); '
    printed, said = run(tmp_path, full)
    assert printed == '3.0 0'
    assert said.splitlines()[1:] == [
        f'arm_sim: compiled code cannot be kept in {tmp_path / "arm_sim"}: File too large'
    ]


def test_code_that_is_reached_by_a_link_is_compiled_once(tmp_path):
    """As where an installation links to the source tree."""
    source = tmp_path / 'source'
    source.mkdir()
    (source / 'linked.py').write_text(
        'from numba import njit\nfrom arm_dynamics.compiling import cached_njit\n'
        '@njit\ndef added(x, y):\n    return x + y\n'
        '@cached_njit\ndef twice(x):\n    return added(x, x)\n'
    )
    (tmp_path / 'installed').symlink_to(source)
    code = 'from linked import twice; twice(1.0); print(twice.stats.cache_hits.total())'
    hits = []
    for folder in ('source', 'installed'):
        path = ':'.join([str(tmp_path / folder), *sys.path])
        environment = {'XDG_CACHE_HOME': str(tmp_path / 'cache'), 'PYTHONPATH': path}
        command = [sys.executable, '-c', code]
        found = subprocess.run(
            command, env=environment, check=True, capture_output=True, text=True
        )
        hits.append(found.stdout.strip())
    assert hits == ['0', '1']


@pytest.fixture
def fallback(monkeypatch, tmp_path):
    """Return the folder that replaces a cache folder that cannot be written."""
    (tmp_path / 'file').touch()
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return tmp_path / f'arm_sim_{os.getuid()}'


def test_an_unwritable_cache_folder_is_replaced_by_a_temporary_one(fallback):
    assert cache_folder() == fallback
    assert fallback.stat().st_mode & 0o777 == 0o700
    assert cache_folder() == fallback


@pytest.mark.parametrize('trap', ['a link', 'a file', 'open to others', "another user's"])
def test_no_code_is_taken_from_a_folder_that_another_user_can_write(trap, fallback, monkeypatch):
    compiling.process_folder.cache_clear()
    if trap == 'a link':
        (fallback.parent / 'theirs').mkdir()
        fallback.symlink_to('theirs')
    elif trap == 'a file':
        fallback.touch()
    else:
        fallback.mkdir(mode=0o700)
    if trap == 'open to others':
        fallback.chmod(0o770)
    if trap == "another user's":
        monkeypatch.setattr(os, 'getuid', lambda: fallback.stat().st_uid + 1)
        fallback = fallback.rename(fallback.with_name(f'arm_sim_{os.getuid()}'))
    folder = cache_folder()
    assert folder.name.startswith('arm_sim_')
    assert folder not in (fallback, fallback.resolve())
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache_folder() == folder  # for as long as this process lives
