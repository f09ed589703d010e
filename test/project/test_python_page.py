"""docs/python.md: its samples run as one script, by the numbers that it shows."""

import subprocess
import sys

import pytest
from repository import ROOT
from scripts import load_script

samples = load_script('tools/samples.py')


@pytest.mark.slow
def test_the_samples_of_the_page_run_as_one_script(tmp_path):
    blocks = [
        each for each in samples.blocks(ROOT / 'docs' / 'python.md') if each.kind == 'python'
    ]
    text = '\n'.join(each.text.replace('run.film()', '') for each in blocks)
    (tmp_path / 'sample.py').write_text(text)
    command = [sys.executable, 'sample.py']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    words = "python -m arm_sim run --law computed_torque --drives '{command_delay: 8}'"
    assert words in done.stdout
    for name in ('cube.png', 'payload.png', 'sinusoid_joints.png'):
        assert (tmp_path / name).stat().st_size > 10_000
