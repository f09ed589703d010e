"""Errors and measures of a run, of one arm or of many; every measure is declared once.

The path error is the distance of the reference from the ideal geometry; the tracking error is the
distance of the arm from the reference. The two are never mixed.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.plugins import PluginRegistry
from arm_sim.loop.record import Record

RECOVERED = 1.0  # [mm] the tip is back when it stays within this of its reference
NO_CONTACT = 0.1  # a force up to this is no contact [N]


class Samples(NamedTuple):
    """What measures are computed from; axis 0 are the k samples of a run, or N arms at a time.

    Attributes:
        t: (k,) or () time [s].
        period: of control [s].
        event: time from which recovery is counted [s]; None: nothing to recover from.
        q, v, q_reference, effort: (k, n) [rad | m], [rad/s | m/s], [rad | m], [N.m | N].
        error_mm: (k,) distance of the tip from its reference [mm].
        turn_rad: (k,) angle of the tool frame from its reference [rad].
        joint_rms: (k,) RMS of the joint errors [rad | m].
        torque: (k,) largest torque [N.m | N].
        torque_share: (k,) largest share of an effort limit [1].
        power: (k,) sum of |torque times velocity| [W].
        torque_step: (k,) RMS change of the torques since the period before [N.m | N]; nan: none.
        penetration: (k,) deepest contact of a link [mm]; nan: no contacts are simulated.
        contact_force: (k,) sum of the forces of all contact points of links [N].
        slip: (k,) largest slip of a contact point of a link [mm/s].
        force: (k,) force on the tool, as its task counts it [N]; nan: the task counts none.
        force_error: (k,) difference from the goal of the force [N]; nan: it does not count now.
    """

    t: Any
    period: float
    event: float | None
    q: Array
    v: Array
    q_reference: Array
    effort: Array
    error_mm: Array
    turn_rad: Array
    joint_rms: Array
    torque: Array
    torque_share: Array
    power: Array
    torque_step: Array
    penetration: Array
    contact_force: Array
    slip: Array
    force: Array
    force_error: Array


class Measure(NamedTuple):
    """One number of a run, in loops, batches, tables and files.

    Attributes:
        name: with its unit at the end.
        heading: of its column in tables, with the unit; empty: in files only.
        format: of its cells.
        sample: returns the samples (k,) of a run; nan: none at that time.
        over: how samples become one number: 'rms', 'max', 'mean', 'integral' over time, or
            'settled': the time from the event until the samples stay zero; nan: never.
        needs: what it is nan without: 'force', of a task that counts one, or 'contacts', which
            the plant simulates; empty: nothing.
    """

    name: str
    heading: str
    format: str
    sample: Callable[[Samples], Array]
    over: str
    needs: str = ''


def _outside(s: Samples) -> Array:
    """Return 1 where the tip is not back at its reference after the event."""
    event = np.inf if s.event is None else s.event
    outside: Array = (s.error_mm > RECOVERED) & (s.t >= event - 1e-9 * s.period)
    return outside.astype(float)


def _without_contact(s: Samples) -> Array:
    """Return 1 where the tool touches nothing although a force counts."""
    return np.where(np.isnan(s.force_error), np.nan, s.force <= NO_CONTACT)


BUILT_IN = (
    Measure('tracking_rms_mm', 'RMS [mm]', '.4g', lambda s: s.error_mm, 'rms'),
    Measure('tracking_max_mm', 'max [mm]', '.4g', lambda s: s.error_mm, 'max'),
    Measure('orientation_rms_rad', '', '.4g', lambda s: s.turn_rad, 'rms'),
    Measure('orientation_max_rad', '', '.4g', lambda s: s.turn_rad, 'max'),
    Measure('joint_rms_rad', '', '.4g', lambda s: s.joint_rms, 'rms'),
    Measure('peak_torque_nm', 'peak [N.m]', '.4g', lambda s: s.torque, 'max'),
    Measure('peak_torque_share', 'of limit', '.0%', lambda s: s.torque_share, 'max'),
    Measure('energy_j', 'energy [J]', '.4g', lambda s: s.power, 'integral'),
    Measure('chatter_nm', 'chatter [N.m]', '.3g', lambda s: s.torque_step, 'rms'),
    Measure('recovery_s', 'recovery [s]', '.3g', _outside, 'settled'),
    Measure('force_rms_n', 'force RMS [N]', '.3g', lambda s: s.force_error, 'rms', 'force'),
    Measure(
        'force_max_n', 'force max [N]', '.3g', lambda s: np.abs(s.force_error), 'max', 'force'
    ),
    Measure('force_peak_n', 'peak [N]', '.4g', lambda s: s.force, 'max', 'force'),
    Measure('contact_lost_s', 'no contact [s]', '.3g', _without_contact, 'integral', 'force'),
    Measure('penetration_max_mm', '', '.3g', lambda s: s.penetration, 'max', 'contacts'),
    Measure('contact_force_max_n', '', '.4g', lambda s: s.contact_force, 'max', 'contacts'),
    Measure('contact_impulse_ns', '', '.4g', lambda s: s.contact_force, 'integral', 'contacts'),
    Measure('contact_slip_mm', '', '.3g', lambda s: s.slip, 'integral', 'contacts'),
)
KINDS = ('rms', 'max', 'mean', 'integral', 'settled')
# A report has these in more detail.
_DETAILED = (
    'tracking_rms_mm', 'tracking_max_mm', 'orientation_rms_rad', 'orientation_max_rad',
    'joint_rms_rad', 'completed',
)  # fmt: skip


@cache
def all_measures() -> tuple[Measure, ...]:
    """Return the built-in measures, and those of plugins in the group `arm_sim.measures`."""
    measures = {each.name: each for each in BUILT_IN}

    def add(measure: object) -> None:
        from arm_sim.loop.plugin_measure import check_measure

        if not isinstance(measure, Measure) or measure.over not in KINDS:
            raise ArmError(f'it is no Measure with one of {KINDS}')
        check_measure(measure, measures)
        measures[measure.name] = measure

    PluginRegistry('measure', '', 'arm_sim.measures').load_all(add)
    return tuple(measures.values())


def measure_names() -> tuple[str, ...]:
    """Return the names of all measures."""
    return tuple(each.name for each in all_measures())


def names_that_need(*needs: str) -> set[str]:
    """Return the names of the measures that need one of these, see `Measure.needs`."""
    return {each.name for each in all_measures() if each.needs in needs}


def heading_of(name: str) -> str:
    """Return the heading of a measure, with its unit."""
    return next(each.heading for each in all_measures() if each.name == name)


class Measures(dict[str, Any]):
    """The measures of a run by name, and `completed`: False where the loop was unstable.

    Every measure is an attribute as well: `measures.tracking_rms_mm`.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Poses(NamedTuple):
    """Poses of a frame in the base frame."""

    position: Array  # (k, 3) [m]
    rotation: Array  # (k, 3, 3)


