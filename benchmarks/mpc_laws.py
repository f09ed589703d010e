"""Every law on the cube and on a sinusoid: speed, model error, delay, computing time.

    ./ws python benchmarks/mpc_laws.py                    # the tables of docs/mpc.md
    ./ws python benchmarks/mpc_laws.py --picture error_over_speed.png

UR5e, 500 Hz, lock-step without ROS, laws designed for 20 rad/s. Speed 1 is the task as it is: an
edge of the cube in 2 s, a sinusoid of 0.2 rad with 0.5 Hz. A limit is exceeded in a period where a
velocity, a position or the commanded torque is beyond that of the URDF.
"""

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from conditions import print_conditions

from arm_dynamics.model_error import ModelError
from arm_sim.experiments.compared_laws import compared_laws
from arm_sim.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import track
from arm_sim.pictures import BLUE, COLORS, new_figure
from arm_sim.robot import Robot
from arm_sim.simulation.drives import DriveParameters

OBSERVED = 'servo:observed'
SPEEDS = {'cube': (1.0, 2.0, 3.0, 6.0, 9.0), 'sinusoid': (1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5)}
ERRORS, DELAYS, AT = (0.05, 0.2), (1, 2, 3, 4), 3.0  # the speed of the other columns
_LOST = 1e3  # an error that is no tracking any more [mm]
_ZERO = 1e-6  # smaller errors are drawn as this [mm]


class Case(NamedTuple):
    """A run: masses differ from the model's by a share, commands arrive some periods late."""

    law: str
    task: str
    speed: float
    masses: float = 0.0
    delay: int = 0


class Found(NamedTuple):
    """RMS error of the tip [mm], share of periods beyond a limit, time of a period [ms]."""

    mm: float
    beyond: float
    ms: float


def run(case: Case) -> Found:
    """Return what a case gives."""
    experiment = Experiment(
        'ur5e', case.task, case.law, timestep=0.002,
        error=ModelError(mass_scale=(1.0 + case.masses,)),
        drives=DriveParameters(command_delay=case.delay),
    )  # fmt: skip
    given: dict[str, Any] = {'edge_time': 2.0 / case.speed}
    if case.task == 'sinusoid':
        given = {'frequency': 0.5 * case.speed, 'cycles': 2.0}
    loaded = LoadedExperiment(experiment, Robot.load('ur5e'), given)
    if case.law == OBSERVED:  # whose delay comparisons do not set
        vars(loaded)['law_parameters'] = replace(loaded.law_parameters, delay=case.delay)
    model, start = loaded.robot.model, time.process_time()
    record = loaded.run()
    ms = 1e3 * (time.process_time() - start) / len(record.t)
    error = track(model, record).error
    beyond = (
        (np.abs(record.v) > model.velocity_limit)
        | (record.q > model.position_upper)
        | (record.q < model.position_lower)
        | (np.abs(record.effort) >= model.effort_limit)
    ).any(axis=1)
    mm = 1e3 * float(np.sqrt((error**2).mean())) if record.completed else np.inf
    return Found(mm, float(beyond.mean()), ms)


def cell(found: Found) -> str:
    """Return an error [mm] with the share of periods beyond a limit."""
    if not found.mm < _LOST:
        return 'lost'
    share = f' ({100.0 * found.beyond:.2g} %)' if found.beyond else ''
    return f'{found.mm:.3g}{share}'


def table(laws: list[str], columns: dict[str, Any], found: dict[Case, Found]) -> None:
    """Print a row per law, a column per case, the best one bold."""
    print('| law | ' + ' | '.join(columns) + ' |')
    print('| --- |' + ' ---: |' * len(columns))
    best = {name: min(found[case(law)].mm for law in laws) for name, case in columns.items()}
    for law in laws:
        cells = []
        for name, case in columns.items():
            one = found[case(law)]
            text = cell(one)
            cells.append(f'**{text}**' if one.mm == best[name] else text)
        print(f'| {law} | ' + ' | '.join(cells) + ' |')
    print()


