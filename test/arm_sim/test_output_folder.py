"""Files are whole or absent, whatever the disk says."""

import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.loop.record import Record
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file
from arm_sim.pictures import new_figure, save

MANY = np.arange(1e4).reshape(-1, 10)


@contextmanager
def full_disk():
    """Let no file of this process grow beyond 100 bytes, as on a disk without room."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


WRITERS = {
    'report.json': lambda path: write_json(path, {'numbers': MANY.tolist()}),
    'record.npz': Record(*([MANY] * 7)).save,
    'picture.png': lambda path: save(new_figure(5.0, 5.0, 'title'), path),
}


@pytest.mark.parametrize('name', WRITERS)
def test_without_room_a_file_stays_as_it_was_and_one_line_states_it(name, tmp_path):
    for before in (None, b'before'):
        if before:
            (tmp_path / name).write_bytes(before)
        with full_disk(), pytest.raises(ArmError, match=f"{name}' cannot be written: ") as error:
            WRITERS[name](tmp_path / name)
        assert '\n' not in str(error.value)
        assert [each.name for each in tmp_path.iterdir()] == ([name] if before else [])
    assert (tmp_path / name).read_bytes() == b'before'
    WRITERS[name](tmp_path / name)
    assert (tmp_path / name).stat().st_size > 100


def write(path, how):
    with whole_file(path) as file:
        file.write(b'half')
        how()


def test_a_file_that_fails_half_way_leaves_nothing_and_a_device_is_not_replaced(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write(tmp_path / 'file', lambda: 1 / 0)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArmError, match="'/dev/full' cannot be written: No space left"):
        write('/dev/full', lambda: None)
    assert Path('/dev/full').is_char_device()


def test_a_command_without_room_for_its_files_ends_with_one_line(tmp_path):
    code = 'import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (1000, 1000)); '
    code += 'from arm_lab.commands.compare_controllers import main; raise SystemExit(main())'
    command = [sys.executable, '-c', code, '--robots=planar_3r', '--laws=pd', '--workers=1']
    environment = os.environ | {
        'PYTHONPATH': os.pathsep.join(sys.path),
        'PYTHONDONTWRITEBYTECODE': '1',  # whose files Python 3.12 would leave cut off
    }
    done = subprocess.run(
        [*command, f'--output-dir={tmp_path}'], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1
    assert done.stderr.startswith('compare_controllers: ')
    assert 'cannot be written: File too large' in done.stderr
    assert done.stderr.count('\n') == 1
    assert not [each for each in tmp_path.iterdir() if each.stat().st_size > 1000]
