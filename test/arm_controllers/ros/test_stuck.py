"""A process whose main thread hears no signal ends, and says where it stood."""

import signal
import subprocess
import sys

STUCK = """
import ctypes
from arm_controllers.ros.stuck import end_where_stuck

signal.signal(signal.SIGTERM, lambda *_: None)
end_where_stuck(lambda: False, 0.2)
library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)

def wait_for_its_own_mutex():
    library.pthread_mutex_lock(mutex)
    print('begins', flush=True)
    library.pthread_mutex_lock(mutex)

wait_for_its_own_mutex()
"""
HEARS = """
import time
from arm_controllers.ros.stuck import end_where_stuck

heard = []
signal.signal(signal.SIGTERM, lambda *_: heard.append(1))
end_where_stuck(lambda: bool(heard), 1.0)
print('begins', flush=True)
while not heard:
    time.sleep(0.01)
time.sleep(1.3)
print('lives', flush=True)
"""

FORKS = """
import os
import time
from arm_controllers.ros.stuck import end_where_stuck

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
end_where_stuck(lambda: False, 0.2)
reading, writing = os.pipe()
child = os.fork()
if not child:
    os.write(writing, b'.')
    while True:
        time.sleep(0.01)
os.read(reading, 1)
os.kill(child, signal.SIGTERM)
os.waitpid(child, 0)
time.sleep(0.5)
print('begins', flush=True)
signal.pause()
"""


def ended(code):
    """Return the exit code, the output and the errors of a program that gets SIGTERM."""
    command = [sys.executable, '-c', f'import signal\n{code}']
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == 'begins\n'
    process.terminate()
    output, errors = process.communicate()
    return process.returncode, output, errors


def test_a_main_thread_that_waits_for_its_own_mutex_is_ended_with_its_place():
    code, _, errors = ended(STUCK)
    assert code == -signal.SIGTERM
    assert errors.startswith('SIGTERM was not heard for 0.2 s: ended; the main thread stood in ')
    assert errors.endswith('in wait_for_its_own_mutex\n')
    assert errors.count('\n') == 1


def test_a_main_thread_that_hears_the_signal_goes_on():
    assert ended(HEARS) == (0, 'lives\n', '')


def test_a_signal_to_a_forked_process_does_not_end_its_parent():
    code, _, errors = ended(FORKS)
    assert code == 0
    assert 'was not heard' not in errors