def picture(path: str, laws: list[str], found: dict[Case, Found]) -> None:
    """Draw the error over the speed, with a ring where a limit is exceeded."""
    figure = new_figure(
        11.0, 5.2, 'Tracking error over speed; a ring: a run beyond a limit of torque or velocity'
    )
    for axes, (task, speeds) in zip(figure.subplots(1, 2), SPEEDS.items(), strict=True):
        ends = []
        for k, law in enumerate(laws):
            runs = [found[Case(law, task, speed)] for speed in speeds]
            errors = np.array([max(one.mm, _ZERO) if one.mm < _LOST else np.nan for one in runs])
            mpc = law == 'mpc'
            color = BLUE if mpc else COLORS[1 + k % (len(COLORS) - 1)]
            axes.plot(
                speeds, errors, '-', color=color, linewidth=3.0 if mpc else 1.2, zorder=2 + mpc
            )
            rings = [k for k, one in enumerate(runs) if one.beyond]
            axes.plot(np.array(speeds)[rings], errors[rings], 'o', color=color, markersize=7,
                      markerfacecolor='white', markeredgewidth=1.5)  # fmt: skip
            if np.isfinite(errors[-1]):
                ends.append((np.log10(errors[-1]), law, color, mpc))
        axes.set(xlabel='speed, 1 is the task as it is',
                 ylabel='RMS error of the tip [mm], at least 1e-6',
                 yscale='log', title=task, xticks=speeds,
                 xlim=(speeds[0], speeds[-1]))  # fmt: skip
        low, high = np.log10(axes.get_ylim())
        apart, places = 0.045 * (high - low), []
        for value, *_ in sorted(ends):
            places.append(max(value, places[-1] + apart if places else low))
        for k, place in reversed([*enumerate(places)]):
            places[k] = min(place, places[k + 1] - apart if k + 1 < len(places) else high)
        for place, (_, law, color, mpc) in zip(places, sorted(ends), strict=True):
            axes.annotate(law, (speeds[-1], 10**place), (6, 0), textcoords='offset points',
                          va='center', color=color, fontsize=8,
                          weight='bold' if mpc else 'normal', annotation_clip=False)  # fmt: skip
        axes.grid(visible=True, color='0.92')
        axes.set_axisbelow(True)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--workers', type=int, default=2, help='number of processes')
    parser.add_argument('--picture', default='', help="file of the picture; '': none")
    options = parser.parse_args()
    print_conditions()
    laws = [*compared_laws(), OBSERVED]
    columns: dict[str, dict[str, Any]] = {}
    for task, speeds in SPEEDS.items():
        columns[f'{task}, error over speed'] = {
            f'speed {x:g}': lambda law, x=x, task=task: Case(law, task, x) for x in speeds
        }
        columns[f'{task} at speed {AT:g}, masses and delay'] = {
            'exact': lambda law, task=task: Case(law, task, AT),
            **{f'masses {100 * x:g} %': lambda law, x=x, task=task: Case(law, task, AT, x)
               for x in ERRORS},
            **{f'delay {x}': lambda law, x=x, task=task: Case(law, task, AT, 0.0, x)
               for x in DELAYS},
        }  # fmt: skip
    cases = [case(law) for each in columns.values() for case in each.values() for law in laws]
    cases = list(dict.fromkeys(cases))
    found: dict[Case, Found] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        for case, one in zip(cases, pool.map(run, cases), strict=True):
            found[case] = one
            print(f'\r{len(found)} of {len(cases)}', end='', file=sys.stderr, flush=True)
    print('RMS error of the tip [mm], and the share of periods beyond a limit; best in bold\n')
    for title, each in columns.items():
        print(f'### {title}\n')
        table(laws, each, found)
    print(f'### time of a period of the loop [ms of CPU], cube at speed {AT:g}\n')
    print(', '.join(f'{law} {found[Case(law, "cube", AT)].ms:.2f}' for law in laws))
    if options.picture:
        picture(options.picture, laws, found)


if __name__ == '__main__':
    main()
