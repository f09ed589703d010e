"""`ros2 run arm_sim excite`: a motion from which `identify` finds an arm's parameters."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.box import SIMPLE
from rich.table import Table

from arm_dynamics.checks import in_range
from arm_dynamics.identification.excitation import (
    Excitation,
    ExcitationParameters,
    ExcitationSearch,
    plan,
)
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_sim.command_line import RobotOptions, command
from arm_sim.loop.goal_file import write_goal
from arm_sim.loop.goals import goal_of
from arm_sim.options import File
from arm_sim.progress import new_console, progress
from arm_sim.robot import Robot

_SAMPLE_PERIOD = 0.05  # between the points of the goal [s]
_PERIODS = 40  # points per period at least
_LONGEST = 3600.0  # duration of all cycles [s]
_APPROACH = 3.0  # time until the first point, where the motion starts [s]


@dataclass(frozen=True)
class Options(RobotOptions):
    """Plan a motion from which `identify` finds the inertias, rotors and friction of an arm.

    The motion is written as a goal file. `task.launch.py task:=excite` runs it and records the
    joint states.
    """

    cycles: int = parameter(6, 'number of periods in the goal', min=1, max=1000)
    output: File = parameter('excitation.yaml', 'path of the goal file that the command writes')
    search: ExcitationSearch = field(default_factory=ExcitationSearch)


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    robot, console = Robot.load(options.robot, options.config), new_console()
    own = robot.parameters()
    around = {name: own[name] for name in ('floor', 'table') if name in own}
    parameters = ExcitationParameters(**around, **vars(options.search))
    in_range('--cycles times --period [s]', options.cycles * parameters.period, 0, _LONGEST)
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
