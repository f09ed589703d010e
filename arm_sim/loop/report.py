"""Results of a run: a table for people, a file for machines."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arm_sim.loop.measures import BUILT_IN, all_measures
from arm_sim.output_folder import whole_file
from arm_sim.simulation.integration import CONTINUOUS

# Of report.json, by name: numbers, texts, lists, and such again.
Results = dict[str, Any]
ReportTree = Mapping[str, Any]

_MARKS = {True: '[green]held[/]  ', False: '[red]BROKEN[/]', None: '-     '}


class Check(NamedTuple):
    """A number that must not exceed its limit, where one is stated; it decides the exit code."""

    name: str
    value: float
    limit: float | None
    unit: str

    @property
    def held(self) -> bool | None:
        """Whether the number is within its limit; None: there is no limit."""
        return None if self.limit is None else self.value <= self.limit

    @property
    def shown(self) -> tuple[str, str]:
        """Number and limit for people, each with its unit: an angle is in rad."""
        unit, scale = ('rad', math.radians(1.0)) if self.unit == 'deg' else (self.unit, 1.0)
        value = f'{self.value * scale:.4g} {unit}'.rstrip()
        if self.limit is None:
            return value, 'no limit'
        return value, f'limit {self.limit * scale:g} {unit}'.rstrip()


def all_held(checks: Iterable[Check]) -> bool | None:
    """Return whether all numbers are within their limits; None: no limit is stated."""
    held = [check.held for check in checks if check.limit is not None]
    return all(held) if held else None


def law_of(facts: ReportTree) -> str:
    """Return the law that was run, with its feedforward or its design."""
    law, level = facts['controller'], facts['feedforward']
    return f'{law} ({level.removeprefix(f"{law}, ")})' if level else law


def title_of(facts: ReportTree) -> str:
    """Return what was run: robot, law, engine, mode, and what differs between arm and model."""
    engine = physics_of(facts['engine'], facts.get('integrator', ''))
    parts = facts['robot'], law_of(facts), f'engine {engine}', facts['mode'], facts.get('errors')
    return ', '.join(filter(None, parts))


def physics_of(engine: str, integrator: str) -> str:
    """Return an engine's name, with its integrator where this takes one step per timestep."""
    if integrator in ('', CONTINUOUS):
        return engine
    return f'{engine} ({integrator}, one step per timestep)'


def common_rows(report: ReportTree) -> list[tuple[str, ...]]:
    """Return the table's rows for what every report has."""
    tracking, joints = report['tracking_error_mm'], report['joint_error_rad']
    worst = int(np.argmax(joints['max']))
    where = f'{report["joint_names"][worst]}, t = {joints["max_at_s"][worst]:.3f} s'
    share = report['peak_torque_share']  # 0: no joint has a limit
    torque = f'{report["peak_torque_joint"]}, t = {report["peak_torque_at_s"]:.3f} s'
    torque += f'; {share:.0%} of limit' if share else ''
    rows = [
        error_row('tracking error [mm]', tracking),
        error_row('orientation error [rad]', report['orientation_error_rad']),
        ('joint error [rad]', f'{max(joints["rms"]):.3g}', f'{max(joints["max"]):.3g}', where),
        ('torque [N.m]', '', f'{report["peak_torque_nm"]:.4g}', torque),
        ('saturated samples', '', str(report['saturated_samples']), ''),
        ('energy [J]', '', f'{report["energy_j"]:.4g}', ''),
        ('chatter [N.m]', f'{report["chatter_nm"]:.3g}', '', ''),
    ]
    if report['event_s'] is not None:
        recovery, event = report['recovery_s'], f'after the event at {report["event_s"]:g} s'
        rows.append(('recovery [s]', '', f'{recovery:.3g}'.replace('nan', 'never'), event))
    if 'contact_force_max_n' in report:
        slip = (
            f'{report["penetration_max_mm"]:.3g} mm deep, slip {report["contact_slip_mm"]:.3g} mm'
        )
        impulse = f'impulse {report["contact_impulse_ns"]:.4g} N.s'
        force = f'{report["contact_force_max_n"]:.4g}'
        rows.append(('contact force [N]', '', force, f'{impulse}; {slip}'))
    plugins = [each for each in all_measures() if each not in BUILT_IN and each.heading]
    shown = [each for each in plugins if each.name in report]
    rows += [(each.heading, '', format(report[each.name], each.format), '') for each in shown]
    return rows


def error_row(name: str, error: Mapping[str, float]) -> tuple[str, ...]:
    """Return the table's row of an error with RMS, maximum and its time."""
    return name, f'{error["rms"]:.3g}', f'{error["max"]:.3g}', f't = {error["max_at_s"]:.3f} s'


def plain(value: object) -> Any:
    """Return a value as JSON has it: what is not a finite number becomes null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def write_json(path: Path, report: ReportTree) -> None:
    """Write a report for machines."""
    text = json.dumps(plain(report), indent=2, allow_nan=False) + '\n'
    with whole_file(path) as file:
        file.write(text.encode())


def print_report(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    notes: Iterable[str],
    checks: Iterable[Check],
) -> None:
    """Print a report for people: what was run, the numbers, notes, the verdict."""
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(width=92, highlight=False)
    console.print(f'\n[bold]{escape(title)}[/]')
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False, header_style='bold')
    for i, column in enumerate(columns):
        side: Any = 'left' if i == 0 or column == 'where' else 'right'
        table.add_column(escape(column), justify=side)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(table)
    for note in notes:
        console.print(escape(note))
    for check in checks:
        value, limit = check.shown
        console.print(f'{_MARKS[check.held]} {escape(check.name)}: {value}, {limit}')
