"""Jobs for executors: a worker process imports them from here."""

import os
import time

import numpy as np

from arm_dynamics.checks import ArmError


def square(number):
    """Return an array of a number, with what JSON does not have."""
    return np.array([float(number) ** 2, np.inf, np.nan, 0.1 * number])


def slow_on_one(folder, number):
    """Square; the first worker that takes a job never ends it."""
    try:
        (folder / 'taken').mkdir()
    except FileExistsError:
        return square(number)
    (folder / 'pid').write_text(str(os.getpid()))
    (folder / 'pid').rename(folder / 'victim')
    time.sleep(600.0)
    return square(number)


def fail(number):
    """Refuse every number."""
    raise ArmError(f'job {number} cannot be done')


def end(how):
    """End the worker: by an exit code >= 0, or by the signal -`how`."""
    if how >= 0:
        os._exit(how)
    os.kill(os.getpid(), -how)
    time.sleep(600.0)