class Tracking(NamedTuple):
    """A run of k control periods, compared with its reference row by row.

    Attributes:
        tip, reference_tip: (k, 3) [m], base frame.
        error: (k,) distance of the two [m].
        orientation_error: (k,) angle |log(R^T R_r)| from the tool frame R to its reference [rad].
        joint_error: (k, n) reference minus state [rad | m].
        effort_share: (k, n) torque as a share of its limit.
    """

    tip: Array
    reference_tip: Array
    error: Array
    orientation_error: Array
    joint_error: Array
    effort_share: Array


def rotation_angle(rotation: Array) -> Array:
    """Return |log R| (...) [rad] in [0, pi] of a rotation matrix (..., 3, 3).

    2 sin = |(R - R^T)^v|, 2 cos = tr R - 1; the two together are exact for small angles and large.
    """
    skew = rotation - rotation.swapaxes(-1, -2)
    sine = np.linalg.norm(skew[..., (2, 0, 1), (1, 2, 0)], axis=-1)
    return np.arctan2(sine, np.trace(rotation, axis1=-2, axis2=-1) - 1.0)


def track(model: RobotModel, record: Record, error: ModelError | None = None) -> Tracking:
    """Compare a record with its reference, whose tip is that of the model.

    Where `error` changes the arm's geometry, the arm's tip is the true one.
    """
    arm = with_error(model, error) if error and error.of_geometry else model
    tip, reference = tips(arm, record.q), tips(model, record.q_reference)
    return Tracking(
        tip.position,
        reference.position,
        error=np.linalg.norm(tip.position - reference.position, axis=1),
        orientation_error=rotation_angle(tip.rotation.swapaxes(-1, -2) @ reference.rotation),
        joint_error=model.difference(record.q, record.q_reference),
        effort_share=np.abs(record.effort) / model.effort_limit,
    )


