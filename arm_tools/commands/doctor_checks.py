"""Checks of `doctor`: Python and its packages, ROS 2, network, shared memory, OpenGL.

A package that may be broken is imported in another process.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arm_sim.cut_bytecode import cut_files
from arm_tools.versions import versions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

SHARED_MB = 32  # shared memory that Fast DDS may need [MB]
_FEW = 12  # files that are named at once
_LONGEST = 120.0  # timeout of a process that a check starts [s]
_MODULES = {'EAIK': 'eaik', 'pillow': 'PIL', 'pin': 'pinocchio', 'pyyaml': 'yaml'}
# Optional packages of ROS 2, and what needs them.
_ROS_OPTIONAL = {'tf2_msgs': '/tf', 'rviz2': 'rviz:=true', 'rqt_plot': 'plot:=true'}
_NODE = (
    'import arm_interfaces, control_msgs, rclpy, rclpy.utilities; rclpy.init(); '
    'rclpy.create_node("doctor"); print(rclpy.utilities.get_rmw_implementation_identifier())'
)


class Severity(StrEnum):
    """Result of a check; nothing runs while one is BROKEN."""

    GOOD = 'ok'
    NOTE = 'note'
    ABSENT = 'not there'
    BROKEN = 'MISSING'


class Diagnosis(NamedTuple):
    """Result of a check: what was found, and what to do."""

    name: str
    state: Severity
    detail: str
    advice: str = ''


def _finding(name: str, detail: str, advice: str, state: Severity = Severity.BROKEN) -> Diagnosis:
    """Return a finding that is good where there is no advice, else has the state given."""
    return Diagnosis(name, state if advice else Severity.GOOD, detail, advice)


def python() -> list[Diagnosis]:
    """Check the versions of Python and of this package."""
    detail = versions()
    advice = '' if sys.version_info >= (3, 12) else 'install Python 3.12 or newer'
    source = f', source {detail["git"][:12]}' if detail['git'] else ''
    there = f'{detail["arm_sim"]}{source}' if detail['arm_sim'] else 'not installed'
    build = '' if detail['arm_sim'] else './ws true, or colcon build'
    return [
        _finding('Python', platform.python_version(), advice),
        _finding('arm_sim', there, build),
    ]


def packages() -> list[Diagnosis]:
    """Check versions and imports of the Python packages that this package needs."""
    from packaging.requirements import Requirement

    from arm_dynamics.checks import typed

    wanted = [each for each in map(Requirement, requires('arm_sim') or ()) if not each.marker]
    detail = ', '.join(filter(None, map(_misfit, wanted)))
    if not detail:
        names = ', '.join(_MODULES.get(each.name, each.name) for each in wanted)
        detail = _error(_run(f'import {names}'))
    names = ' '.join(f'"{each}"' for each in wanted)
    advice = typed(f'pip install --force-reinstall {names}') if detail else ''
    return [_finding('Python packages', detail or f'{len(wanted)} of them', advice)]


def bytecode() -> list[Diagnosis]:
    """Check whether Python can read the bytecode that it has cached."""
    files = list(cut_files())
    few = files[:_FEW]
    advice = f'after a power cut: rm {" ".join(map(shlex.quote, few))}' if files else ''
    more = f' and {len(files) - _FEW} more' if len(files) > _FEW else ''
    detail = f'cut off: {", ".join(Path(x).name for x in few)}{more}' if files else 'complete'
    return [_finding('bytecode', detail, advice)]


def ros() -> list[Diagnosis]:
    """Check the distribution of ROS 2, and that a node starts with its middleware."""
    distro, asked = os.environ.get('ROS_DISTRO', ''), os.environ.get('RMW_IMPLEMENTATION', '')
    if not distro:
        advice = './ws COMMAND, or source /opt/ros/jazzy/setup.bash'
        return [_finding('ROS 2', 'none is sourced', advice)]
    advice = '' if distro == 'jazzy' else 'written for jazzy, tried on no other one'
    done = _run(_NODE)  # a broken middleware may crash the process
    mend = 'unset RMW_IMPLEMENTATION' if asked else './ws true, or rosdep install, colcon build'
    node = Diagnosis('middleware', Severity.GOOD, done.stdout.strip())
    if done.returncode:
        node = _finding('middleware', f'{asked or "the usual one"}: {_error(done)}', mend)
    return [_finding('ROS 2', distro, advice, Severity.NOTE), node]


def network() -> list[Diagnosis]:
    """Check which machines of the network discover the nodes."""
    domain = os.environ.get('ROS_DOMAIN_ID', '0') or '0'
    reach = os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE', 'SUBNET')
    detail = f'domain {domain}, discovery {reach}'
    if not domain.isdigit() or int(domain) > 232:
        return [_finding('network', detail, 'set ROS_DOMAIN_ID to 0..101')]
    advice = 'ports of domains 102..214 may be taken: 0..101' if 101 < int(domain) < 215 else ''
    if reach == 'SUBNET':
        advice = 'others on the network hear the nodes: ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST'
    return [_finding('network', detail, advice, Severity.NOTE)]


def shared_memory(folder: Path = Path('/dev/shm')) -> list[Diagnosis]:
    """Check shared memory, by which Fast DDS sends in others' nodes and commands."""
    if not os.access(folder, os.W_OK):
        advice = 'commands of ROS use it: give the container --ipc=host or --shm-size=256m'
        return [_finding('shared memory', f'{folder} cannot be written', advice, Severity.NOTE)]
    free = shutil.disk_usage(folder).free / 1e6
    full = 'give the container --shm-size=256m, or run "fastdds shm clean"'
    detail, advice = f'{free:.0f} MB free in {folder}', full if free < SHARED_MB else ''
    return [_finding('shared memory', detail, advice, Severity.NOTE)]


