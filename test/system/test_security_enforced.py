"""With ROS_SECURITY_STRATEGY=Enforce a node without valid keys does not start."""

import os
import subprocess
import sys

import pytest
from domains import fresh_domain


@pytest.mark.parametrize('enclave', ['/arm_sim/simulator', '/', '/no/enclave'])
def test_node_without_keys_ends_with_one_line_and_shows_nothing(enclave, tmp_path):
    (tmp_path / 'enclaves' / 'arm_sim' / 'simulator').mkdir(parents=True)
    own = {
        'ROS_DOMAIN_ID': fresh_domain(),
        'ROS_SECURITY_ENABLE': 'true',
        'ROS_SECURITY_STRATEGY': 'Enforce',
        'ROS_SECURITY_KEYSTORE': str(tmp_path),
    }
    words = ['-m', 'arm_sim.executables', 'simulator', '--ros-args', '--enclave', enclave]
    done = subprocess.run(
        [sys.executable, *words], env=os.environ | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if line.startswith('simulator: ')]
    assert 'Traceback' not in done.stderr
    assert 'model and plant agree' not in done.stderr
