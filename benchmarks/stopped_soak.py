"""An hour of goals while processes are stopped at random: does anything die, leak or alarm?

    ./ws python benchmarks/stopped_soak.py --minutes 60

Two arms of `who_stops_whom.py`, one in lock-step and one in real time, run side by side. Each goal
finds one process stopped, for a time drawn between 0.05 and 20 s, or none. Prints how the goals
ended, false alarms of a second publisher, and the memory of every process after the first quarter
and at the end. Exit code 0: every goal and no process ended, and there was no false alarm.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from conditions import print_conditions
from who_stops_whom import DURATIONS, ENDS, PROCESSES, Arm, stop

ALARM = 'more than one publisher commands'
SHORTEST_STOP, LONGEST_STOP = 0.05, 20.0  # [s]
# Until a goal has ended, in lock-step on a machine with a load of 30 as well, and until a further
# one is reached [s].
LONGEST = 900.0


class Soak(NamedTuple):
    """What an arm did; `memory`: resident, of each process at a quarter and at the end [MB]."""

    mode: str
    goals: Counter[str]
    stops: Counter[str]
    died: list[str]
    alarms: int
    recovered: float
    memory: list[dict[str, float]]
    load: float

    @property
    def holds(self) -> bool:
        """Whether every goal and no process ended, without a false alarm."""
        ended = set(self.goals) <= {*ENDS.values()} and self.recovered < LONGEST
        return ended and not self.died and not self.alarms


def soak(mode: str, seconds: float) -> Soak:
    """Send goals to an arm for so long, and stop its processes."""
    rng, goals, stops, memory, loads = random.Random(mode), Counter(), Counter(), [], []
    with tempfile.TemporaryDirectory() as folder:
        arm = Arm(mode, folder, LONGEST)
        before, died, begin, shown, recovered = arm.processes(), [], time.monotonic(), 0.0, 0.0
        while not died and (passed := time.monotonic() - begin) < seconds:
            loads.append(os.getloadavg()[0])
            if not memory and passed > seconds / 4:
                memory.append(_memory(before))
            name = rng.choice([*PROCESSES, ''])
            stops[name or 'none'] += 1
            for_s = SHORTEST_STOP * (LONGEST_STOP / SHORTEST_STOP) ** rng.random()
            goals[arm.goal(partial(stop, before[name], for_s) if name else lambda: None)] += 1
            since = time.monotonic()
            while arm.goal() != 'reached' and time.monotonic() - since < LONGEST:
                time.sleep(0.5)
            recovered = max(recovered, time.monotonic() - since)
            died = sorted(before.keys() - arm.processes().keys())
            if passed > shown + 60.0:
                shown = passed
                print(mode, f'{passed:.0f} s', dict(goals), file=sys.stderr, flush=True)
        memory += [] if died else [_memory(before)]
        text = arm.log.read_text()
        arm.close()
    if died:
        print(text[-3000:], file=sys.stderr)
    load = sum(loads) / len(loads)
    return Soak(mode, goals, stops, died, text.count(ALARM), recovered, memory, load)


def _memory(processes) -> dict[str, float]:
    return {name: each.memory_info().rss / 1e6 for name, each in processes.items()}


def main() -> int:
    """Print the tables; 1: something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--modes', nargs='+', choices=DURATIONS, default=list(DURATIONS))
    options = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    print_conditions()
    with ThreadPoolExecutor(len(options.modes)) as pool:
        found = list(pool.map(partial(soak, seconds=60.0 * options.minutes), options.modes))
    for each in found:
        print(
            f'\n{each.mode}: goals {dict(each.goals)}, stops {dict(each.stops)}, mean load '
            f'{each.load:.1f}'
        )
        print(
            f'died: {", ".join(each.died) or "none"}; false alarms: {each.alarms}; a further '
            f'goal was reached within {each.recovered:.1f} s'
        )
        for name in each.memory[0] if len(each.memory) == 2 else ():
            print(f'  {name}: {each.memory[0][name]:.1f} MB, then {each.memory[1][name]:.1f} MB')
    return int(not all(each.holds for each in found))


if __name__ == '__main__':
    sys.exit(main())
