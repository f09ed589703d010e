"""What the first picture costs in a fresh virtual environment, phase by phase.

    python -m build --wheel
    ./ws python benchmarks/first_call.py dist/arm_sim-0.4.0-py3-none-any.whl

Makes an environment in a new folder, installs the wheel without ROS, and runs the five lines of
docs/python.md twice, first with an empty cache of compiled code. CPU time is that of all threads.
Wall time includes downloads, and whatever else the machine does.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conditions import print_conditions

LINES = """
import time
from numba.core import event

class Compilation(event.Listener):
    depth = cpu = wall = 0.0
    def on_start(self, _):
        self.depth += 1
        if self.depth == 1:
            self.since = time.process_time(), time.perf_counter()
    def on_end(self, _):
        self.depth -= 1
        if self.depth == 0:
            self.cpu += time.process_time() - self.since[0]
            self.wall += time.perf_counter() - self.since[1]

compilation = Compilation()
event.register('numba:compile', compilation)
began = [0.0, time.perf_counter()]

def phase(name):
    now = [time.process_time(), time.perf_counter()]
    print('PHASE', name, now[0] - began[0], now[1] - began[1], sep='|')
    began[:] = now

import arm_sim
run = arm_sim.run('ur5e', law='computed_torque', task='cube')
phase('import, run')
print('PHASE', 'of which compilation', compilation.cpu, compilation.wall, sep='|')
run.table()
run.plot()
phase('table, plot')
run.film()
phase('film')
"""


def timed(
    name: str, command: list[str], environment: dict[str, str], folder: Path | None = None
) -> str:
    """Run a command, print its CPU and wall time, and return what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    row(name, cpu, time.perf_counter() - start)
    return done.stdout


def row(name: str, cpu: float, wall: float) -> None:
    """Print one row."""
    print(f'| {name:24s} | {cpu:12.1f} | {wall:13.1f} |', flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument('wheel', type=Path, help='file that `python -m build --wheel` writes')
    wheel = parser.parse_args().wheel.resolve(strict=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = str(folder / 'venv' / 'bin' / 'python')
        print_conditions()
        print(f'| {"phase":24s} | CPU time [s] | wall time [s] |\n| --- | ---: | ---: |')
        clean = {k: x for k, x in os.environ.items() if k not in ('PYTHONPATH', 'VIRTUAL_ENV')}
        timed('environment', [sys.executable, '-m', 'venv', str(folder / 'venv')], clean)
        timed('pip install', [python, '-m', 'pip', 'install', '--quiet', f'{wheel}[lab]'], clean)
        clean['XDG_CACHE_HOME'] = name
        for title in ('first time', 'second time'):
            said = timed(title, [python, '-c', LINES], clean, folder)
            for line in said.splitlines():
                if line.startswith('PHASE'):
                    _, phase, cpu, wall = line.split('|')
                    row(f'- {phase}', float(cpu), float(wall))


if __name__ == '__main__':
    main()
