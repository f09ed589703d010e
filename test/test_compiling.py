"""Compiled code is kept on disk, made anew where a source changes, and compiling is said once."""

import subprocess
import sys

ADDS = """from arm_dynamics.compiling import kept
STEP = {step}
@kept
def add(x): return x + STEP
"""
TWICE = """from adds import add
from arm_dynamics.compiling import announce, kept, passed
announce('twice', 'sums')
@passed
def again(f, x): return f(f(x))
@kept
def twice(x): return again(add, x)
"""
PRINT = 'from twice import twice; print(twice(1.0), twice.stats.cache_hits.total())'


def run(folder):
    done = subprocess.run(
        [sys.executable, '-c', PRINT],
        env={'XDG_CACHE_HOME': str(folder), 'PYTHONPATH': ':'.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip(), done.stderr


def test_code_is_kept_until_a_function_that_it_calls_changes_in_another_file(tmp_path):
    (tmp_path / 'twice.py').write_text(TWICE)
    (tmp_path / 'adds.py').write_text(ADDS.format(step=1))
    said = f'arm_sim: compiling sums: once, kept in {tmp_path / "arm_sim"}\n'
    assert run(tmp_path) == ('3.0 0', said)
    kept = sorted(tmp_path.rglob('*.nbi'))
    assert run(tmp_path) == ('3.0 1', '')
    (tmp_path / 'adds.py').write_text(ADDS.format(step=2))
    assert run(tmp_path) == ('5.0 0', said)
    assert set(kept) < set(tmp_path.rglob('*.nbi'))  # what another process may use stays


def test_code_that_is_reached_by_a_link_is_compiled_once(tmp_path):
    """As where an installation links to the source tree."""
    source = tmp_path / 'source'
    source.mkdir()
    (source / 'linked.py').write_text(
        'from arm_dynamics.compiling import kept\n@kept\ndef twice(x):\n    return 2.0 * x\n'
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
