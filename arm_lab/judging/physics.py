"""A record whose motion its efforts cannot have made is no record of an arm."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model_error import with_error
from arm_lab.experiments.experiment import LoadedExperiment
from arm_sim.loop.measures import rms
from arm_sim.loop.record import Record
from arm_sim.simulation.integration import has_mean_efforts

# Share of what moves a joint, beyond its weight, by which its recorded efforts may differ, and
# share of all torques: sampling costs up to a few per cent, efforts of another motion, or none,
# differ by one and more.
_MOST, _LEAST = 0.2, 2e-3
_NEAR = 1e-3  # of a stop, which pushes as well [rad | m]


def check_physics(loaded: LoadedExperiment, record: Record) -> None:
    """Compare a record's positions with its velocities, and its efforts with what these need.

    The needed efforts are those of the true arm's model. Runs in which something else acts are
    not compared: contacts, pushes, loads that fall off, and gears between the motors and the
    links; nor is a joint at its stops.

    Raises:
        ArmError: the velocities did not make this motion, or the efforts did not.
    """
    plant, task = loaded.plant_parameters(), loaded.task
    acts = plant.touching or plant.has_drive_trains or task.push is not None
    if acts or task.payload or task.gripper or len(record.t) < 3:
        return
    arm, h = with_error(loaded.arm, loaded.experiment.error), np.diff(record.t)[:, np.newaxis]
    q, v = 0.5 * (record.q[1:] + record.q[:-1]), 0.5 * (record.v[1:] + record.v[:-1])
    gained, moved = np.diff(record.v, axis=0), np.diff(record.q, axis=0)
    missed, way = _beyond(moved - h * v, h * np.abs(gained)), _size(h * v)
    if (missed > _MOST * way + _LEAST * way.max() + 1e-9).any():
        raise ArmError(
            'the velocities did not make this motion: it moves by '
            f'{rms(moved, None):.3g} rad or m RMS in a period, and they by {rms(h * v, None):.3g}'
        )
    kp, kd = plant.servo_gains(arm)
    a = gained / h
    needed = arm.torques_along(q, v, a)
    weight = np.array([arm.gravity_torque(each) for each in q])
    # The friction of a joint that stands still, and in a plant of one step per period, whose
    # efforts are those of an instant, what a servo changes in a period.
    unseen = np.broadcast_to(arm.friction, v.shape)
    if not has_mean_efforts(plant):
        unseen = unseen + h * np.abs(kp * v) + np.abs(kd * gained)
    at_stop = (q < arm.stops[0] + _NEAR) | (q > arm.stops[1] - _NEAR)
    off = np.where(at_stop, 0.0, record.effort[:-1] - needed)
    most = _MOST * _size(np.where(at_stop, 0.0, needed - weight)) + _LEAST * _size(needed).max()
    if (_beyond(off, unseen) > most).any():
        raise ArmError(
            f'the efforts did not make this motion: it needs {rms(needed, None):.3g} N.m RMS, and '
            f'the efforts differ from that by {rms(off, None):.3g} N.m RMS'
        )


def _size(rows: Array) -> Array:
    return np.linalg.norm(rows, axis=0)


def _beyond(rows: Array, known: Array) -> Array:
    """Return the size (n,) of what is larger than what is known of."""
    return _size(np.maximum(np.abs(rows) - known, 0.0))
