"""Run a launch file to its end."""

import json
import os
import subprocess

from domains import fresh_domain
from long_wait import LONG_WAIT


def launch(folder, file, *arguments):
    """Run a launch file to its end; return exit code, what it printed, and its report."""
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    command = ['ros2', 'launch', 'arm_sim', file, f'output_dir:={folder}', *arguments]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=4 * LONG_WAIT, env=environment
    )
    report = folder / 'report.json'
    text = run.stdout + run.stderr
    return run.returncode, text, json.loads(report.read_text()) if report.exists() else {}
