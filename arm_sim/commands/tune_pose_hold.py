"""`ros2 run arm_sim tune_pose_hold`: find gains that hold the five-joint arm's pose. No ROS."""

import argparse
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import numpy as np
from rich.console import Console
from rich.live import Live
from rich.table import Table

from arm_dynamics.checks import ArmError, Array
from arm_sim.loop.report import write_json
from arm_sim.refusals import exit_code
from arm_sim.tasks.pose_hold.objective import (
    OFF_BY,
    PUBLISHED_I,
    PUBLISHED_P,
    TARGET,
    TERMS,
    PoseHoldObjective,
    perturbed,
)
from arm_sim.tasks.pose_hold.rollout import BLOW_UP_COST
from arm_sim.tasks.pose_hold.tuning import Search, evolution_search, published_search


@exit_code
def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    given = _joined(sys.argv[1:] if arguments is None else arguments)
    _run(_parser().parse_args(given))


def _run(options: argparse.Namespace) -> None:
    console = Console()
    output = _writable(options.json)
    target = tuple(_numbers('--target', options.target)) if options.target else TARGET
    gains = None
    if options.evaluate is not None:
        gains = np.array(_numbers('--evaluate', options.evaluate))
        if (gains < 0.0).any():
            raise ArmError(f'--evaluate is {options.evaluate}; gains must be >= 0')
    objective = PoseHoldObjective(target)  # compiles, the first time
    if gains is not None:
        rows = {'given': _assessment(objective, gains)}
        print(f'J = {rows["given"]["cost"]:.10f}')
    else:
        with _interruptible() as interrupted:
            rows = _search_all(objective, options, console, interrupted)
    console.print(_table(rows))
    for name, row in rows.items():
        # One line, for --evaluate: all P, then all I, then all D, of R2, R3, R5.
        print(f'{name}: {",".join(repr(gain) for gain in row["gains"])}')
    if output is not None:
        write_json(output, {'target': target, 'gains': rows})
        console.print(f'written: {output}')


def _search_all(
    objective: PoseHoldObjective, options: argparse.Namespace, console: Console, interrupted: Event
) -> dict[str, dict]:
    """Return an assessment of the published gains and of each search's best."""
    if not options.seconds > 0.0:
        raise ArmError(f'--seconds is {options.seconds:g}; it must be > 0')
    terms, seed = options.terms, options.seed
    found = {}
    if terms != 'pid' and tuple(objective.target) == TARGET:
        found['published'] = np.array(PUBLISHED_P + (PUBLISHED_I if terms == 'pi' else ()))
    searches: list[tuple[str, str, Callable[[Search], None]]] = []
    if options.method != 'evolution':
        published = partial(published_search, objective, terms)
        searches.append(('simplex', 'downhill simplex, as published', published))
    if options.method != 'published':
        for name, robust in (('robust', True), ('best', False)):
            evolve = partial(evolution_search, objective, terms, robust, seed=seed)
            searches.append((name, f'CMA-ES, {name} gains', evolve))
    for name, title, run in searches:
        if not interrupted.is_set():
            console.print(f'searching: {title}')
            found[name] = _searching(run, 3 * len(terms), options.seconds, console, interrupted)
    if interrupted.is_set():
        console.print('interrupted: the best so far')
    return {name: _assessment(objective, gains) for name, gains in found.items()}


def _searching(
    run: Callable[[Search], None], count: int, seconds: float, console: Console, interrupted: Event
) -> Array:
    """Search `count` gains with a line of progress, until it ends, time is up or Ctrl-C."""
    start = time.monotonic()
    search = Search(np.ones(count))
    search.stop = lambda: interrupted.is_set() or time.monotonic() - start > seconds
    with Live(console=console, refresh_per_second=4) as live:

        def report(found: Search) -> None:
            live.update(
                f'best {found.cost:.6g}, {found.evaluations} rollouts, '
                f'{time.monotonic() - start:.0f} of at most {seconds:.0f} s  (Ctrl-C: take it)'
            )

        search.report = report
        run(search)
        report(search)
    return search.best


@contextmanager
def _interruptible() -> Iterator[Event]:
    """Let the first Ctrl-C end a search with what it has, by an event; the second one kills."""
    event, before = Event(), signal.getsignal(signal.SIGINT)

    def on_signal(*_: object) -> None:
        event.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, on_signal)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def _assessment(objective: PoseHoldObjective, gains: Array) -> dict:
    """Return J of gains as they are and off by +-10 %, ready for JSON."""
    together = objective.costs(np.outer((1.0, 1.0 + OFF_BY, 1.0 - OFF_BY), gains))
    return {
        'gains': gains.tolist(),
        'cost': float(together[0]),
        'cost_all_10_percent_up': float(together[1]),
        'cost_all_10_percent_down': float(together[2]),
        'worst_cost_any_10_percent_off': float(objective.costs(perturbed(gains)).max()),
    }


def _table(rows: dict[str, dict]) -> Table:
    table = Table('gains', title='J = sum over 30 000 steps and R2, R3, R5 of |error| [rad]')
    for heading in ('J', 'all +10 %', 'all -10 %', 'worst: any +-10 %'):
        table.add_column(heading, justify='right')
    digits = {'cost': '.10f'}  # as published
    for name, row in rows.items():
        costs = [
            'blows up' if value >= BLOW_UP_COST else format(value, digits.get(key, '.6g'))
            for key, value in row.items()
            if key != 'gains'
        ]
        table.add_row(name, *costs)
    return table


def _joined(arguments: list[str]) -> list[str]:
    """Join an option and its value -6,5,1 by '=': argparse would take that for an option."""
    return re.sub(r'\0(?=-[\d.])', '=', '\0'.join(arguments)).split('\0') if arguments else []


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(',')]
    except ValueError:
        raise ArmError(f'{option} is {text!r}; it must be numbers with commas between') from None


def _writable(name: str | None) -> Path | None:
    """Return the path of the JSON file, known to be writable. Raises ArmError."""
    if name is None:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog='tune_pose_hold', description=__doc__)
    add, methods = parser.add_argument, ('published', 'evolution', 'both')
    how = 'the simplex as published, an evolution strategy (CMA-ES), or both (default)'
    given = 'only print J of these gains: all P, all I, all D'
    add('--terms', choices=TERMS, default='pi', help='default: pi')
    add('--method', choices=methods, default='both', help=how)
    add('--seconds', type=float, default=90.0, help='at most, a search (default: 90)')
    add('--seed', type=int, default=1, help='of the random numbers (default: 1)')
    add('--evaluate', metavar='G1,G2,...', help=given)
    add('--target', metavar='Q1,...,Q5', help='another pose to hold [rad]')
    add('--json', metavar='FILE', help='write the table there as well')
    return parser
