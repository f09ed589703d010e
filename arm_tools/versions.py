"""Versions of the package, its source, Python, ROS 2 and libraries."""

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ('numpy', 'scipy', 'pin', 'mujoco', 'numba', 'mcap')


def versions() -> dict[str, str]:
    """Return versions by name; '' for a package that is not installed."""
    return {
        'arm_sim': _version('arm_sim'),
        'git': git_revision(),
        'ros': os.environ.get('ROS_DISTRO', ''),
        'rmw': os.environ.get('RMW_IMPLEMENTATION', ''),
        'python': platform.python_version(),
        **{name: _version(name) for name in LIBRARIES},
        'machine': f'{platform.machine()}, {platform.system()} {platform.release()}',
    }


def git_revision() -> str:
    """Return the commit of the source, with '+' where files differ; '' without git."""
    folder = Path(__file__).resolve().parent.parent
    if not (folder / '.git').exists():
        return ''
    try:
        done = subprocess.run(
            ['git', 'describe', '--always', '--abbrev=40', '--dirty=+', '--exclude=*'],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=10.0,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):  # no git, or a slow disk
        return ''
    return done.stdout.strip()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''
