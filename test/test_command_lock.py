"""One controller at a time may command an arm: known at once, and free when its holder dies."""

import os
import signal
import subprocess
import sys

from arm_controllers.ros.command_lock import CommandLock

ARM = f'test_{os.getpid()}/joint_commands'


def test_second_to_ask_is_told_who_holds_the_lock_until_it_is_released():
    first, second = CommandLock(ARM, 'pd_controller'), CommandLock(ARM, 'servo_controller')
    assert first.take() == ''
    assert second.take() == 'pd_controller'
    assert second.take() == 'pd_controller'
    first.release()
    assert second.take() == ''
    assert first.take() == 'servo_controller'
    second.release()


def test_holder_may_take_it_again_and_release_it_twice():
    lock = CommandLock(ARM, 'pd_controller')
    assert lock.take() == lock.take() == ''
    lock.release()
    lock.release()


def test_other_arms_have_other_locks():
    one, other = CommandLock(ARM, 'a'), CommandLock(f'{ARM}_of_another_arm', 'b')
    assert one.take() == other.take() == ''
    one.release()
    other.release()


def test_killed_process_holds_nothing_any_more():
    code = (
        'from arm_controllers.ros.command_lock import CommandLock\n'
        f'lock = CommandLock({ARM!r}, "pd_controller")\n'
        'print(lock.take() == "", flush=True)\n'
        'input()'
    )
    command = [sys.executable, '-c', code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b'True\n'
        lock = CommandLock(ARM, 'servo_controller')
        assert lock.take() == 'pd_controller'
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert lock.take() == ''
        lock.release()


def test_when_many_ask_at_once_exactly_one_gets_it():
    code = (
        'import sys\n'
        'from arm_controllers.ros.command_lock import CommandLock\n'
        f'lock = CommandLock({ARM!r}, sys.argv[1])\n'
        'input()\n'
        'print(lock.take() == "", flush=True)\n'
        'input()'
    )
    processes = [
        subprocess.Popen(
            [sys.executable, '-c', code, f'controller_{k}'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for k in range(4)
    ]
    for process in processes:
        process.stdin.write('go\n')
        process.stdin.flush()
    answers = [process.stdout.readline() for process in processes]
    for process in processes:
        process.communicate('end\n', timeout=10)
    assert sorted(answers) == ['False\n'] * 3 + ['True\n']
