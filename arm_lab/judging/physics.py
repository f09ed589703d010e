"""A record whose motion its efforts cannot have made is no record of an arm."""

import numpy as np

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import with_error
from arm_lab.experiments.experiment import LoadedExperiment
from arm_sim.loop.record import Record

# Share of the torques that a motion needs by which recorded efforts may differ: sampling costs a
# few per cent, and efforts of another motion, or none, differ by one and more.
_MOST = 0.5


def check_physics(loaded: LoadedExperiment, record: Record) -> None:
    """Compare the efforts of a record with those that its motion needs, by the true arm's model.

    Runs in which something else acts are not compared: contacts, pushes, loads that fall off, and
    gears between the motors and the links.

    Raises:
        ArmError: the efforts did not make this motion.
    """
    plant, task = loaded.plant_parameters(), loaded.task
    acts = plant.touching or plant.has_drive_trains or task.push is not None
    if acts or task.payload or task.gripper or len(record.t) < 3:
        return
    arm, h = with_error(loaded.arm, loaded.experiment.error), np.diff(record.t)[:, np.newaxis]
    q, v = 0.5 * (record.q[1:] + record.q[:-1]), 0.5 * (record.v[1:] + record.v[:-1])
    a = np.diff(record.v, axis=0) / h
    needed = np.array([arm.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)])
    off, all_of_it = np.linalg.norm(record.effort[:-1] - needed), np.linalg.norm(needed)
    if off > _MOST * all_of_it:
        size = np.sqrt(needed.size)
        raise ArmError(
            f'the efforts did not make this motion: it needs {all_of_it / size:.3g} N.m RMS, and '
            f'the efforts differ from that by {off / size:.3g} N.m RMS'
        )
