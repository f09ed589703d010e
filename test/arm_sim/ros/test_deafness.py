"""A process that listens where nobody can send any more starts again, or says so."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rclpy
from domains import fresh_domain
from long_wait import LONG_WAIT
from std_msgs.msg import String

LISTENER = """
import sys
from rclpy.node import Node
from std_msgs.msg import String
from arm_controllers.ros.running import run_node
from arm_sim.ros.deafness import watch

class Listener(Node):
    def __init__(self):
        super().__init__('listener')
        self.create_subscription(String, 'words', lambda word: print(word.data, flush=True), 1)
        print('started', flush=True)

watch('listener', starts_again=sys.argv[1] == 'again')
sys.exit(run_node('listener', Listener))
"""
LINE = re.compile(
    r'listener: the process stood still for [1-9]\S* s, and the middleware brings it no messages '
    'since: (it starts again|start the launch again)\n'
)


class Process:
    """A listener alone in a ROS domain, output to a file."""

    def __init__(self, folder, then):
        self._file, self.domain = folder / 'out', fresh_domain()
        environment = os.environ | {'ROS_DOMAIN_ID': self.domain}
        command = [sys.executable, '-c', LISTENER, then]
        with self._file.open('w') as out:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)

    def until(self, text, times=1, do=lambda: None):
        end = time.monotonic() + LONG_WAIT
        while len(re.findall(text, printed := self._file.read_text())) < times:
            assert time.monotonic() < end, printed
            assert self.process.poll() is None, printed
            do()
            time.sleep(0.05)
        return printed

    def lose_port(self):
        """Remove the files at which it listens, as Fast DDS does in other processes."""
        folder = Path(f'/proc/{self.process.pid}/fd')
        locks = [os.readlink(link) for link in folder.iterdir()]
        ports = [Path(x.removesuffix('_el')) for x in locks if re.search(r'port\d+_el$', x)]
        assert ports
        for port in ports:
            port.unlink()

    def stand_still(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def listener(tmp_path):
    made = []

    def make(then):
        made.append(Process(tmp_path, then))
        made[0].until('started')
        return made[0]

    yield make
    made[0].process.send_signal(signal.SIGINT)
    made[0].process.wait(timeout=LONG_WAIT)


def test_a_deaf_process_starts_again_and_hears(listener):
    listens = listener('again')
    listens.lose_port()
    listens.stand_still(2.0)
    printed = listens.until('started', times=2)
    assert LINE.findall(printed) == ['it starts again']
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(listens.domain))
    speaker = rclpy.create_node('speaker', context=context)
    words = speaker.create_publisher(String, 'words', 1)
    listens.until('hello', do=lambda: words.publish(String(data='hello')))
    context.shutdown()


def test_one_that_has_a_state_says_what_to_do(listener):
    listens = listener('not')
    listens.lose_port()
    listens.stand_still(2.0)
    assert LINE.findall(listens.until(LINE.pattern)) == ['start the launch again']


def test_one_that_stood_still_and_hears_goes_on(listener):
    listens = listener('again')
    listens.stand_still(2.0)
    time.sleep(8.0)  # within which a deaf one has started again
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(listens.domain))
    speaker = rclpy.create_node('speaker', context=context)
    words = speaker.create_publisher(String, 'words', 1)
    printed = listens.until('hello', do=lambda: words.publish(String(data='hello')))
    context.shutdown()
    assert printed.startswith('started\nhello')
