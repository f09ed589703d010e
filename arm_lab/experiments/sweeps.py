"""One number varied, every law: error over frequency, error over model mismatch."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.parameters import ParameterValues, with_values
from arm_lab.experiments.executors import SERIAL, Work
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.runs import observe_all, record_of
from arm_sim.devices.faults import read_faults
from arm_sim.loop.record import Record
from arm_sim.robot import Robot
from arm_sim.tasks import task_class

# What can be swept: its values where none are given, and its axis in the plot.
SWEEPS: dict[str, tuple[tuple[float | str, ...], str]] = {
    'frequency': (
        tuple(float(f) for f in np.geomspace(0.1, 5.0, 12)),
        'frequency [Hz] (amplitude shrinks where acceleration would exceed that at the own one)',
    ),
    'mass_scale': ((0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3), "the arm's masses over the model's"),
    'inertia_scale': ((0.5, 0.75, 1.0, 1.5, 2.0), "the arm's inertias over the model's"),
    'payload': ((0.0, 0.5, 1.0, 1.5, 2.0), 'unknown payload [kg]'),
    'gravity': ((9.31, 9.56, 9.81, 10.06, 10.31), 'gravity along -z [m/s$^2$]'),
    'com_shift': ((-0.02, -0.01, 0.0, 0.01, 0.02), 'shift of the centres of mass along z [m]'),
    'friction': ((0.0, 0.25, 0.5, 1.0, 2.0), 'unknown Coulomb friction [N.m]'),
    'damping': ((0.0, 0.5, 1.0, 2.0, 5.0), 'unknown viscous friction [N.m.s/rad]'),
    'armature': ((0.0, 0.05, 0.1, 0.2), 'unknown rotor inertia [kg m$^2$]'),
    'command_delay': (
        (0, 1, 2, 4, 8),
        'control periods from a state to the effect of its command',
    ),
    'compensation_scale': (
        (0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2),
        "gravity as the drives compensate it, over the arm's",
    ),
    'encoder_resolution': (
        (0.0, 1e-6, 1e-5, 1e-4, 1e-3),
        'step of measured positions [rad], velocities by differences',
    ),
    'joint_stiffness': ((0.0, 3e4, 1e4, 3e3), 'stiffness of the gears [N.m/rad], 0: rigid'),
    'backlash': (
        (0.0, 3e-4, 1e-3, 3e-3),
        'play of gears of 10 000 N.m/rad [rad]',
    ),
    'static_friction': ((0.0, 1.0, 3.0, 10.0), 'unknown Stribeck friction at standstill [N.m]'),
    'ripple_amplitude': ((0.0, 0.5, 1.0, 2.0), 'torque ripple, 24 periods per turn [N.m]'),
    'fault': (
        (
            'exact',
            'frozen_feedback',
            'lost_feedback',
            'dropped_commands',
            'stuck_joint',
            'offset_encoder',
            'drifting_encoder',
        ),
        'fault for 0.1 s from t = 0.5 s on, of the second joint (feedback and commands: of all)',
    ),
    'errors': (
        (
            'exact',
            'mass_scale=1.05',
            'mass_scale=1.2',
            'payload=0.5',
            'friction=0.5',
            'com_shift=0.01',
            'armature=0.12',
        ),
        'what is not as the laws know it',
    ),
}

_GEARS = {'joint_stiffness': (1e4,), 'joint_damping': (10.0,), 'joint_substeps': 20}

# Sweeps of the joints, and the other joint parameters that these need.
OF_JOINTS: dict[str, ParameterValues] = {
    'joint_stiffness': _GEARS,
    'backlash': _GEARS,
    'static_friction': {},
    'ripple_amplitude': {'ripple_harmonic': (24.0,)},
}

OF_EFFORT = ('compensation_scale',)  # sweeps for laws that command torques


class Sweep(NamedTuple):
    """Errors (laws, values) of every law at every value; nan: the loop was unstable.

    Attributes:
        measure: name of the measure that the errors are.
    """

    parameter: str
    values: tuple[float | str, ...]
    laws: tuple[str, ...]
    errors: Array
    measure: str = 'tracking_rms_mm'


def swept_values(parameter: str, text: str) -> tuple[float | str, ...]:
    """Return the values in a text with commas: numbers, or of `errors` exact and NAME=NUMBER."""
    words = [each.strip() for each in text.split(',') if each.strip()]
    if parameter in ('errors', 'fault'):
        return tuple(words)
    try:
        return tuple(float(each) for each in words)
    except ValueError:
        raise ArmError(f'values is {text!r}; it must be numbers and commas') from None


def _named(text: str) -> tuple[str, float]:
    """Return the sweep and the number in NAME=NUMBER."""
    name, _, number = text.partition('=')
    known = [each for each in SWEEPS if each not in ('errors', 'fault')]
    try:
        one_of('name', name, known)
        return name, float(number)
    except ValueError:
        allowed = f'exact or NAME=NUMBER with a name of {", ".join(known)}'
        raise ArmError(f'values has {text!r}; it must be {allowed}') from None


def case_at(parameter: str, value: float | str, case: Experiment) -> Experiment:
    """Return the case at one value of a swept parameter."""
    if parameter == 'fault' and value != 'exact':
        return replace(case, faults=_fault(str(value), case))
    if isinstance(value, str):
        return case if value == 'exact' else case_at(*_named(value), case)
    if parameter == 'frequency':
        return replace(case, task='sinusoid', frequency=value)
    if parameter == 'compensation_scale':
        changes: ParameterValues = {
            'effort_convention': 'gravity_compensated', 'compensation_scale': value,
        }  # fmt: skip
        return replace(case, drives=replace(case.drives, **changes))
    if parameter == 'command_delay':
        if value != round(value):
            raise ArmError(f'command_delay is {value:g}; it must be a whole number of periods')
        return replace(case, drives=replace(case.drives, command_delay=round(value)))
    if parameter == 'encoder_resolution':
        step = (value,) if value else ()
        return replace(case, sensors=with_values(case.sensors, encoder_resolution=step))
    if parameter in OF_JOINTS:
        joints = {**OF_JOINTS[parameter], parameter: (value,)}
        return replace(case, joints=replace(case.joints, **joints))
    values = {'payload': value, 'gravity': (0.0, 0.0, -value), 'com_shift': (0.0, 0.0, value)}
    error: ParameterValues = {parameter: values.get(parameter, (value,))}
    return replace(case, error=replace(case.error, **error))


def _fault(kind: str, case: Experiment) -> str:
    """Return the text of a swept fault: 0.1 s long, offsets of 0.01 rad, drifts of 0.1 rad/s."""
    names = Robot.load(case.robot).model.joint_names
    one = {'stuck_joint': 0.0, 'offset_encoder': 0.01, 'drifting_encoder': 0.1}
    of_joint = f'joint: {names[min(1, len(names) - 1)]}, value: {one.get(kind)}, '
    text = f'[{{kind: {kind}, {of_joint if kind in one else ""}time: 0.5, duration: 0.1}}]'
    read_faults(text)
    return text


def run_sweep(
    parameter: str,
    case: Experiment,
    laws: Sequence[str],
    values: Sequence[float | str] = (),
    progress: Callable[[int], None] = lambda done: None,
    run: Callable[[Experiment], Record] = record_of,
    work: Work = SERIAL,
) -> Sweep:
    """Run every law at every value.

    Args:
        parameter: one of SWEEPS. `frequency` varies the sinusoid, the others the arm; the laws
            know the URDF.
        case: robot, task, engine and step; its law is replaced.
        laws: by name.
        values: of the parameter; SWEEPS' own if none are given.
        progress: called with the number of runs that are done.
        run: what runs a case.
        work: where the cases run.

    Raises:
        ArmError: no such parameter, or a value that an arm cannot have.
    """
    one_of('sweep', parameter, tuple(SWEEPS))
    chosen = tuple(values) or SWEEPS[parameter][0]
    jobs = [case_at(parameter, v, replace(case, law=law)) for law in laws for v in chosen]
    answers = [each for each, _ in observe_all(jobs, progress, run, work)]
    measure = task_class(jobs[0].task).evaluation.ranked_by
    found = [each[measure] if each.completed else np.nan for each in answers]
    errors = np.reshape(found, (len(laws), len(chosen)))
    return Sweep(parameter, chosen, tuple(laws), errors, measure)
