"""Checks of `doctor`: network, shared memory, clock, cores, folders, OpenGL."""

import os
import shutil
import time
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class State(StrEnum):
    """Result of a check; nothing runs while one is BROKEN."""

    GOOD = 'ok'
    NOTE = 'note'
    ABSENT = 'not there'
    BROKEN = 'MISSING'


class Finding(NamedTuple):
    """Result of a check: what was found, and what to do."""

    name: str
    state: State
    told: str
    advice: str = ''


SHARED_MB = 32  # shared memory that Fast DDS may need [MB]
_DISK_MB = 200  # disk space that compiled code needs [MB]


def network() -> list[Finding]:
    """Check which machines of the network discover the nodes."""
    domain = os.environ.get('ROS_DOMAIN_ID', '0') or '0'
    reach = os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
    told = f'domain {domain}, discovery {reach}'
    if not domain.isdigit() or int(domain) > 232:
        return [Finding('network', State.BROKEN, told, 'set ROS_DOMAIN_ID to 0..101')]
    if 101 < int(domain) < 215:
        return [
            Finding('network', State.NOTE, told, 'ports of domains 102..214 may be taken: 0..101')
        ]
    if reach == 'SUBNET':
        advice = 'others on the network hear the nodes: ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'
        return [Finding('network', State.NOTE, told, advice)]
    return [Finding('network', State.GOOD, told)]


def shared_memory(folder: Path = Path('/dev/shm')) -> list[Finding]:
    """Check shared memory, the transport between processes of one machine."""
    if not os.access(folder, os.W_OK):
        advice = 'slower without it: give the container --ipc=host or --shm-size=256m'
        return [Finding('shared memory', State.NOTE, f'{folder} cannot be written', advice)]
    free = shutil.disk_usage(folder).free / 1e6
    told = f'{free:.0f} MB free in {folder}'
    if free < SHARED_MB:
        advice = 'give the container --shm-size=256m, or run "fastdds shm clean"'
        return [Finding('shared memory', State.NOTE, told, advice)]
    return [Finding('shared memory', State.GOOD, told)]


def clock() -> list[Finding]:
    """Check how late a sleeping process wakes up; a period at 500 Hz has 2 ms."""
    late = []
    for _ in range(50):
        begin = time.monotonic()
        time.sleep(0.001)
        late.append((time.monotonic() - begin - 0.001) * 1e3)
    late.sort()
    told = f'wakes {late[25]:.2g} ms late, at most {late[-1]:.2g} of 50 times'
    if late[-1] < 2.0:
        return [Finding('clock', State.GOOD, told)]
    return [
        Finding('clock', State.NOTE, told, 'in real time states may be missed; lock-step waits')
    ]


def cores() -> list[Finding]:
    """Check the number of cores of this process, and their load."""
    count, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    told = f'{count} cores, load {load:.1f}'
    if count < 2:
        advice = 'simulator and controller share a core: composed:=true'
    elif load > count:
        advice = 'others use the processor: numbers per second will be low'
    else:
        return [Finding('cores', State.GOOD, told)]
    return [Finding('cores', State.NOTE, told, advice)]


def folders() -> list[Finding]:
    """Check the folders of compiled code and logs."""
    cache = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'arm_sim'
    home = Path(os.environ.get('ROS_HOME') or Path.home() / '.ros')
    logs = Path(os.environ.get('ROS_LOG_DIR') or home / 'log')
    found = []
    for name, folder, variable in (
        ('compiled code', cache, 'XDG_CACHE_HOME'), ('logs', logs, 'ROS_LOG_DIR'),
    ):  # fmt: skip
        there = folder
        while not there.exists():
            there = there.parent
        free = shutil.disk_usage(there).free / 1e6
        if not os.access(there, os.W_OK | os.X_OK) or not there.is_dir():
            told, advice = f'{folder} cannot be written', f'set {variable} to a folder that can be'
            found.append(Finding(name, State.NOTE, told, advice))
        elif free < _DISK_MB:
            told, advice = f'{free:.0f} MB free in {folder}', f'make room, or set {variable}'
            found.append(Finding(name, State.NOTE, told, advice))
        else:
            found.append(Finding(name, State.GOOD, str(folder)))
    return found


def graphics() -> list[Finding]:
    """Check OpenGL in a window (the viewer) and without one (films)."""
    from arm_sim.view.offscreen import BACKENDS, HELP, why_not

    display = os.environ.get('WAYLAND_DISPLAY') or os.environ.get('DISPLAY')
    window = Finding('window', State.GOOD, f'display {display}')
    if not display:
        window = Finding('window', State.ABSENT, 'no display', 'for viewer:=true: set DISPLAY')
    for library in BACKENDS:
        if not why_not(library):
            return [window, Finding('OpenGL', State.GOOD, f'{library}, without a window')]
    told = '; '.join(f'{library}: {why_not(library)}' for library in BACKENDS)
    return [window, Finding('OpenGL', State.ABSENT, told, f'for render: {HELP}')]


ALL = (network, shared_memory, clock, cores, folders, graphics)
