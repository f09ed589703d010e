"""An arm under an installed ros2_control, in lock-step: equal runs, unproven cycles, speed.

    ./ws python benchmarks/ros2_control.py --runs 1000

Each run sends the same goal to joint_trajectory_controller from the same state, and has a checksum
over the bits of all positions, velocities and efforts. Without an installed ros2_control this
prints what is missing.
"""

import argparse
import hashlib
import sys
import time
from collections import Counter

import numpy as np
from conditions import own_domain, print_conditions
from managed_arm import ManagedArm, missing

_MOTION, _REST = 0.4, 0.1  # [s]


def main() -> int:
    """Print checksums, unproven cycles and speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=100, help='number of motions')
    parser.add_argument('--rate', type=int, default=500, help='of the manager [Hz]')
    parser.add_argument('--robot', default='ur5e')
    given = parser.parse_args()
    if what := missing():
        print(f'ros2_control is not installed here ({what}): nothing was measured')
        return 0
    own_domain()
    print_conditions()
    arm = ManagedArm(given.robot, given.rate)
    try:
        return measure(arm, given.runs, given.rate)
    finally:
        arm.end()


def measure(arm: ManagedArm, runs: int, rate: int) -> int:
    """Print the numbers of some runs, and return 0 if all that is proven is equal."""
    home, size = arm.home, len(arm.names)
    turn = np.linspace(0.3, -0.2, size)
    rest = np.zeros(size)
    points = [(0.5 * _MOTION, home + turn, rest), (_MOTION, home, rest)]
    periods = round((_MOTION + _REST) * rate)
    sums: Counter[str] = Counter()
    proven: Counter[str] = Counter()  # the runs without an unproven cycle
    wall = 0.0
    arm.send(arm.goal([(0.5, home, rest)]))
    arm.run(rate)
    before, cpu = arm.counts(), arm.cpu()
    unproven = before['unproven cycles']
    for number in range(runs):
        arm.reset()
        start_ns = arm.time_ns
        handle = arm.send(arm.goal(points))
        if not handle.accepted:
            print('the controller refuses the goal')
            return 1
        start = time.monotonic()
        _, *state = arm.run(periods)
        wall += time.monotonic() - start
        checksum = hashlib.sha256(b''.join(x.tobytes() for x in state)).hexdigest()[:16]
        sums[checksum] += 1
        unproven, was = arm.counts()['unproven cycles'], unproven
        proven[checksum] += unproven == was
        moved = np.ptp(state[0], axis=0).max()
        if moved < 0.1 or arm.time_ns != start_ns + periods * arm.period_ns:
            print(f'run {number}: the arm moved by {moved:.3g} rad')
            return 1
        if number + 1 in (10, 50) or (number + 1) % 100 == 0:
            print(f'{number + 1} runs: {dict(sums)}, proven {dict(+proven)}', flush=True)
    counts = {name: value - before[name] for name, value in arm.counts().items()}
    cycles, unproven = counts.pop('lock-step cycles'), counts.pop('unproven cycles')
    done = runs * periods
    used = {name: value - cpu[name] for name, value in arm.cpu().items()}
    print(f'{runs} runs of {periods} cycles: {len(sums)} checksum(s) {dict(sums)}')
    print(f'runs without an unproven cycle: {dict(+proven)}')
    print(f'{unproven} of {cycles} cycles unproven {counts}')
    rate_of_cycles = done / wall
    print(
        f'{rate_of_cycles:.0f} cycles/s, {rate_of_cycles / rate:.2f} times real time at {rate} Hz'
    )
    for name, seconds in used.items():
        print(f'CPU time of {name}: {1e6 * seconds / max(cycles, 1):.0f} us per cycle')
    return int(len(+proven) > 1)


if __name__ == '__main__':
    sys.exit(main())
