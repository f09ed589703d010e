"""Nodes send by UDP, where one that was stopped goes on to receive; users' settings are kept."""

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

from arm_sim.ros.fast_dds import use_udp

LISTENER = """
import sys
from rclpy.node import Node
from std_msgs.msg import String
from arm_controllers.ros.running import run_node
from arm_sim.ros.fast_dds import use_udp

class Listener(Node):
    def __init__(self):
        super().__init__('listener')
        self.create_subscription(String, 'words', lambda word: print(word.data, flush=True), 1)

use_udp()
sys.exit(run_node('listener', Listener))
"""


@pytest.fixture
def publisher(monkeypatch):
    """Return a function that makes a publisher of words in a ROS domain, with its reach."""
    context = rclpy.Context()

    def make(domain, reach):
        monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', reach)
        rclpy.init(context=context, domain_id=int(domain))
        return rclpy.create_node('speaker', context=context).create_publisher(String, 'words', 1)

    yield make
    context.try_shutdown()


def speak(publisher, word, enough):
    end = time.monotonic() + LONG_WAIT
    while not enough():
        assert time.monotonic() < end, f'nobody hears {word!r}'
        publisher.publish(String(data=word))
        time.sleep(0.01)


def shared_memory(process):
    """Return the files in shared memory by which Fast DDS lets a process receive."""
    links = [os.readlink(link) for link in Path(f'/proc/{process.pid}/fd').iterdir()]
    return [link for link in links if re.search(r'fastrtps_port\d+', link)]


@pytest.mark.quick(1)
@pytest.mark.parametrize('reach', ['LOCALHOST', 'SUBNET'])
def test_a_node_that_stood_still_for_seconds_listens_where_others_send(publisher, reach, tmp_path):
    domain = fresh_domain()
    own = os.environ | {'ROS_DOMAIN_ID': domain, 'ROS_AUTOMATIC_DISCOVERY_RANGE': reach}
    heard = tmp_path / 'heard'
    with heard.open('w') as out:
        listener = subprocess.Popen([sys.executable, '-c', LISTENER], env=own, stdout=out)
    words = publisher(domain, reach)
    speak(words, 'before', lambda: 'before' in heard.read_text())
    ports = shared_memory(listener)
    listener.send_signal(signal.SIGSTOP)
    end = time.monotonic() + 3.0
    speak(words, 'meanwhile', lambda: time.monotonic() > end)
    listener.send_signal(signal.SIGCONT)
    speak(words, 'after', lambda: 'after' in heard.read_text())
    listener.send_signal(signal.SIGINT)
    assert listener.wait(timeout=LONG_WAIT) == 0
    assert not ports


OWN = {
    'FASTRTPS_DEFAULT_PROFILES_FILE': '/own.xml',
    'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',
    'ROS_DISCOVERY_SERVER': '127.0.0.1:11811',
    'ROS_LOCALHOST_ONLY': '1',
    'ROS_STATIC_PEERS': '10.0.0.2',
    'ROS_AUTOMATIC_DISCOVERY_RANGE': 'OFF',
}


@pytest.fixture
def unset(monkeypatch):
    """Let users say nothing of Fast DDS."""
    for each in OWN:
        monkeypatch.setenv(each, '')  # what a test sets is removed again
        monkeypatch.delenv(each)


@pytest.mark.usefixtures('unset')
def test_without_a_word_of_users_a_profile_of_this_package_is_named():
    use_udp()
    assert os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'].endswith('config/fast_dds_subnet.xml')


@pytest.mark.usefixtures('unset')
def test_the_profiles_of_a_user_in_the_present_folder_are_kept(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path('DEFAULT_FASTRTPS_PROFILES.xml').write_text('<profiles/>')
    before = dict(os.environ)
    use_udp()
    assert dict(os.environ) == before


@pytest.mark.usefixtures('unset')
@pytest.mark.parametrize('name', OWN)
def test_what_users_say_of_fast_dds_is_kept(monkeypatch, name):
    monkeypatch.setenv(name, OWN[name])
    before = dict(os.environ)
    use_udp()
    assert dict(os.environ) == before