def graphics() -> list[Diagnosis]:
    """Check OpenGL without a window, which films need."""
    from arm_tools.view.offscreen import BACKENDS, HELP, why_not

    reasons = {library: why_not(library) for library in BACKENDS}
    usable = [library for library, reason in reasons.items() if not reason]
    detail = '; '.join(f'{library}: {reason}' for library, reason in reasons.items())
    advice = '' if usable else f'for render: {HELP}'
    return [_finding('OpenGL', usable[0] if usable else detail, advice, Severity.ABSENT)]


def optional() -> list[Diagnosis]:
    """Report which optional packages are there, and what needs the others."""
    from packaging.requirements import Requirement

    from arm_dynamics.checks import typed

    found: list[Diagnosis] = []
    named: set[str] = set()
    for wanted in map(Requirement, requires('arm_sim') or ()):
        extra = str(wanted.marker).partition('extra == ')[2].strip('"')
        if extra and extra != 'test' and wanted.name not in named:  # several extras may have it
            named.add(wanted.name)
            install = typed(f'pip install "{wanted.name}{wanted.specifier}"')
            advice = f'for arm_sim[{extra}]: {install}'
            lacks = _misfit(wanted)
            found.append(_finding(wanted.name, lacks, advice if lacks else '', Severity.ABSENT))
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    distro = os.environ.get('ROS_DISTRO', 'jazzy')
    for name, what in _ROS_OPTIONAL.items():
        there = any(Path(each, 'share', name, 'package.xml').is_file() for each in prefixes)
        advice = f'for {what}: sudo apt install ros-{distro}-{name.replace("_", "-")}'
        found.append(_finding(name, '', '' if there else advice, Severity.ABSENT))
    return found


def _misfit(wanted: 'Requirement') -> str:
    """Return how the installed package differs from a requirement; '': no difference."""
    try:
        there = version(wanted.name)
    except PackageNotFoundError:
        return f'no {wanted.name}'
    return '' if there in wanted.specifier else f'{wanted.name} is {there}, not {wanted.specifier}'


def _run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-c', code]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, '', f'no end within {_LONGEST:g} s')


def _error(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line of the error of a process; '': it had none."""
    if not done.returncode:
        return ''
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f'it ended with {done.returncode}'


ALL = (python, bytecode, packages, ros, network, shared_memory, graphics, optional)
