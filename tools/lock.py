"""Writes requirements.lock from requirements.in: `./ws python tools/lock.py`."""

import json
import subprocess
import sys
from pathlib import Path

RECIPE = Path(__file__).parent / 'fallback_ros2'
HEADER = '# Made by tools/lock.py from requirements.in, for Python 3.12 on Linux, x86-64.\n'


def main() -> None:
    """Let pip resolve the requirements against PyPI; write one line with a hash per package."""
    pip = [sys.executable, '-m', 'pip', 'install', '--dry-run', '--ignore-installed', '--quiet']
    source = ['--index-url=https://pypi.org/simple', '--only-binary=:all:', '--no-binary=empy']
    report = ['--report=-', '-r', RECIPE / 'requirements.in']
    packages = json.loads(subprocess.check_output([*pip, *source, *report]))['install']
    lines = []
    for package in packages:
        name, version = package['metadata']['name'], package['metadata']['version']
        sha256 = package['download_info']['archive_info']['hashes']['sha256']
        lines.append(f'{name.lower().replace("_", "-")}=={version} --hash=sha256:{sha256}\n')
    (RECIPE / 'requirements.lock').write_text(HEADER + ''.join(sorted(lines)))


if __name__ == '__main__':
    main()
