"""The steps of the setup; each returns what it did, in words."""

import concurrent.futures
import platform
import re
import shutil
import sys
import sysconfig
from pathlib import Path

from recipe import (
    BATCHES,
    BUILD_MACHINE_INCLUDE,
    BUILD_MACHINE_NUMPY,
    CHECK,
    ENV,
    INTERFACES,
    INTERFACES_CMAKE,
    LATER,
    LATER_SOURCES,
    LATER_UNDERLAY,
    LOCK,
    PYTHON,
    ROS2_COMMAND,
    ROS2_LAUNCH,
    SITE,
    SOURCES,
    STAMPS,
    TOOLS,
    TOOLS_FOLDER,
    TOOLS_LOCK,
    TOOLS_PATH,
    UNDERLAY,
    UV,
    UV_CACHE,
    VENV,
)
from running import Progress, SetupError, pip, run

BATCH_COUNT = 12  # of requirements; an interrupted setup loses only the batches under way
JOBS = 3
# How both installers take packages: empy alone has no wheel.
PACKAGES = ['--no-build-isolation', '--only-binary=:all:', '--no-binary=empy']


def requirements(file: Path) -> list[str]:
    """Return the lines of a lock file without its comments."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith('#')]


def make_venv(progress: Progress) -> str:
    """Make an empty virtual environment; setuptools is for empy, which has no wheel."""
    shutil.rmtree(VENV, ignore_errors=True)
    for old in [*STAMPS.iterdir(), *BATCHES.glob('*')]:
        old.unlink()
    run(sys.executable, '-m', 'venv', VENV)
    bootstrap = ENV / 'bootstrap.lock'
    wanted = [line for line in requirements(LOCK) if re.match('(setuptools|uv|wheel)==', line)]
    bootstrap.write_text('\n'.join(wanted))
    pip('install', '--only-binary=:all:', '-r', bootstrap)
    return f'made with Python {platform.python_version()}'


def install_packages(progress: Progress) -> str:
    """Download and unpack the packages of both lock files: by uv, or by pip where uv cannot."""
    try:
        install_by_uv(lambda line: progress.update(line.strip()))
        by = 'uv'
    except SetupError as error:
        progress.say(f'ws: uv cannot install the packages, so pip does: {error}')
        install_by_pip(progress)
        by = 'pip'
    use_local_includes()
    return f'{len(requirements(LOCK))} installed by {by}'


def install_by_uv(on_line) -> None:
    """Install from the index of pip's configuration, several packages at once.

    What an interrupted setup has downloaded is used. uv takes the first file of a version that
    it finds, and refuses that where its hash differs: so further indexes are left to pip.
    """
    configured = run(PYTHON, '-m', 'pip', 'config', 'list')
    index = re.search(r"\.index-url='([^']*)'", configured)
    options = [*PACKAGES, '--require-hashes', '--no-deps', '--no-config', '--system-certs']
    options += ['--cache-dir', UV_CACHE, '--python', PYTHON]
    options += ['--default-index', index[1]] if index else []
    shutil.rmtree(TOOLS_FOLDER, ignore_errors=True)
    for where in (['-r', LOCK], ['--target', TOOLS_FOLDER, '-r', TOOLS_LOCK]):
        run(UV, 'pip', 'install', *options, *where, on_line=on_line)
    shutil.rmtree(UV_CACHE)


def install_by_pip(progress: Progress) -> str:
    """Install in several batches at once; a batch that an earlier setup has finished is used."""
    packages = requirements(LOCK)
    BATCHES.mkdir(exist_ok=True)
    batches = {BATCHES / f'{n:02}.lock': packages[n::BATCH_COUNT] for n in range(BATCH_COUNT)}
    count = 0

    def on_line(line: str) -> None:
        nonlocal count
        count += line.startswith('Collecting')
        progress.update(f'{count} of {len(packages)}')

    def install(batch: Path) -> None:
        # A batch that was interrupted left half-installed packages: --ignore-installed.
        batch.write_text('\n'.join(batches[batch]))
        pip(
            'install',
            *PACKAGES,
            '--ignore-installed',
            '--no-compile',
            '-r',
            batch,
            on_line=on_line,
        )
        batch.with_suffix('.done').touch()

    pool = concurrent.futures.ThreadPoolExecutor(JOBS)
    try:
        jobs = [pool.submit(install_tools_folder)]
        for batch, content in batches.items():
            if batch.with_suffix('.done').exists():
                count += len(content)
            else:
                jobs.append(pool.submit(install, batch))
        for job in concurrent.futures.as_completed(jobs):
            job.result()
    finally:
        pool.shutdown(cancel_futures=True)


def install_tools_folder() -> None:
    """Install the wheel with the command line tools into a folder of its own, by pip."""
    shutil.rmtree(TOOLS_FOLDER, ignore_errors=True)
    pip('install', '--target', TOOLS_FOLDER, '-r', TOOLS_LOCK)


def use_local_includes() -> None:
    """Replace the build machine's include folders in the CMake files of the wheels."""
    include = sysconfig.get_path('include')
    numpy_include = str(SITE / 'numpy' / '_core' / 'include')
    for file in (VENV / 'share').glob('*/cmake/*.cmake'):
        text = file.read_text()
        fixed = text.replace(BUILD_MACHINE_NUMPY, numpy_include)
        fixed = fixed.replace(BUILD_MACHINE_INCLUDE, include)
        if fixed != text:
            file.write_text(fixed)


