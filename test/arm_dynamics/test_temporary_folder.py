"""Temporary folders do not outlive their process, or its successor where it was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

MAKE = """
import os, sys, time
from arm_dynamics.temporary_folder import temporary_folder
folder = temporary_folder()
if os.fork() == 0:
    temporary_folder()
    {child}
os.wait()
print('made' if folder.is_dir() else 'gone', flush=True)
{then}
"""


def process(folder, child, then):
    """Return a process that has made temporary folders in a folder, itself and in a fork."""
    made = subprocess.Popen(
        [sys.executable, '-c', MAKE.format(child=child, then=then)],
        env=os.environ | {'TMPDIR': str(folder)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert made.stdout.readline() == 'made\n'
    return made


@pytest.mark.parametrize('child', ['os._exit(0)', 'sys.exit(0)'])
def test_the_folders_of_a_process_and_its_forks_end_with_it(tmp_path, child):
    process(tmp_path, child, '').communicate()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_is_removed_by_the_next_one_and_what_is_in_use_stays(
    tmp_path,
):
    living, killed = (process(tmp_path, 'os._exit(0)', 'time.sleep(1000)') for _ in range(2))
    assert len(list(tmp_path.iterdir())) == 2
    killed.kill()
    killed.communicate()
    for folder in tmp_path.iterdir():
        os.utime(folder, (time.time() - 100.0,) * 2)
    process(tmp_path, 'os._exit(0)', '').communicate()
    (left,) = tmp_path.iterdir()
    assert len(list(Path(left).iterdir())) == 2
    living.send_signal(signal.SIGKILL)
    living.communicate()
