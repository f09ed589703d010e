"""`ros2 run arm_sim tune_pose_hold`: gains that hold the five-joint arm's pose, without ROS."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.console import Console
from rich.live import Live

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import parameter
from arm_lab.command_line import CommandOptions, File, command
from arm_lab.experiments.report import Listing
from arm_lab.tasks.pose_hold.objective import (
    OFF_BY,
    PUBLISHED_I,
    PUBLISHED_P,
    TARGET,
    TERMS,
    PoseHoldObjective,
    perturbed,
)
from arm_lab.tasks.pose_hold.rollout import BLOW_UP_COST
from arm_lab.tasks.pose_hold.tuning import Search, evolution_search, first_gains, published_search
from arm_sim.loop.report import write_json


@dataclass(frozen=True)
class Options(CommandOptions):
    """Search gains that hold the pose of the five-joint arm, and compare the published ones.

    Gains are listed as all P, then all I, then all D, each of the joints R2, R3 and R5. Ctrl-C
    ends the search with the best gains so far.
    """

    terms: str = parameter(
        'pi', 'terms of each joint controller: proportional, integral, derivative', one_of=TERMS
    )
    method: str = parameter(
        'both',
        'search method; published: downhill simplex; evolution: CMA-ES; both: one after the other',
        one_of=('published', 'evolution', 'both'),
    )
    seconds: float = parameter(90.0, 'longest duration of a search [s]', above=0)
    seed: int = parameter(1, 'seed of the random numbers of the evolution strategy')
    evaluate: Annotated[tuple[float, ...], 'G1,G2,...'] = parameter(
        (), 'gains whose J [rad] is printed, without a search'
    )
    target: Annotated[tuple[float, ...], 'Q1,...,Q5'] = parameter(
        TARGET, 'joint positions of the pose to hold [rad]'
    )
    json: File = parameter('', 'path of a JSON file for the table; empty: no file')


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    console, output = Console(), _writable(options.json)
    if min(options.evaluate, default=0.0) < 0.0:
        raise ArmError(f'--evaluate is {min(options.evaluate):g}; gains must be >= 0')
    objective = PoseHoldObjective(options.target)  # the first one compiles
    if options.evaluate:
        rows = {'given': _assessment(objective, np.array(options.evaluate))}
        print(f'J = {rows["given"]["cost"]:.10f}')
    else:
        rows = _search_all(objective, options, console)
    console.print(_table(rows).terminal())
    for name, row in rows.items():  # as --evaluate takes them
        print(f'{name}: {",".join(repr(gain) for gain in row["gains"])}')
    if output is not None:
        write_json(output, {'target': options.target, 'gains': rows})
        console.print(f'written: {output}')


def _search_all(
    objective: PoseHoldObjective, options: Options, console: Console
) -> dict[str, dict]:
    """Return an assessment of the published gains, and of the best gains of each search."""
    terms, found, searches = options.terms, dict[str, Array](), dict[str, Search]()
    if terms != 'pid' and options.target == TARGET:
        found['published'] = np.array(PUBLISHED_P + (PUBLISHED_I if terms == 'pi' else ()))
    runs: list[tuple[str, str, Callable[[Search], None]]] = []
    if options.method != 'evolution':
        published = partial(published_search, objective, terms)
        runs.append(('simplex', 'downhill simplex, as published', published))
    if options.method != 'published':
        for name, robust in (('robust', True), ('best', False)):
            evolve = partial(evolution_search, objective, terms, robust, seed=options.seed)
            runs.append((name, f'CMA-ES, {name} gains', evolve))
    try:
        for name, title, run in runs:
            searches[name] = Search(first_gains(terms))
            console.print(f'searching: {title}')
            _search(run, searches[name], options.seconds, console)
            if name == 'simplex' and searches[name].stop():
                console.print(
                    f'the simplex has not converged within --seconds {options.seconds:g}: these '
                    'gains are not the published ones'
                )
    except KeyboardInterrupt:
        console.print('interrupted: the best so far')
    found |= {name: each.best for name, each in searches.items()}
    return {name: _assessment(objective, gains) for name, gains in found.items()}


def _search(
    run: Callable[[Search], None], search: Search, seconds: float, console: Console
) -> None:
    """Search for at most this time, with a line of progress."""
    start = time.monotonic()
    search.stop = lambda: time.monotonic() - start > seconds
    with Live(console=console, refresh_per_second=4) as live:

        def report(found: Search) -> None:
            live.update(
                f'best {found.cost:.6g}, {found.evaluations} rollouts, '
                f'{time.monotonic() - start:.0f} of at most {seconds:.0f} s  (Ctrl-C: take it)'
            )

        search.report = report
        run(search)
        report(search)


def _assessment(objective: PoseHoldObjective, gains: Array) -> dict:
    """Return J of gains, unchanged and with errors of +-10 %, ready for JSON."""
    together = objective.costs(np.outer((1.0, 1.0 + OFF_BY, 1.0 - OFF_BY), gains))
    return {
        'gains': gains.tolist(),
        'cost': float(together[0]),
        'cost_all_10_percent_up': float(together[1]),
        'cost_all_10_percent_down': float(together[2]),
        'worst_cost_any_10_percent_off': float(objective.costs(perturbed(gains)).max()),
    }


def _table(rows: dict[str, dict]) -> Listing:
    """Return the table; J has as many digits as published."""
    forms = '.10f', '.6g', '.6g', '.6g'
    cells = [
        [name, *('blows up' if x >= BLOW_UP_COST else format(x, form)
                 for x, form in zip([*row.values()][1:], forms, strict=True))]
        for name, row in rows.items()
    ]  # fmt: skip
    headings = ('gains', 'J', 'all +10 %', 'all -10 %', 'worst: any +-10 %')
    title = 'J = sum over 30 000 steps and R2, R3, R5 of |error| [rad]'
    return Listing(title, headings, cells)


def _writable(name: str) -> Path | None:
    """Return the path of the JSON file, known to be writable; None: no file. Raises ArmError."""
    if not name:
        return None
    path = Path(name).expanduser()
    new = not path.exists()
    try:
        path.touch()
        if new:
            path.unlink()
    except OSError as error:
        raise ArmError(f'--json {name}: {error.strerror}') from None
    return path
