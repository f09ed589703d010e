"""A simulated minute of goals in lock-step: the soak run, short enough for every day."""

import json
import subprocess
import sys

import pytest

from arm_dynamics.robots import share_folder

pytest.importorskip('rclpy')


def test_a_minute_of_goals_all_end_as_they_must_with_memory_flat(tmp_path):
    numbers = tmp_path / 'numbers.json'
    command = [sys.executable, str(share_folder() / 'benchmarks' / 'soak.py')]
    answer = subprocess.run(
        [*command, '--hours', str(1 / 60), '--json', str(numbers)],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr[-2000:]
    found = json.loads(numbers.read_text())
    assert found['simulated_s'] >= 60.0
    assert found['wrong'] == []
    assert sum(found['goals'].values()) > 30
    assert max(found['growth_mb']) <= 4.0
