"""What it costs to grade a class: submissions of the law on docs/python.md, each with other gains.

    ./ws python benchmarks/grading.py --submissions 30

Prints CPU time, with that of the processes of the laws, and wall time. The trials are those of
config/judge/planar_3r.yaml.
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
        start = time.perf_counter()
        found = arm_sim.grade([str(each) for each in files]).found
        wall = time.perf_counter() - start
    used = [resource.getrusage(x) for x in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(each.ru_utime + each.ru_stime for each in used)
    best = max(found, key=lambda each: each.held)
    print(
        f'best: {best.held} of {best.trials} trials; {len({x.checksum for x in found})} checksums'
    )
    print(f'{count} submissions: {wall:.0f} s, {cpu:.0f} s of CPU time, {os.cpu_count()} cores')


if __name__ == '__main__':
    main()
