"""Follow docs/environment.md for an installed ROS 2, on a copy of Ubuntu 24.04.

    ./ws python tools/ubuntu_road.py FOLDER

FOLDER gets a Python 3.12 with Ubuntu's NumPy, SciPy and Matplotlib that refuses pip (PEP 668), a
ROS 2 Jazzy in a folder of its own, made from .ros, and a home. There the page's commands run
literally, with rosdep, which needs apt, left out, then ./ws in the clone. About 6 minutes, 3 GB.
Ubuntu's Matplotlib is 3.6, which PyPI does not have for Python 3.12: 3.8.0 is the next one, built
for NumPy 1 like it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What apt installs: Python's packages, and the tools besides ROS 2.
UBUNTU = """
    numpy==1.26.4 scipy==1.11.4 matplotlib==3.8.0 rich==13.7.1 pyyaml packaging
    colcon-common-extensions colcon-ros catkin-pkg empy==3.3.4 lark-parser psutil netifaces
    argcomplete setuptools==68.1.2 pytest==7.4.4 hypothesis cmake<4 ninja
"""
SETUP = """
for prefix in {jazzy} {interfaces}; do
  export AMENT_PREFIX_PATH=$prefix${{AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}}
  export CMAKE_PREFIX_PATH=$prefix${{CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}}
  export PYTHONPATH=$prefix/lib/python3.12/site-packages${{PYTHONPATH:+:$PYTHONPATH}}
  for libraries in "$prefix"/lib/python3.12/site-packages/ros_*.libs "$prefix"/lib; do
    export LD_LIBRARY_PATH=$libraries${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}
  done
done
export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3 _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
export PATH={jazzy}/bin:$PATH
"""


def main() -> int:
    """Make the copy, follow the page, then ./ws; return the worst exit code."""
    folder = Path(sys.argv[1]).resolve()
    if folder.exists():
        print(f'{folder} is there already; name a folder that is not')
        return 1
    print('making a copy of Ubuntu 24.04 with ROS 2 Jazzy ...', flush=True)
    make_python(folder / 'usr')
    make_ros(folder)
    commands = re.findall(r'## With an existing ROS 2 Jazzy.*?```sh\n(.*?)```', page(), re.S)[0]
    codes = []
    for title, script in (
        ('page', commands),
        ('./ws', 'cd ~/arm_ws/src/arm_sim && ./ws ros2 launch arm_sim cube.launch.py'),
    ):
        print(f'--- {title}\n{script}', flush=True)
        codes.append(in_copy(folder, script))
        print(f'--- {title}: exit code {codes[-1]}', flush=True)
    return max(codes)


def page() -> str:
    """Return the page with this repository's place, and Ubuntu's folder."""
    return (ROOT / 'docs/environment.md').read_text().replace('<this repository>', str(ROOT))


def make_python(usr: Path) -> None:
    """Copy this Python and give it Ubuntu's packages; from then on it refuses pip."""
    shutil.copytree(sys.base_prefix, usr, symlinks=True)
    run([usr / 'bin/python3.12', '-m', 'pip', 'install', '-qq', *UBUNTU.split()])
    marker = (
        '[externally-managed]\nError=To install Python packages, try apt install python3-xyz.\n'
    )
    (usr / 'lib/python3.12/EXTERNALLY-MANAGED').write_text(marker)


def make_ros(folder: Path) -> None:
    """Copy ROS 2 out of the environment that runs this, without what is not ROS 2's."""
    jazzy, interfaces = folder / 'opt/ros/jazzy', folder / 'opt/ros/interfaces'
    venv = Path(sys.prefix)
    shutil.copytree(venv, jazzy, symlinks=True)
    shutil.copytree(venv.parent / 'underlay', interfaces, symlinks=True)
    site = jazzy / 'lib/python3.12/site-packages'
    installed = [each for each in site.glob('*.dist-info') if (each / 'RECORD').exists()]
    names = sorted(each.name.split('-')[0] for each in installed)
    strangers = [name for name in names if not name.startswith('ros')]
    run([jazzy / 'bin/python', '-m', 'pip', 'uninstall', '-qq', '--yes', *strangers])
    for python in jazzy.glob('bin/python*'):
        python.unlink()
    numpy = folder / 'usr/lib/python3.12/site-packages/numpy/core/include'
    for file in jazzy.glob('share/*/cmake/*.cmake'):
        text = file.read_text()
        if '/numpy/' in text:
            file.write_text(re.sub(r'[^;" ]*/numpy/_?core/include', str(numpy), text))
    ros2 = jazzy / 'bin/ros2'  # apt's starts with Ubuntu's Python, whatever is activated
    ros2.write_text(re.sub('#!.*', f'#!{folder}/usr/bin/python3', ros2.read_text(), count=1))
    (jazzy / 'setup.bash').write_text(SETUP.format(jazzy=jazzy, interfaces=interfaces))


def in_copy(folder: Path, script: str) -> int:
    """Run a script as its user would: a home of one's own, the copy's programs first."""
    home = folder / 'home'
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith('PIP_')}
    configuration = Path.home() / '.config/pip/pip.conf'
    if configuration.exists():
        kept['PIP_CONFIG_FILE'] = str(configuration)
    path = f'{folder}/usr/bin:/usr/local/bin:/usr/bin:/bin'
    environment = kept | {'HOME': str(home), 'PATH': path, 'ROS_DOMAIN_ID': '97'}
    script = script.replace('/opt/ros/jazzy', f'{folder}/opt/ros/jazzy')
    script = f'set -e\nrosdep() {{ :; }}\nsource {folder}/opt/ros/jazzy/setup.bash\n{script}'
    return subprocess.run(
        ['bash', '-c', script], env=environment, cwd=home, check=False
    ).returncode


def run(command: list) -> None:
    """Run a command that must succeed, with nothing of this environment's ROS 2 in it."""
    clean = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    subprocess.run(command, check=True, env=clean)


if __name__ == '__main__':
    sys.exit(main())
