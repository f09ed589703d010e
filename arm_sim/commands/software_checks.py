"""Checks of `doctor`: Python, Python packages, ROS 2, optional packages.

A package that may be broken is imported in another process, or only by its own check.
"""

import os
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from arm_sim.commands.machine_checks import Finding, State
from arm_sim.versions import versions

_PYTHON = (3, 12)
_MODULES = {'EAIK': 'eaik', 'pillow': 'PIL', 'pin': 'pinocchio', 'pyyaml': 'yaml'}
_LONGEST = 120.0  # timeout of a process that a check starts [s]
# What the extras of setup.py are for.
_FOR = {
    'dask': '--scheduler',
    'parquet': '--parquet',
    'robots': 'more robots',
    'film': 'render to MP4',
    'view': 'view:=true',
}
# Optional packages of ROS 2, and what needs them.
_ROS_OPTIONAL = {'tf2_msgs': '/tf', 'rviz2': 'rviz:=true', 'rqt_plot': 'plot:=true'}
_ROS = ('rclpy', 'control_msgs', 'arm_interfaces')


def python() -> list[Finding]:
    """Check the version of Python."""
    there, wanted = platform.python_version(), '.'.join(map(str, _PYTHON))
    if sys.version_info[:2] >= _PYTHON:
        return [Finding('Python', State.GOOD, there)]
    return [Finding('Python', State.BROKEN, there, f'install Python {wanted} or newer')]


def package() -> list[Finding]:
    """Check that this package is installed; report its version and commit."""
    detail = versions()
    source = f', source {detail["git"][:12]}' if detail['git'] else ''
    if detail['arm_sim']:
        return [Finding('arm_sim', State.GOOD, f'{detail["arm_sim"]}{source}')]
    return [Finding('arm_sim', State.BROKEN, 'not installed', './ws true, or colcon build')]


def packages(requirements: Path | None = None) -> list[Finding]:
    """Check versions and imports of the Python packages in requirements.txt."""
    file = requirements or Path(__file__).resolve().parents[2] / 'requirements.txt'
    if not file.is_file():
        return [Finding('Python packages', State.NOTE, 'installed without requirements.txt')]
    from packaging.requirements import Requirement

    lines = [line.split('#')[0].strip() for line in file.read_text().splitlines()]
    wanted = [Requirement(line) for line in lines if line]
    misfits = [detail for each in wanted if (detail := _misfit(each))]
    if misfits:
        advice = f'pip install -r {file}'
        return [Finding('Python packages', State.BROKEN, ', '.join(misfits), advice)]
    names = ', '.join(_MODULES.get(each.name, each.name) for each in wanted)
    detail = _python(f'import {names}')
    if detail:
        advice = f'pip install --force-reinstall -r {file}'
        return [Finding('Python packages', State.BROKEN, detail, advice)]
    return [Finding('Python packages', State.GOOD, f'{len(wanted)} of requirements.txt')]


def _misfit(wanted: Any) -> str:
    """Return how the installed package differs from a requirement; '': no difference."""
    try:
        there = version(wanted.name)
    except PackageNotFoundError:
        return f'no {wanted.name}'
    return '' if there in wanted.specifier else f'{wanted.name} is {there}, not {wanted.specifier}'


def ros() -> list[Finding]:
    """Check the distribution of ROS 2, its message packages and its middleware."""
    distro = os.environ.get('ROS_DISTRO', '')
    if not distro:
        advice = './ws COMMAND, or source /opt/ros/jazzy/setup.bash'
        return [Finding('ROS 2', State.BROKEN, 'none is sourced', advice)]
    found = []
    state = State.GOOD if distro == 'jazzy' else State.NOTE
    advice = '' if distro == 'jazzy' else 'written for jazzy, tried on no other one'
    found.append(Finding('ROS 2', state, distro, advice))
    for name in _ROS:
        if detail := _python(f'import {name}'):
            advice = f'sudo apt install ros-{distro}-{name.replace("_", "-")}'
            if name == 'arm_interfaces':
                advice = (
                    'build the workspace: ./ws true, or colcon build --base-paths . arm_interfaces'
                )
            found.append(Finding(name, State.BROKEN, detail, advice))
    return [*found, _middleware()]


def _middleware() -> Finding:
    """Check the middleware in another process, which a broken middleware may crash."""
    asked = os.environ.get('RMW_IMPLEMENTATION', '')
    code = 'import rclpy, rclpy.utilities as u; rclpy.init(); rclpy.create_node("doctor"); '
    code += 'print(u.get_rmw_implementation_identifier())'
    done = _run(code)
    if done.returncode:
        advice = 'unset RMW_IMPLEMENTATION' if asked else 'install rmw_fastrtps_cpp'
        return Finding(
            'middleware', State.BROKEN, f'{asked or "the usual one"}: {_last(done)}', advice
        )
    name = done.stdout.strip()
    if name.startswith('rmw_fastrtps'):
        return Finding('middleware', State.GOOD, name)
    return Finding('middleware', State.NOTE, name, 'tried with rmw_fastrtps_cpp only')


def optional() -> list[Finding]:
    """Report which optional packages are installed, and what needs the others."""
    from packaging.requirements import Requirement

    from arm_sim.view.film_files import ffmpeg

    found = []
    for text in requires('arm_sim') or ():
        wanted = Requirement(text)
        extra = next((each for each in _FOR if f'"{each}"' in str(wanted.marker)), None)
        if extra is None:
            continue
        detail = _misfit(wanted)
        if extra == 'film' and ffmpeg():
            detail = ''
        advice = f'for {_FOR[extra]}: pip install "{wanted.name}{wanted.specifier}"'
        found.append(_optional(wanted.name, detail, advice))
    prefixes = os.environ.get('AMENT_PREFIX_PATH', '').split(':')
    for name, what in _ROS_OPTIONAL.items():
        there = any(Path(each, 'share', name, 'package.xml').is_file() for each in prefixes)
        distro = os.environ.get('ROS_DISTRO', 'jazzy')
        advice = f'for {what}: sudo apt install ros-{distro}-{name.replace("_", "-")}'
        found.append(_optional(name, '' if there else f'no {name}', advice))
    return found


def _optional(name: str, lacks: str, advice: str) -> Finding:
    if lacks:
        return Finding(name, State.ABSENT, '' if lacks.startswith('no ') else lacks, advice)
    return Finding(name, State.GOOD, '')


def _python(code: str) -> str:
    """Run code in another Python process; return the last line of its error, '': none."""
    done = _run(code)
    return _last(done) if done.returncode else ''


def _run(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-c', code]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, '', f'no end within {_LONGEST:g} s')


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else f'it ended with {done.returncode}'


NEEDED = (python, package, packages, ros)