def tools(progress: Progress) -> Path:
    """Return the folder with the command line tools; after a finished setup it is made again."""
    if not TOOLS_PATH.exists():
        progress.update('downloading')
        install_tools_folder()
    return TOOLS_PATH


def install_tools(progress: Progress) -> str:
    """Take the pure Python tools out of their wheel; add our own `ros2` and `ros2 launch`."""
    names = '|'.join(TOOLS)
    wanted = re.compile(
        rf'rclpy/(({names})(-[^/]*\.egg-info)?/|launch_testing_ros_pytest_entrypoint\.py)'
        rf'|share/({names})/|share/ament_index/resource_index/packages/({names})$'
    )
    folder = tools(progress)
    for file in folder.rglob('*'):
        inside = str(file.relative_to(folder))
        if not wanted.match(inside) or file.is_dir() or file.suffix == '.so':
            continue
        python = inside.startswith('rclpy/')
        place = SITE / inside.removeprefix('rclpy/') if python else VENV / inside
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
    shutil.copy(ROS2_COMMAND, VENV / 'bin')
    shutil.copy(ROS2_LAUNCH, SITE)
    metadata = SITE / 'ros2launch-0.dist-info'
    metadata.mkdir(exist_ok=True)
    (metadata / 'METADATA').write_text('Metadata-Version: 2.1\nName: ros2launch\nVersion: 0\n')
    (metadata / 'entry_points.txt').write_text(
        '[ros2cli.command]\nlaunch = ros2launch:LaunchCommand\n'
    )
    return f'{len(TOOLS) + 1} packages'


def build_interfaces(progress: Progress) -> str:
    """Build the parts in use of packages of interfaces, all at once; prepare the later ones."""
    lay_out(tools(progress), INTERFACES, SOURCES)
    lay_out(tools(progress), LATER, LATER_SOURCES)
    shutil.rmtree(UNDERLAY, ignore_errors=True)
    build(SOURCES, ENV / 'build', UNDERLAY)
    count = sum(map(len, INTERFACES.values()))
    return f'{count} interfaces of {" and ".join(INTERFACES)} built'


def build_later(progress: Progress) -> str:
    """Build the interfaces that are not waited for; no process sees parts of them."""
    fresh = ENV / 'later_new'
    shutil.rmtree(fresh, ignore_errors=True)
    build(LATER_SOURCES, ENV / 'later_build', fresh)
    shutil.rmtree(LATER_UNDERLAY, ignore_errors=True)
    fresh.rename(LATER_UNDERLAY)
    return f'{" and ".join(LATER)} built'


def lay_out(folder: Path, interfaces: dict[str, list[str]], place: Path) -> None:
    """Write the sources of packages of interfaces into a new folder."""
    shutil.rmtree(place, ignore_errors=True)
    for package, names in interfaces.items():
        for name in ('package.xml', *names):
            file = place / package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / 'share' / package / name, file)
        shutil.copy(INTERFACES_CMAKE, place / package / 'CMakeLists.txt')


def build(source: Path, temporary: Path, target: Path) -> None:
    """Build packages of interfaces; what an interrupted build has done is used."""
    places = ['--build-base', temporary, '--install-base', target, '--merge-install']
    options = ['-GNinja', f'-DPython3_EXECUTABLE={PYTHON}', '-DBUILD_TESTING=OFF']
    colcon = [PYTHON, VENV / 'bin' / 'colcon', '--log-base', ENV / 'log', 'build']
    run(*colcon, '--base-paths', source, *places, '--cmake-args', *options)
    shutil.rmtree(temporary)


def check(progress: Progress) -> str:
    """Load everything in one process and make a node; this also compiles what is loaded."""
    run(PYTHON, '-c', CHECK)
    return 'everything loads and a node can be made'
