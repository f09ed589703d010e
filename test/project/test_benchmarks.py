"""What every benchmark owes to readers of its numbers, and to users who run an arm meanwhile."""

import re
import subprocess
import sys

import pytest
from scripts import ROOT

FOLDER = ROOT / 'benchmarks'
SCRIPTS = sorted(file for file in FOLDER.glob('*.py') if '__main__' in file.read_text())


@pytest.mark.parametrize('file', SCRIPTS, ids=lambda file: file.stem)
def test_it_prints_its_conditions_with_numbers_and_has_a_domain_of_its_own_for_nodes(file):
    code = file.read_text()
    if 'print(' in code:
        assert 'print_conditions()' in code
    if re.search(r"rclpy|'ros2'|cube_task", code):
        assert 'own_domain()' in code


@pytest.mark.slow
def test_two_benchmarks_have_two_domains_whatever_the_user_has_set(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', '0')
    code = 'from conditions import own_domain; print(own_domain(), flush=True); input()'
    runs = [
        subprocess.Popen(
            [sys.executable, '-c', code],
            cwd=FOLDER,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    domains = {run.stdout.readline() for run in runs}
    for run in runs:
        run.communicate('\n')
    assert len(domains) == 2
    assert not domains & {'0\n', '\n'}


def test_conditions_name_machine_load_and_versions():
    code = 'from conditions import print_conditions; print_conditions()'
    printed = subprocess.check_output([sys.executable, '-c', code], cwd=FOLDER, text=True)
    assert re.search(
        r'machine: .*\d+ cores\nload: [\d. ]+.*\nversions: Python 3.*numpy \d', printed
    )
