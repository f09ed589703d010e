"""Thresholds of the guard from drawn arms and motions.

./ws python examples/guard_thresholds.py --robot ur5e
"""

import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from guard_study import (
    CHUNK,
    LEG,
    LEGS,
    alarms_of,
    guarded,
    pushed,
    residual_maxima,
    thresholds_of,
)

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_names
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import Array, units
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import like, parameter
from arm_lab.command_line import Name, RobotOptions
from arm_lab.commands.call import program
from arm_lab.experiments.executors import Jobs, ordered
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Ranges
from arm_lab.experiments.report import Listing, Report
from arm_lab.progress import progress

_FIXED = (12.0, 16.0, 20.0)  # thresholds of all joints, to compare with [N.m | N]


@dataclass(frozen=True)
class Believed(Ranges):
    """The errors that the model may have: those of a Monte Carlo, with drives of full strength."""

    effort: float = like(Ranges, 'effort', 1.0)
    payload: float = like(Ranges, 'payload', 0.5)


@dataclass(frozen=True)
class Options(RobotOptions):
    """Compute the thresholds of the guard of an arm from the errors that its model may have.

    Arms with drawn errors follow drawn motions without contact; the largest residuals give the
    thresholds, printed as lines for the parameter file. Other arms count the false alarms, and
    pushes show the time of detection.
    """

    law: Name = parameter(
        'computed_torque', f'control law that commands effort, of {", ".join(law_names())}'
    )
    alarms: float = parameter(
        0.1, 'expected number of false alarms of all joints in 1e5 s [1]', above=0, max=1e4
    )
    duration: float = parameter(
        1e5, 'drawn motion from which thresholds are computed [s]', min=2500, max=1e8
    )
    check_duration: float = parameter(
        0.0, 'drawn motion of other arms in which false alarms are counted [s]', min=0, max=1e8
    )
    pushes: int = parameter(0, 'number of arms that are pushed once', min=0, max=1_000_000)
    force: float = parameter(30.0, 'force of a push [N]', above=0, max=1e4)
    seed: int = parameter(0, 'seed of the random numbers', min=0)
    believed: Believed = field(default_factory=Believed)
    jobs: Jobs = field(default_factory=Jobs)


class Thresholds(NamedTuple):
    """Thresholds of a guard, and what they do.

    Attributes:
        thresholds: (2, n) of the residual and of its step [N.m | N].
        guard: the other parameters of the guard.
        alarms: false alarms in other motions of `checked` [s].
        pushes: times of detection by thresholds: computed, then _FIXED; None: no pushes.
    """

    thresholds: Array
    guard: GuardParameters
    alarms: int
    checked: float
    pushes: Any

    def lines(self) -> list[str]:
        """Return the parameters as lines of a parameter file."""
        threshold, step = self.thresholds.tolist()
        values = {
            'threshold': threshold, 'step_threshold': step,
            'observer_gain': self.guard.observer_gain, 'step_time': self.guard.step_time,
        }  # fmt: skip
        return [f'    guard.{name}: {value}' for name, value in values.items()]


def thresholds(options: Options) -> Report:
    """Return the report of the thresholds; `found` is `Thresholds`."""
    plain = Experiment.of_files(
        options.robot, 'sinusoid', options.law, config=options.config, seed=options.seed,
        ranges=options.believed,
    )  # fmt: skip
    robot = plain.load().robot
    given = read_fields(GuardParameters, robot.controller_parameters(options.law), 'guard.')
    drawn, fresh = guarded(plain, given), guarded(replace(plain, seed=options.seed + 1), given)
    jobs = [(drawn, each) for each in _chunks(options.duration)]
    jobs += [(fresh, each) for each in _chunks(options.check_duration)]
    with options.jobs.executor() as own, progress('arms', len(jobs)) as advance:
        maxima = ordered(own, _maxima, jobs, advance)
    count = len(_chunks(options.duration))
    exact = thresholds_of(np.concatenate(maxima[:count]), options.alarms * LEG / 1e5)
    rounded: Array = np.ceil(exact * 100.0) / 100.0
    alarms: Array = np.zeros(0)
    if options.check_duration:
        alarms = alarms_of(np.concatenate(maxima[count:]), rounded).astype(float)
    pushes = _pushes(options, fresh, rounded) if options.pushes else None
    found = Thresholds(rounded, given, int(alarms.sum()), len(alarms) * LEG, pushes)
    names, columns = robot.model.joint_names, rounded.T.tolist()
    rows = [[name, *(f'{x:.3g}' for x in each)] for name, each in zip(names, columns, strict=True)]
    title = f'{options.alarms:g} false alarms in 1e5 s, from {count * LEGS * CHUNK * LEG:g} s'
    headings = ['joint', 'threshold', 'step threshold']
    plain_rows = [
        dict(zip(('joint', 'threshold', 'step_threshold'), (name, *each), strict=True))
        for name, each in zip(names, columns, strict=True)
    ]
    draw, listing = partial(_figure, found, robot.model, title), Listing(title, headings, rows)
    notes = found.lines()
    if options.check_duration:
        notes.append(f'false alarms in {found.checked:g} s of other motions: {found.alarms}')
    if pushes is not None:
        notes += _of_pushes(options, pushes)
    return Report('guard_thresholds', [listing], plain_rows, draw, found=found, notes=notes)


main = program(Options, thresholds)


def _figure(found: Thresholds, model: RobotModel, title: str) -> Any:
    from arm_sim.pictures import BLUE, ORANGE, legend, new_figure, style

    names = model.joint_names
    figure = new_figure(7.0, 1.6 + 0.3 * len(names), title)
    axis, places = figure.subplots(), np.arange(len(names))
    bars = zip(
        (-0.2, 0.2), found.thresholds, (BLUE, ORANGE), ('threshold', 'step threshold'), strict=True
    )
    for offset, values, color, label in bars:
        axis.barh(places + offset, values, 0.38, color=color, label=label)
    axis.set_yticks(places, names)
    axis.invert_yaxis()
    style(axis, '', f'residual [{units("N.m | N", model.prismatic)}]', grid='x')
    legend(axis)
    return figure


def _pushes(options: Options, fresh: Experiment, thresholds: Array) -> Any:
    fixed = [np.array([np.full_like(thresholds[0], x), thresholds[1] + np.inf]) for x in _FIXED]
    arms = range(10_000_000, 10_000_000 + options.pushes)  # none of those before
    return pushed(fresh, arms, options.force, np.array([thresholds, *fixed])).times


def _of_pushes(options: Options, found: Any) -> list[str]:
    lines = [
        f'{options.pushes} pushes of {options.force:g} N at random links, directions and times:'
    ]
    names = ['computed', *(f'{x:g} N.m' for x in _FIXED)]
    for name, times in zip(names, found, strict=True):
        both = np.isfinite(times) & np.isfinite(found[0])
        lines.append(
            f'  {name:8}  {np.isfinite(times).mean():6.1%} detected, median '
            f'{1e3 * np.median(times[both]):.3g} ms; of the same pushes computed: '
            f'{1e3 * np.median(found[0][both]):.3g} ms'
        )
    return lines


def _maxima(job: tuple[Experiment, range]) -> Array:
    return residual_maxima(*job)


def _chunks(duration: float) -> list[range]:
    """Return the numbers of the arms of each job for at least a duration [s]."""
    count = -(-duration // (CHUNK * LEGS * LEG))
    return [range(k * CHUNK, (k + 1) * CHUNK) for k in range(int(count))]


if __name__ == '__main__':
    sys.exit(main())
