"""CPU time of the simulator's process for a task in lock-step, without and with a camera.

    ./ws python benchmarks/camera.py [--rounds 2]

The camera has 320 x 240 pixels and 10 pictures per simulated second. Start and end count as well.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil
from conditions import own_domain, print_conditions

CAMERA = '- {name: overview, position: [1.5, 0, 1], rotation: [0, 0.5, 3.14], width: 320, '
CAMERA += 'height: 240, rate: 10}\n'


def simulator_time(folder: Path, *more: str) -> float:
    """Return the CPU time [s] of the simulator of one launch."""
    words = ['controller:=computed_torque', 'record:=false', f'output_dir:={folder}', *more]
    launch = subprocess.Popen(
        ['ros2', 'launch', 'arm_sim', 'task.launch.py', *words], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    found = 0.0
    while launch.poll() is None:
        for child in psutil.Process(launch.pid).children(recursive=True):
            try:
                if any(word.endswith('simulator') for word in child.cmdline()[:3]):
                    used = child.cpu_times()
                    found = max(found, used.user + used.system)
            except psutil.Error:
                continue
        time.sleep(0.02)
    assert launch.returncode == 0
    return found


def main() -> int:
    """Print the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=2)
    rounds = parser.parse_args().rounds
    own_domain()
    print_conditions()
    with tempfile.TemporaryDirectory() as name:
        file = Path(name, 'cameras.yaml')
        file.write_text(CAMERA)
        times = np.array(
            [
                [simulator_time(Path(name)), simulator_time(Path(name), f'camera:={file}')]
                for _ in range(rounds)
            ]
        )
    without, with_camera = times.mean(axis=0)
    print(f'simulator without camera {without:.2f} s, with camera {with_camera:.2f} s')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
