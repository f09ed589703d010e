"""Control periods per second of environments for learning: `./ws python benchmarks/gym.py`.

`make_vec` of `arm_sim/Track-v0` runs a batch, with observations and rewards. Compared in turn:
Gymnasium's own vectorisation, in processes, of the same environment with one arm each, simulated
by MuJoCo, and of its MuJoCo environment Pusher-v5, an arm with seven joints. Its period has five
integration steps, and each counts. Rates are per second of wall-clock time, and per second of
CPU time times the cores. `--returns` prints the return of each law in each environment instead,
its progress on the standard error.
"""

import os
import sys
import time
import warnings

import gymnasium
import numpy as np
import psutil
from conditions import in_turn, medians, print_conditions, rounds_parser, write_json

import arm_lab.gym
from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import ArmError
from arm_lab.experiments.compared_laws import compared_laws

CORES = os.cpu_count() or 1


def cpu_time(env) -> float:
    """Return the CPU time of this process and of those of a vector environment [s]."""
    workers = (psutil.Process(each.pid) for each in getattr(env.unwrapped, 'processes', ()))
    return time.process_time() + sum(sum(each.cpu_times()[:2]) for each in workers)


def rate(seconds: float, arms: int, steps: int = 1, **given) -> dict[str, float]:
    """Return the rate of an environment with N arms; `steps`: integration steps of a period."""
    env = gymnasium.make_vec(num_envs=arms, **given)
    env.reset(seed=0)
    action = np.zeros(env.action_space.shape)
    for _ in range(20):
        env.step(action)
    cpu, begun, count = cpu_time(env), time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        for _ in range(20):
            env.step(action)
        count += 20 * arms * steps
    wall, cpu = time.perf_counter() - begun, cpu_time(env) - cpu
    env.close()
    return {'periods per second': count / wall, 'per CPU second x cores': count / cpu * CORES}


def returns() -> None:
    """Print the return of each law in each environment, in one table per set of laws.

    In contact these are the laws that are made for it, and computed torque.
    """
    names = list(arm_lab.gym.ENVIRONMENTS)[1:]
    contact = [name for name in names if 'timestep' in arm_lab.gym.ENVIRONMENTS[name]]
    motion = [name for name in names if name not in contact]
    of_contact = [x for x in law_names() if not law_class(x).designed or x == 'computed_torque']
    for group, laws in ((motion, list(compared_laws())), (contact, of_contact)):
        rows: dict[str, list[str]] = {law: [] for law in laws}
        for name in group:
            for law in laws:
                rows[law].append(cell(name, law))
                print(f'{name} {law} {rows[law][-1]}', file=sys.stderr, flush=True)
        print(f'| law | {" | ".join(group)} |\n| --- |{" ---: |" * len(group)}')
        for law, cells in rows.items():
            if set(cells) != {''}:  # it commands no torque
                print(f'| `{law}` | {" | ".join(cells)} |')
        print()


def cell(name: str, law: str) -> str:
    """Return the return of a law, in three digits; empty: it cannot do the task."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            env = gymnasium.make(f'arm_sim/{name}', law=law)
            env.reset(seed=0)
        except ArmError:
            return ''
    total, ended = 0.0, False
    while not ended:
        _, reward, lost, over, _ = env.step(np.zeros(env.action_space.shape))
        total, ended = total + reward, lost or over
    return f'{total:.3g}{" (lost)" if lost else ""}'


def main() -> None:
    """Measure in turn, and print medians and ratios."""
    parser = rounds_parser(__doc__, 5.0)
    parser.add_argument('--arms', type=int, default=1000)
    parser.add_argument('--returns', action='store_true', help='print the return of each law')
    given = parser.parse_args()
    if given.returns:
        returns()
        return
    print_conditions()
    own = 'arm_sim/Track-v0'
    rows = {
        'batch': lambda s: rate(s, given.arms, id=own),
        'batch of drawn arms': lambda s: rate(s, given.arms, id=own, ranges={}),
        'AsyncVectorEnv of Track-v0': lambda s: rate(s, CORES, id=own, vectorization_mode='async'),
        'AsyncVectorEnv of Pusher-v5': lambda s: rate(
            s, CORES, 5, id='Pusher-v5', vectorization_mode='async'
        ),
    }  # fmt: skip
    found = in_turn(rows, given.seconds, given.rounds)
    middle = medians(found)
    for row, numbers in middle.items():
        told = (
            f'{value:,.0f} {unit} (factor of the batch {middle["batch"][unit] / value:.3g})'
            for unit, value in numbers.items()
        )
        print(f'{row}: {"; ".join(told)}')
    write_json(given.json, found)


if __name__ == '__main__':
    main()
