"""Every law on the cube and on a sinusoid: speed, model error, delay, computing time.

    ./ws python benchmarks/mpc_laws.py                    # the tables of docs/mpc.md
    ./ws python benchmarks/mpc_laws.py --results mpc_laws.json --picture error_over_speed.png

With `--results` every run is kept in a file; runs that the file has are not run again.

UR5e, 500 Hz, lock-step without ROS, laws designed for 20 rad/s. Speed 1 is the task as it is: an
edge of the cube in 2 s, a sinusoid of 0.2 rad with 0.5 Hz. A limit is exceeded in a period where a
velocity, a position or the commanded torque is beyond that of the URDF.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from conditions import print_conditions

from arm_dynamics.model_error import ModelError
from arm_lab.experiments.compared_laws import compared_laws
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.measures import track
from arm_sim.pictures import BLUE, COLORS, ORANGE, new_figure, save, style
from arm_sim.robot import Robot

OBSERVED = 'servo:observed'
SPEEDS = {'cube': (1.0, 2.0, 3.0, 6.0, 9.0), 'sinusoid': (1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5)}
ERRORS, DELAYS, AT = (0.05, 0.2), (1, 2, 3, 4), 3.0  # the speed of the other columns
_LOST = 1e3  # an error that is no tracking any more [mm]
_ALIKE = 2.2  # laws whose errors differ by less than this factor are one band
# The laws that the picture shows in a colour and width of their own.
SHOWN = {'mpc': (BLUE, 3.5), OBSERVED: (ORANGE, 2.5), 'adaptive_computed_torque': (COLORS[2], 2.0)}


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
        # An amplitude that is given is not fitted to the arm's limits.
        given = {'frequency': 0.5 * case.speed, 'cycles': 2.0, 'amplitude': (0.2,)}
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


def read_results(file: Path) -> dict[Case, Found]:
    """Return the runs of a file, to the last bit."""
    return {Case(*case): Found(*one) for case, one in json.loads(file.read_text())}


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


def groups_of(laws: list[str], errors: np.ndarray) -> list[list[int]]:
    """Return the indices of laws in groups that no speed tells apart by more than _ALIKE."""
    groups: list[list[int]] = []
    for k in np.argsort(errors[:, 0], kind='stable').tolist():
        for group in groups:
            ratio = np.abs(np.log(errors[k] / errors[group]))
            if laws[k] not in SHOWN and np.nanmax(ratio[:, :-1]) < np.log(_ALIKE):
                group.append(k)
                break
        else:
            groups.append([k])
    return groups


def picture(path: str, laws: list[str], found: dict[Case, Found]) -> None:
    """Draw the error over the speed; filled where all periods are within the limits."""
    figure = new_figure(13.33, 7.5, 'Error against speed: every law on a UR5e, exact model')
    for axes, (task, speeds) in zip(figure.subplots(1, 2), SPEEDS.items(), strict=True):
        runs = [[found[Case(law, task, speed)] for speed in speeds] for law in laws]
        errors = np.array([[x.mm if x.mm < _LOST else np.nan for x in each] for each in runs])
        for group in groups_of(laws, errors):
            first = laws[group[0]]
            color, width = SHOWN.get(first, ('0.45', 1.2))
            rows = errors[group]
            axes.fill_between(speeds, rows.min(axis=0), rows.max(axis=0), color=color, alpha=0.3,
                              linewidth=0)  # fmt: skip
            names = '\n'.join(laws[k] for k in group)
            middle = np.exp(np.log(rows).mean(axis=0))
            axes.plot(speeds, middle, '-', color=color, linewidth=width, label=names, zorder=2)
            for k in group:
                beyond = np.array([one.beyond > 0.0 for one in runs[k]])
                for which, face in ((~beyond, color), (beyond, 'white')):
                    axes.plot(np.array(speeds)[which], errors[k][which], 'o', color=color,
                              markersize=2.5 + width, markerfacecolor=face, zorder=3,
                              label='_')  # fmt: skip
        axes.set_xticks(speeds, [f'{x:g}' for x in speeds])
        axes.set(yscale='log', xlim=(speeds[0], speeds[-1]), ylim=(1e-5, 500))
        decades = 10.0 ** np.arange(-5, 3)
        axes.set_yticks(decades, [f'{x:g}'.replace('e-0', 'e-') for x in decades])
        style(axes, task, 'speed (1: the task as it is)', 'RMS error of the tip [mm]', 'both')
        axes.minorticks_off()
        axes.tick_params(labelsize=12)
        axes.title.set_size(15)
        axes.xaxis.label.set_size(13)
        axes.yaxis.label.set_size(13)
        name_groups(axes)
    note = (
        'filled: every period within the limits of torque, velocity and position; hollow: beyond'
    )
    figure.suptitle(figure.get_suptitle(), fontsize=18, fontweight='bold')
    figure.supxlabel(note, fontsize=12)
    save(figure, path)


def name_groups(axes: Any) -> None:
    """Write each line's names next to its end, in its colour; names do not overlap."""
    lines = [x for x in axes.get_lines() if not str(x.get_label()).startswith('_')]
    low, high = np.log10(axes.get_ylim())
    ends = []
    for line in lines:
        y = np.asarray(line.get_ydata())
        ends.append((np.log10(y[np.isfinite(y)][-1]) - low) / (high - low))
    sizes = [0.031 * (1 + str(line.get_label()).count('\n')) + 0.012 for line in lines]
    order, places, below = np.argsort(ends).tolist(), np.array(ends), 0.0
    for k in order:
        places[k] = max(places[k], below + sizes[k] / 2)
        below = places[k] + sizes[k] / 2
    above = 1.0
    for k in reversed(order):
        places[k] = min(places[k], above - sizes[k] / 2)
        above = places[k] - sizes[k] / 2
    for k in order:
        bold = str(lines[k].get_label()) in SHOWN
        axes.annotate(
            str(lines[k].get_label()), (1.0, ends[k]), (1.05, places[k]),
            xycoords='axes fraction', va='center', fontsize=13 if bold else 11,
            color=lines[k].get_color(), weight='bold' if bold else 'normal',
            annotation_clip=False,
            arrowprops={'arrowstyle': '-', 'color': lines[k].get_color(), 'lw': 0.6,
                        'relpos': (0.0, 0.5)},
        )  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--workers', type=int, default=2, help='number of processes')
    parser.add_argument('--picture', default='', help="file of the picture; '': none")
    parser.add_argument('--results', default='', help="file of all runs; '': none")
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
    file = Path(options.results)
    found = read_results(file) if file.is_file() else {}
    missing = [case for case in cases if case not in found]
    with ProcessPoolExecutor(options.workers) as pool:
        for case, one in zip(missing, pool.map(run, missing), strict=True):
            found[case] = one
            if options.results:
                file.write_text(json.dumps(list(found.items()), indent=0))
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
