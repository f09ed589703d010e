"""Random streams of twists, half of them through singularities: what `TipServo` makes of them.

    ./ws python benchmarks/tip_servo.py --streams 10000 --robot ur5e

Prints a table in Markdown, and ends with exit code 1 where a limit is exceeded, where the tip
stands longer than 0.1 s though a direction that is asked for is feasible, where it is 1 mm or more
from its line though no direction is lost, or where it does not rest 0.2 s after the stream's end.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from os import cpu_count

import numpy as np
from conditions import print_conditions
from tip_streams import judge, random_stream

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_tools.cartesian.tip_servo import TipServo, TipServoParameters

_CHUNK = 50
_TIMEOUT = 0.12  # [s] from the last message to the first step of braking, at most


@cache
def servo_of(robot: str) -> TipServo:
    """Return the servo of a robot."""
    return TipServo(RobotModel.from_urdf(find_urdf(robot)), TipServoParameters())


def judged(robot: str, seed: int, numbers: list[int]) -> list[tuple[float, ...]]:
    """Return the judgement of each of these streams; the odd ones are through singularities."""
    servo, rows = servo_of(robot), []
    for number in numbers:
        rng = np.random.default_rng([seed, number])
        rows.append(judge(servo, random_stream(servo, rng, bool(number % 2))))
    return rows


def main() -> int:
    """Judge all streams and print what came out."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument('--streams', type=int, default=10_000)
    options.add_argument('--robot', default='ur5e')
    options.add_argument('--seed', type=int, default=0)
    given = options.parse_args()
    print_conditions()
    numbers = list(range(given.streams))
    chunks = [numbers[i : i + _CHUNK] for i in range(0, len(numbers), _CHUNK)]
    rows: list[tuple[float, ...]] = []
    with ProcessPoolExecutor(cpu_count()) as pool:
        found = pool.map(partial(judged, given.robot, given.seed), chunks)
        for done, part in enumerate(found, 1):
            rows += part
            if done % 10 == 0 or done == len(chunks):
                print(f'{len(rows)} of {len(numbers)} streams', file=sys.stderr, flush=True)
    table = np.array(rows)
    print(
        '\n| streams | count | smallest singular value, median | beyond a limit | longest '
        'standstill [s] | off the line, median, 99 %, most [mm] | at rest after [s] |'
        '\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |'
    )
    for name, part in (('anywhere', table[::2]), ('through singularities', table[1::2])):
        excess, still, off, stopping, least = part.T
        millimetres = ', '.join(f'{1e3 * x:.3f}' for x in np.percentile(off, [50, 99, 100]))
        print(
            f'| {name} | {len(part)} | {np.median(least):.2g} | {(excess > 1e-9).sum()} | '
            f'{still.max():.2f} | {millimetres} | {_TIMEOUT + stopping.max():.2f} |'
        )
    excess, still, off, stopping, _ = table.T
    bad = (excess > 1e-9) | (still > 0.1 + 1e-9) | (off >= 1e-3) | (stopping + _TIMEOUT > 0.2001)
    for number in np.flatnonzero(bad):
        print(f'stream {number}: {", ".join(f"{x:.3g}" for x in table[number])}')
    return int(bad.any())


if __name__ == '__main__':
    sys.exit(main())