def samples_of(
    record: Record, tracking: Tracking, event: float | None = None, forces: Array | None = None
) -> Samples:
    """Return the samples of a record; see Samples. `forces` (2, k): force and its error."""
    steps = np.full(len(record.t), np.nan)
    steps[1:] = rms(np.diff(record.effort, axis=0), axis=-1)
    contacts = record.contacts if len(record.contacts) else np.full((len(record.t), 3), np.nan)
    return Samples(
        record.t, float(record.t[1]), event, record.q, record.v, record.q_reference,
        record.effort, 1e3 * tracking.error, tracking.orientation_error,
        rms(tracking.joint_error, axis=-1), np.abs(record.effort).max(-1),
        tracking.effort_share.max(-1), np.abs(record.effort * record.v).sum(-1), steps,
        *contacts.T, *(np.full((2, len(record.t)), np.nan) if forces is None else forces),
    )  # fmt: skip


def measure(
    record: Record, tracking: Tracking, event: float | None = None, forces: Array | None = None
) -> Measures:
    """Measure a run; `event` [s]: recovery counts from there; `forces`: see samples_of."""
    names = measure_names()
    if len(record.t) < 2:
        return Measures(dict.fromkeys(names, float('nan')), completed=False)
    samples = samples_of(record, tracking, event, forces)
    numbers = {each.name: _total(each, samples) for each in all_measures()}
    return Measures(numbers, completed=record.completed)


def values_of(measure: Measure, samples: Samples) -> Array:
    """Return the samples (k,) of a measure.

    Raises:
        ArmError: the function of a plugin fails, or returns anything else.
    """
    if measure in BUILT_IN:
        return np.asarray(measure.sample(samples), dtype=float)
    from arm_sim.loop.plugin_measure import values_of_plugin

    return values_of_plugin(measure, samples)


def _total(measure: Measure, samples: Samples) -> float:
    """Return one measure of a run; nan where it has no sample."""
    x = values_of(measure, samples)
    if measure.over == 'settled':
        if samples.event is None or x[-1]:
            return float('nan')
        last = np.flatnonzero(x)
        return float(samples.t[last[-1] + 1] - samples.event) if last.size else 0.0
    x = x[~np.isnan(x)]
    if not x.size:
        return float('nan')
    if measure.over == 'integral':
        return float(x.sum() * samples.period)
    totals: dict[str, Callable[[Array], Any]] = {'rms': rms, 'max': np.max, 'mean': np.mean}
    return float(totals[measure.over](x))


def summarize(
    names: Sequence[str], record: Record, tracking: Tracking, event: float | None
) -> dict[str, Any]:
    """Return the numbers that every report of joints has: errors, where largest, torques."""
    measures = measure(record, tracking, event)
    lacking = ('force',) if len(record.contacts) else ('force', 'contacts')
    left_out = {*_DETAILED, *names_that_need(*lacking)}
    magnitude = np.abs(record.effort)
    sample, joint = np.unravel_index(magnitude.argmax(), magnitude.shape)
    size = np.abs(tracking.joint_error)
    return {
        'steps': len(record.t),
        'tracking_error_mm': error_facts(record.t, tracking.error, 1e3),
        'orientation_error_rad': error_facts(record.t, tracking.orientation_error),
        'joint_names': list(names),
        'joint_error_rad': {
            'rms': rms(tracking.joint_error).tolist(),
            'max': size.max(axis=0).tolist(),
            'max_at_s': record.t[size.argmax(axis=0)].tolist(),
        },
        'peak_torque_joint': names[int(joint)],
        'peak_torque_at_s': float(record.t[sample]),
        'joint_peak_torque_nm': magnitude.max(axis=0).tolist(),
        'event_s': event,
        **{name: value for name, value in measures.items() if name not in left_out},
        'saturated_samples': int((tracking.effort_share >= 1.0).any(axis=1).sum()),
        'checksum': record.checksum(),
    }


def error_facts(t: Array, error: Array, scale: float = 1.0) -> dict[str, float]:
    """Return RMS and maximum of an error (k,), times `scale`, and when it is largest [s]."""
    worst = int(error.argmax())
    return {
        'rms': float(rms(error)) * scale,
        'max': float(error[worst]) * scale,
        'max_at_s': float(t[worst]),
    }


def tips(model: RobotModel, q: Array) -> Poses:
    """Return the poses of the tool frame for configurations (k, n)."""
    poses = Poses(np.empty((len(q), 3)), np.empty((len(q), 3, 3)))
    for position, rotation, each in zip(*poses, q, strict=True):
        pose = model.forward_kinematics(each)
        position[:], rotation[:] = pose.translation, pose.rotation
    return poses


def rms(values: ArrayLike, axis: int | None = 0) -> Array:
    """Return the root of the mean square over the samples (axis 0), or over all (None)."""
    return np.sqrt(np.mean(np.square(values), axis=axis))
