"""What it costs to grade a class: submissions of the law on docs/python.md, each with other gains.

    ./ws python benchmarks/grading.py --submissions 30

Prints the CPU time of one submission, and the wall time of all on all cores. The trials are those
of config/judge/planar_3r.yaml.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

from conditions import print_conditions

import arm_sim

LAW = """
from dataclasses import dataclass

from arm_controllers.laws import Law


class Spring(Law):
    @dataclass(frozen=True)
    class Parameters:
        kp: float = {kp}
        kd: float = {kd}

    def __call__(self, state, measured, reference, dt):
        p = self.parameters
        error, rate = reference.q - measured.q, reference.v - measured.v
        tau = self.model.inverse_dynamics(measured.q, measured.v, p.kp * error + p.kd * rate)
        return tau, state
"""


def cpu_time() -> float:
    """Return the CPU time of this process and of those that it started and that ended [s]."""
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Grade, and print what it took."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument('--submissions', type=int, default=30, help='number of laws')
    count = parser.parse_args().submissions
    print_conditions()
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k in range(count):
            files.append(Path(folder) / f'student_{k:02d}.py')
            files[-1].write_text(LAW.format(kp=100.0 + 50.0 * k, kd=20.0 + 2.0 * k))
        names = [str(each) for each in files]
        for title in ('first, which compiles', 'one'):
            before = cpu_time()
            arm_sim.grade(names[:1], workers=1)
            print(f'{title}: {cpu_time() - before:.1f} s of CPU time', flush=True)
        start = time.perf_counter()
        found = arm_sim.grade(names).found
        wall = time.perf_counter() - start
    best = max(found, key=lambda each: each.held)
    print(
        f'best: {best.held} of {best.trials} trials; {len({x.checksum for x in found})} checksums'
    )
    print(f'{count} submissions: {wall:.0f} s on {os.cpu_count()} cores')


if __name__ == '__main__':
    main()
