"""A process that stood still may be deaf: then a node without a state of its own starts again.

Fast DDS 2.14 takes a port in shared memory for dead whose process did not move for a second, and
makes a new file for it. Usually the process follows; about one in a hundred listened at the old
file for ever, and no message, goal or request reached it.
"""

import os
import re
import sys
import time
from pathlib import Path
from threading import Thread

_LOOK = 0.5  # period of looking whether the process stood still [s]
_STILL = 0.9  # how much later a look comes where it did [s]
_FOLLOWS = 3.0  # time in which Fast DDS follows to the new file by itself [s]
_LOOKS = 4  # for files that are gone, after a standstill: others remove them as they notice it
# Of a port at which a process listens; and of any port that it maps.
_LOCK = re.compile(r'(/dev/shm/fastrtps_port\d+)_el')
_MAPPED = re.compile(r'(\d+) +(/dev/shm/fastrtps_port\d+)( \(deleted\))?$', re.MULTILINE)


def watch(name: str, starts_again: bool) -> None:
    """Look in a thread whether this process is deaf, print a line, and start it again, or not."""
    Thread(target=_watch, args=(name, starts_again), daemon=True).start()


def _watch(name: str, starts_again: bool) -> None:
    while True:
        since = time.clock_gettime(time.CLOCK_BOOTTIME)  # goes on in a suspended computer
        time.sleep(_LOOK)
        still = time.clock_gettime(time.CLOCK_BOOTTIME) - since - _LOOK
        if still > _STILL and _stays_deaf():
            remedy = 'it starts again' if starts_again else 'start the launch again'
            print(
                f'{name}: the process stood still for {still:.1f} s, and the middleware brings it '
                f'no messages since: {remedy}',
                file=sys.stderr,
                flush=True,
            )
            if starts_again:
                _start_again()


def _stays_deaf() -> bool:
    """Return whether this process listened twice at the same lost files."""
    lost: set[str] = set()
    for _ in range(_LOOKS):
        time.sleep(_FOLLOWS)
        before, lost = lost, lost_ports()
        if before & lost:
            return True
    return False


def lost_ports() -> set[str]:
    """Return the files, by their numbers, at which this process listens although they are gone."""
    links = []
    for number in os.listdir('/proc/self/fd'):
        try:
            links.append(os.readlink(f'/proc/self/fd/{number}'))
        except OSError:  # that of this listing
            continue
    own = {found[1] for link in links if (found := _LOCK.match(link))}
    files = _MAPPED.findall(Path('/proc/self/maps').read_text())
    there = {path for _, path, gone in files if not gone}
    return {number for number, path, gone in files if gone and path in own - there}


def _start_again() -> None:
    for number in os.listdir('/proc/self/fd'):
        if int(number) > 2:
            try:
                os.set_inheritable(int(number), False)
            except OSError:
                continue
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
