"""`ros2 run arm_sim excite --robot ur5e`: plan a motion that shows what an arm is made of.

It is written as a goal file that any controller follows; `task.launch.py task:=excite` drives it
and leaves a recording for `identify`.
"""

import argparse
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from arm_dynamics.checks import in_range
from arm_dynamics.identification.excitation import Excitation, ExcitationParameters, plan
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import facts
from arm_sim.loop.goal_file import write_goal
from arm_sim.loop.goals import goal_of
from arm_sim.progress import progress
from arm_sim.refusals import exit_code
from arm_sim.robot import Robot

_SAMPLE_PERIOD = 0.05  # between the points of the goal [s]
_PERIODS = 40  # points per period at least
_LONGEST = 3600.0  # [s] of all cycles
_APPROACH = 3.0  # until the first point, where the motion starts [s]
_NOT_OPTIONS = ('floor', 'table')


@exit_code
def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    run(options, console)


def run(options: argparse.Namespace, console: Console) -> None:
    """Plan the motion, tell it, and write it. Raises ArmError for what cannot be done."""
    robot = Robot.load(options.robot, options.config)
    known = {field.name for field in fields(ExcitationParameters)} - set(_NOT_OPTIONS)
    shared = {name: x for name, x in robot.parameters().items() if name in _NOT_OPTIONS}
    parameters = ExcitationParameters(**shared, **{name: getattr(options, name) for name in known})
    in_range('cycles', options.cycles, 1, 1000)
    in_range('cycles times period [s]', options.cycles * parameters.period, 0, _LONGEST)
    with progress(console, 'motions', parameters.evaluations) as advance:
        found = plan(robot.model, parameters, lambda done, condition: advance(done))
    console.print(_table(robot.model, found))
    if found.note:
        console.print(found.note)
    period = found.motion.period
    count = max(_PERIODS, round(period / _SAMPLE_PERIOD)) * options.cycles
    times = np.linspace(0.0, options.cycles * period, count + 1)
    goal = goal_of(robot.model, _APPROACH + times, found.motion.states(times), rest=1.0)
    write_goal(options.output, goal)
    file = Path(options.output).expanduser().resolve()
    console.print(f'wrote {file}: {times[-1]:g} s after {_APPROACH:g} s on the way to its start')
    console.print(
        f'ros2 launch arm_sim task.launch.py task:=excite robot:={options.robot} '
        f"parameters:='{{file: {file}}}'",
        soft_wrap=True,
    )


def _table(model: RobotModel, found: Excitation) -> Table:
    title = f'{model.name}: {found.motion.period:g} s, condition number {found.condition:.4g}'
    table = Table('joint', box=SIMPLE, title=title)
    for name in ('start', 'from', 'to', 'velocity', 'acceleration', 'torque / limit'):
        table.add_column(name, justify='right')
    times = np.linspace(0.0, found.motion.period, 1001)
    q, v, a = found.motion.states(times)
    for i, name in enumerate(model.joint_names):
        share = f'{found.torque_share[i]:.0%}' if np.isfinite(model.effort_limit[i]) else '-'
        numbers = q[0, i], q[:, i].min(), q[:, i].max(), *np.abs([v[:, i], a[:, i]]).max(axis=1)
        table.add_row(name, *(f'{x:.3f}' for x in numbers), share)
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser('excite', description=__doc__)
    add = parser.add_argument
    add('--robot', default='ur5e', help='name of a robot, or path of its file (ur5e)')
    add('--config', default='', metavar='FILE', help="parameter file over the robot's own")
    add('--cycles', type=int, default=6, help='periods in the goal (6)')
    add('--output', default='excitation.yaml', metavar='FILE', help='(excitation.yaml)')
    for field in fields(ExcitationParameters):
        if field.name not in _NOT_OPTIONS:
            told = f'{facts(field).description} ({field.default})'.replace('%', '%%')
            option = f'--{field.name.replace("_", "-")}'
            add(option, type=type(field.default), default=field.default, help=told)
    return parser
