"""A task behind the supervisor on drawn arms, in the loop: how near the limits of a drive are."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues
from arm_lab.experiments.batchable import check_tunable
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.ranges import Ranges
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.goals import START_NS, goal_reference
from arm_sim.loop.loop import Loop
from arm_tools.driving.messages import MessageRanges, RemoteLaw
from arm_tools.driving.presets import drives_of, period_of
from arm_tools.driving.supervisor import Supervisor
from arm_tools.driving.supervisor_parameters import SupervisorParameters
from arm_tools.driving.supervisor_state import STOPPED, WAITING

EXACT = MessageRanges()  # no ages, and the nominal rate
BEGINS = 'time until the law begins'
_WAIT = 1.0  # beyond the rest time, in which the law has to begin [s]
_SHOWN = 0.5  # of what was believed: a parameter whose spread is larger is not known


class Row(NamedTuple):
    """What all drawn arms showed of one limit.

    Attributes:
        name: of the check.
        unit: of value and limit.
        value, limit: in the worst case.
        joint: name of its joint; '': of no joint.
        sample: number of its arm.
        t: its time [s]; 0 is the start of the simulation.
        beyond: number of arms beyond the limit.
    """

    name: str
    unit: str
    value: float
    limit: float
    joint: str
    sample: int
    t: float
    beyond: int


def experiment_of(
    robot: str, task: str, law: str, drives: str, config: str, rate: float = 0.0, **others: Any
) -> Experiment:
    """Return the arm under the law, with the gains and drives that `drive.launch.py` takes.

    Args:
        robot, task, law: by name.
        drives: name of a preset.
        config: path of a parameter file, or ''.
        rate: of the states [Hz]; 0: that of the drives.
        others: further fields of Experiment.
    """
    preset = drives_of(drives)
    given: ParameterValues = {}
    if preset.interface == 'effort':
        convention = DriveParameters(
            effort_convention=preset.effort_convention,
            friction_compensation=preset.friction_compensation,
        )
    else:
        convention = DriveParameters(servo_compensation=True)
        given = {'feedforward': 'none'} if law == 'servo' else {}
    return Experiment(
        robot, task, law, timestep=period_of(rate or preset.rate), natural_frequency=0.0,
        config=config, drives=convention, **given, **others,
    )  # fmt: skip


def rehearse(
    experiment: Experiment,
    limits: SupervisorParameters,
    samples: Sequence[int],
    messages: MessageRanges = EXACT,
) -> Array:
    """Return value, limit, joint and time [s] of the worst case of each arm and limit (N, k, 4).

    The first row is the time until the law begins, the others are those of the supervisor.

    Args:
        experiment: the arms, with the nominal period of control as its time step.
        limits: of the supervisor.
        samples: numbers of the arms.
        messages: ages and rates that are drawn.

    Raises:
        ArmError: a task with a loop of its own, with forces or with a gripper.
    """
    loaded = experiment.load()
    model, task = check_tunable(loaded), loaded.task
    if task.gripper or task.force_samples is not None:
        raise ArmError(f'task {experiment.task!r} is not rehearsed: it has more than a motion')
    return np.array([_rehearsed(loaded, model, limits, messages, each) for each in samples])


def supervisor_of(loaded: LoadedExperiment, limits: SupervisorParameters) -> Supervisor:
    """Return the supervisor of an arm, as the node has it."""
    interface, convention = loaded.law_class.command_interface, loaded.experiment.drives
    return Supervisor(loaded.robot.model, limits, interface, convention)


def _rehearsed(
    loaded: LoadedExperiment,
    model: RobotModel,
    limits: SupervisorParameters,
    messages: MessageRanges,
    sample: int,
) -> Array:
    task, start, known = loaded.task, loaded.robot.start, loaded.experiment
    draw = known.ranges.draw(model, known.seed, sample)
    drawn = loaded.on(draw)
    period = messages.period(known.timestep, known.seed, sample)
    true = drawn if period == known.timestep else replace(known, timestep=period).load().on(draw)
    plant, later = true.plants()
    goal, from_ns = task.goal_from(start, plant.parameters.period_ns)
    follow = goal_reference(goal, model, start, np.zeros_like(start))
    most = limits.rest_time + _WAIT
    begin = most + limits.ramp_time  # of the goal, when the law alone commands

    def reference(t: float, row: Reference) -> None:
        follow(max(t - begin, 0.0), row)

    events = [(begin + 1e-9 * from_ns + t, event) for t, event in task.events(later)]
    supervisor = supervisor_of(loaded, limits)
    lasts = task.duration if goal is None else float(goal.times[-1])
    count = round((begin + 1e-9 * START_NS + lasts) / plant.parameters.period)
    arrivals = messages.arrivals(period, limits.state_age_limit, count, known.seed, sample)
    law = RemoteLaw(drawn.law(), supervisor, known.timestep, arrivals)
    loop = Loop(plant, law, reference, events)
    loop.reset(start)
    worst = np.zeros((1 + len(supervisor.checks), 4))
    worst[:, 0] = -np.inf
    worst[0] = np.inf, most, 0.0, 0.0
    rows, distance = np.arange(1, len(worst)), np.full(len(worst) - 1, -np.inf)
    for _ in range(count):
        step = loop.step()
        _, state, *_ = loop.law_state or ()
        if state.phase == WAITING:
            continue
        worst[0, 0] = min(worst[0, 0], step.t)
        value, limit = state.seen
        if not limit.any():  # the checks begin with the next period
            continue
        far = _beyond(value, limit)
        joint = far.argmax(axis=1)
        now = far[rows - 1, joint]
        new = now > distance
        distance = np.where(new, now, distance)
        seen = value[rows - 1, joint], limit[rows - 1, joint], joint, np.full(len(rows), step.t)
        worst[rows[new]] = np.stack(seen, axis=1)[new]
        if state.phase == STOPPED or not step.alive:
            break
    return worst


def _beyond(value: Array, limit: Array) -> Array:
    """Return how far values are beyond limits, as a share of a limit that is not zero."""
    far: Array = np.where(np.isnan(value), np.inf, value - limit) / np.where(limit > 0, limit, 1.0)
    return far


def table(supervisor: Supervisor, found: Array, samples: Sequence[int]) -> list[Row]:
    """Return a row per limit; limits that were not tried, such as ages, are left out.

    Args:
        supervisor: of the arm.
        found: (N, k, 4) of `rehearse`.
        samples: numbers of the arms.
    """
    far = _beyond(found[..., 0], found[..., 1])
    rows = []
    for k, check in enumerate((None, *supervisor.checks)):
        worst = int(far[:, k].argmax())
        value, limit, joint, t = found[worst, k].tolist()
        if check is not None and not np.nan_to_num(found[:, k, 0], neginf=0.0).any():
            continue
        of_joint = supervisor.model.joint_names[int(joint)] if check and check.kind else ''
        unit = supervisor.unit_of(check, int(joint)) if check else 's'
        rows.append(
            Row(
                check.name if check else BEGINS, unit, value, limit, of_joint,
                samples[worst], t, int((far[:, k] > 0.0).sum()),
            )
        )  # fmt: skip
    return rows


def measured_ranges(ranges: Ranges, file: str, model: RobotModel, period: float) -> Ranges:
    """Return ranges that reach what was measured on the robot.

    Args:
        ranges: what the file does not say stays.
        file: `comparison.json` of compare_recordings or `identified.json` of identify.
        model: of the arm as the law knows it.
        period: of control [s].

    Raises:
        ArmError: the file cannot be read, or is something else.
    """
    try:
        known = json.loads(Path(file).read_text())
        names = tuple(known['joint_names'])
    except OSError as error:
        raise ArmError(f'measured file {file!r} cannot be read: {error.strerror}') from None
    except (ValueError, KeyError, TypeError):
        raise ArmError(
            f'measured file {file!r} is none of compare_recordings or identify: it has no '
            'joint_names'
        ) from None
    if names != model.joint_names:
        raise ArmError(f'measured file {file!r} is of joints {names}, not {model.joint_names}')
    changes: ParameterValues = {}
    if 'delay_s' in known and not known.get('start_s'):
        changes['delay'] = ceil(round(max(known['delay_s'], 0.0) / period, 6))
    parameters = known.get('parameters', ())
    friction = known.get('coulomb_friction', _found(parameters, ' Coulomb friction'))
    if len(friction):
        share = np.abs(friction) / model.effort_limit
        changes['friction'] = min(float(np.max(share)), 1.0)
    if 'mass_kg' in known:
        changes['payload'] = abs(known['mass_kg'])
    if masses := _found(parameters, ' mass'):
        changes['mass'] = min(float(np.max(np.abs(np.array(masses) - 1.0))), 0.99)
    return replace(ranges, **changes)


def _found(parameters: Sequence[ParameterValues], ending: str) -> list[float]:
    """Return the parameters that are known, those of links as a factor on the one given."""
    return [
        float(each['found'] / (each.get('given', 1.0) if ending == ' mass' else 1.0))
        for each in parameters
        if each['name'].endswith(ending) and each['spread_left'] < _SHOWN
    ]
