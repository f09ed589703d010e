"""What a Monte Carlo costs, part by part, and what follows for many machines.

`./ws python benchmarks/scale.py`, with Dask: `./ws pip install 'distributed>=2025.1'`.

CPU time, which other users of the machine do not change: of a chunk of arms on a worker; of its
answer on the client; of Dask's client and scheduler for a job. Wall clock: one process and two.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from conditions import print_conditions

from arm_lab.experiments import monte_carlo
from arm_lab.experiments.executors import Work, completed, executor
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_monte_carlo

ARMS = 500  # of a chunk
CASE, LAWS = Experiment('ur5e', 'sinusoid', 'computed_torque'), ('computed_torque',)


def chunk_seconds() -> float:
    """Return the CPU time of a chunk, its caches warm [s]."""
    monte_carlo.run_together(CASE, LAWS, range(20))
    start = time.process_time()
    monte_carlo.run_together(CASE, LAWS, range(ARMS))
    return time.process_time() - start


def client_seconds(folder: Path) -> tuple[float, float]:
    """Return the CPU time of taking in a chunk's answer, journal and all [s], and its size [B]."""
    answer = monte_carlo.run_together(CASE, LAWS, range(ARMS))
    whole, monte_carlo.run_together = monte_carlo.run_together, lambda *_: answer
    chunks, start = 200, time.process_time()
    with executor(1) as here:
        work = Work(here, folder / 'scale.partial')
        run_monte_carlo(CASE, LAWS, ARMS * chunks, work=work)
    monte_carlo.run_together = whole
    return (time.process_time() - start) / chunks, float(answer.nbytes)


def nothing(number: int) -> int:
    """Return a job's answer."""
    return number


def dask_seconds(folder: Path) -> tuple[float, float]:
    """Return the CPU time that a job costs Dask's client and its scheduler [s]."""
    file = folder / 'scheduler.json'
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    local = ['--host', '127.0.0.1', '--no-dashboard', '--scheduler-file', str(file)]

    def begin(part: str, *others: str) -> subprocess.Popen:
        command = [sys.executable, '-m', f'distributed.cli.dask_{part}', *local, *others]
        log = (folder / f'{part}.log').open('w')
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    parts = [begin('scheduler', '--port', '0'), begin('worker', '--nthreads', '1', '--no-nanny')]
    try:
        while not file.exists():
            time.sleep(0.1)
        with executor(scheduler=json.loads(file.read_text())['address']) as far:
            list(completed(far, nothing, range(50)))
            scheduler, jobs = psutil.Process(parts[0].pid), 1000
            begun, own = sum(scheduler.cpu_times()[:2]), time.process_time()
            list(completed(far, nothing, range(jobs)))
            client = (time.process_time() - own) / jobs
            return client, (sum(scheduler.cpu_times()[:2]) - begun) / jobs
    finally:
        for part in parts:
            part.kill()
            part.wait()


def wall_seconds(workers: int, arms: int) -> float:
    """Return the wall clock of a Monte Carlo on a number of processes, which have started [s]."""
    with executor(workers) as where:
        list(completed(where, nothing, range(8)))
        start = time.monotonic()
        run_monte_carlo(CASE, LAWS, arms, work=Work(where), workers=2)
        return time.monotonic() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--arms', type=int, default=1000, help='of the runs by wall clock')
    parser.add_argument('--machines', type=int, default=100, help='of two cores each')
    options = parser.parse_args()
    print_conditions()
    print(f'{LAWS[0]} on {CASE.robot}, {CASE.task}; chunks of {ARMS} arms')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chunk = chunk_seconds()
        print(f'a chunk on a worker: {1e3 * chunk:.0f} ms of CPU, {ARMS / chunk:.0f} arms/s')
        taken, size = client_seconds(folder)
        print(f'its answer on the client: {1e3 * taken:.2f} ms of CPU, {size / 1e3:.1f} kB')
        client, scheduler = dask_seconds(folder)
        print(f'a job in Dask: client {1e3 * client:.2f} ms, scheduler {1e3 * scheduler:.2f} ms')
    for workers in (1, 2):
        took = wall_seconds(workers, options.arms)
        print(f'{workers} processes, wall clock: {options.arms / took:.0f} arms/s')
    cores = 2 * options.machines
    by_workers, by_client = cores * ARMS / chunk, ARMS / (taken + client)
    by_scheduler = ARMS / scheduler
    print(
        f'{options.machines} machines of 2 cores: workers {by_workers:.0f} arms/s, the client '
        f'takes in {by_client:.0f}, the scheduler {by_scheduler:.0f}; a million arms in '
        f'{1e6 / min(by_workers, by_client, by_scheduler):.0f} s'
    )


if __name__ == '__main__':
    main()
