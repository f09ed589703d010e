"""The test of launch_testing on the page about tests, as a user's pytest runs it."""

import subprocess
import sys

import pytest
from long_wait import LONG_WAIT
from repository import ROOT
from scripts import load_script

samples = load_script('tools/samples.py')


@pytest.mark.slow
def test_the_test_of_launch_testing_passes(tmp_path, ros_domain):
    file = tmp_path / 'test_goals.py'
    blocks = samples.blocks(ROOT / 'docs' / 'testing.md')
    file.write_text(next(each.text for each in blocks if 'ready_to_test' in each.text))
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(file)],
        cwd=tmp_path, text=True, timeout=2 * LONG_WAIT, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout
    assert '1 passed' in run.stdout
