"""`ros2 run arm_sim excite`: a motion from which `identify` finds an arm's parameters."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import in_range, typed, units
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import RobotArgument
from arm_lab.command_line import File, RobotOptions
from arm_lab.commands.call import call, program
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.robot_files import load_robot
from arm_lab.identification.excitation import (
    Excitation,
    ExcitationParameters,
    ExcitationSearch,
    plan,
)
from arm_lab.progress import progress
from arm_sim.loop.goal_file import write_goal
from arm_sim.loop.goals import goal_of

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


class ExcitationReport(Report):
    """A planned motion.

    Attributes:
        found: the Excitation, with its motion.
        goal: the motion as a goal of all cycles, for a controller or `write_goal`.
    """

    found: Excitation

    def __init__(self, options: Options):
        """Plan the motion of the options; write its goal to `output`, where that is given.

        Raises:
            ArmError: a motion that is too long, or none that keeps clear of all limits.
        """
        robot = load_robot(options.robot, options.config)
        model, own = robot.model, robot.parameters()
        self._model = model
        self._title = f'{RobotArgument.of(options.robot).label}: a period of the excitation'
        around = {name: own[name] for name in ('floor', 'table') if name in own}
        parameters = ExcitationParameters(**around, **vars(options.search))
        cycles = options.cycles
        in_range('--cycles times --period [s]', cycles * parameters.period, 0, _LONGEST)
        with progress('motions', parameters.evaluations) as advance:
            found = plan(model, parameters, lambda done, condition: advance(done))
        period = found.motion.period
        count = max(_PERIODS, round(period / _SAMPLE_PERIOD)) * cycles
        times = np.linspace(0.0, cycles * period, count + 1)
        self.goal = goal_of(model, _APPROACH + times, found.motion.states(times), rest=1.0)
        notes = [found.note] if found.note else []
        if options.output:
            write_goal(options.output, self.goal)
            file = Path(options.output).expanduser().resolve()
            notes += [
                f'wrote {file}: {self.goal.times[-1]:g} s, of which {_APPROACH:g} s on the way to '
                'its start',
                typed(
                    'ros2 launch arm_sim task.launch.py task:=excite '
                    f"robot:={options.robot} parameters:='{{file: {file}}}'"
                ),
            ]
        numbers = {'condition': found.condition, 'period_s': period, 'note': found.note}
        line = replace(options, output=options.output or Options.output).line()
        listings = [_listing(model, found)]
        super().__init__('excitation', listings, [numbers], self._draw, line, found, notes)

    def _draw(self) -> Any:
        """Return positions and velocities of a period."""
        from arm_sim.loop.picture import motion_figure

        motion = self.found.motion
        times = np.linspace(0.0, motion.period, 1001)
        q, v, _ = motion.states(times)
        return motion_figure(self._title, times, q, v, self._model)


excite = call(
    Options, ExcitationReport,
    'Plan a motion from which `identify` finds the parameters of an arm.', robot='ur5e', output='',
)  # fmt: skip


main = program(Options, ExcitationReport)


def _listing(model: RobotModel, found: Excitation) -> Listing:
    title = f'{model.name}: {found.motion.period:g} s, condition number {found.condition:.4g}'
    of_q, of_v, of_a = (
        units(each, model.prismatic) for each in ('rad | m', 'rad/s | m/s', 'rad/s^2 | m/s^2')
    )
    headings = (
        'joint', f'start [{of_q}]', f'from [{of_q}]', f'to [{of_q}]', f'velocity [{of_v}]',
        f'acceleration [{of_a}]', 'torque / limit',
    )  # fmt: skip
    times = np.linspace(0.0, found.motion.period, 1001)
    q, v, a = found.motion.states(times)
    rows = []
    for i, name in enumerate(model.joint_names):
        share = f'{found.torque_share[i]:.0%}' if np.isfinite(model.effort_limit[i]) else '-'
        numbers = q[0, i], q[:, i].min(), q[:, i].max(), *np.abs([v[:, i], a[:, i]]).max(axis=1)
        rows.append([name, *(f'{x:.3f}' for x in numbers), share])
    return Listing(title, headings, rows)
