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
    detail: str
    advice: str = ''


def _noted(name: str, detail: str, advice: str = '') -> list[Finding]:
    """Return a finding that is good where there is no advice, else a note."""
    return [Finding(name, State.NOTE if advice else State.GOOD, detail, advice)]


SHARED_MB = 32  # shared memory that Fast DDS may need [MB]
_DISK_MB = 200  # disk space that compiled code needs [MB]


def network() -> list[Finding]:
    """Check which machines of the network discover the nodes."""
    domain = os.environ.get('ROS_DOMAIN_ID', '0') or '0'
    reach = os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
    detail = f'domain {domain}, discovery {reach}'
    if not domain.isdigit() or int(domain) > 232:
        return [Finding('network', State.BROKEN, detail, 'set ROS_DOMAIN_ID to 0..101')]
    if 101 < int(domain) < 215:
        return _noted('network', detail, 'ports of domains 102..214 may be taken: 0..101')
    heard = 'others on the network hear the nodes: ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'
    return _noted('network', detail, heard if reach == 'SUBNET' else '')


def shared_memory(folder: Path = Path('/dev/shm')) -> list[Finding]:
    """Check shared memory, the transport between processes of one machine."""
    if not os.access(folder, os.W_OK):
        advice = 'slower without it: give the container --ipc=host or --shm-size=256m'
        return _noted('shared memory', f'{folder} cannot be written', advice)
    free = shutil.disk_usage(folder).free / 1e6
    detail = f'{free:.0f} MB free in {folder}'
    advice = 'give the container --shm-size=256m, or run "fastdds shm clean"'
    return _noted('shared memory', detail, advice if free < SHARED_MB else '')


def clock() -> list[Finding]:
    """Check how late a sleeping process wakes up; a period at 500 Hz has 2 ms."""
    late = []
    for _ in range(50):
        begin = time.monotonic()
        time.sleep(0.001)
        late.append((time.monotonic() - begin - 0.001) * 1e3)
    late.sort()
    detail = f'wakes {late[25]:.2g} ms late, at most {late[-1]:.2g} of 50 times'
    missed = 'in real time states may be missed; lock-step waits'
    return _noted('clock', detail, '' if late[-1] < 2.0 else missed)


def cores() -> list[Finding]:
    """Check the number of cores of this process, and their load."""
    count, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    detail = f'{count} cores, load {load:.1f}'
    if count < 2:
        return _noted('cores', detail, 'simulator and controller share a core: composed:=true')
    busy = 'others use the processor: numbers per second will be low'
    return _noted('cores', detail, busy if load > count else '')


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
            detail = f'{folder} cannot be written'
            advice = f'set {variable} to a folder that can be'
            found += _noted(name, detail, advice)
        elif free < _DISK_MB:
            detail, advice = f'{free:.0f} MB free in {folder}', f'make room, or set {variable}'
            found += _noted(name, detail, advice)
        else:
            found += _noted(name, str(folder))
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
    detail = '; '.join(f'{library}: {why_not(library)}' for library in BACKENDS)
    return [window, Finding('OpenGL', State.ABSENT, detail, f'for render: {HELP}')]


ALL = (network, shared_memory, clock, cores, folders, graphics)
