"""`ros2 param dump` as a user meets it: what it wrote is the `config` of the next launch."""

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from domains import fresh_domain
from long_wait import LONG_WAIT


@contextmanager
def running(folder, domain, *command):
    """Run a command until the block ends; give a way to dump nodes."""
    environment = os.environ | {'ROS_DOMAIN_ID': domain}
    with (folder / 'log.txt').open('w') as log:
        process = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )

    def dump(node: str) -> str:
        end = time.monotonic() + LONG_WAIT
        while time.monotonic() < end:
            assert process.poll() is None, (folder / 'log.txt').read_text()
            with suppress(subprocess.TimeoutExpired):  # ROS can lose an answer: it never comes
                answer = subprocess.run(
                    ['ros2', 'param', 'dump', '--no-daemon', node],
                    capture_output=True,
                    text=True,
                    env=environment,
                    timeout=60.0,
                )
                if answer.stdout.startswith(node):
                    return answer.stdout
        raise AssertionError((folder / 'log.txt').read_text())

    try:
        yield dump
    finally:
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does
        process.wait(timeout=LONG_WAIT)


def test_dumps_of_two_nodes_are_the_config_of_the_next_launch_and_change_nothing(tmp_path):
    domain = fresh_domain()  # the one that the nodes' core depends on
    launch = ['ros2', 'launch', 'arm_sim', 'arm.launch.py', 'robot:=planar_3r', 'controller:=pd']
    (tmp_path / 'mine.yaml').write_text('/**: {ros__parameters: {kp: [210.0]}}')
    nodes, both = ('/simulator', '/pd_controller'), ThreadPoolExecutor(2)
    with running(tmp_path, domain, *launch, f'config:={tmp_path}/mine.yaml') as dump:
        first = [*both.map(dump, nodes)]
    assert '- 210.0' in first[1]
    (tmp_path / 'dumps.yaml').write_text(''.join(first))
    with running(tmp_path, domain, *launch, f'config:={tmp_path}/dumps.yaml') as dump:
        assert [*both.map(dump, nodes)] == first
