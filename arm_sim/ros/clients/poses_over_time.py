"""The poses of an object during a run, from the topic of objects."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_controllers.ros.object_messages import shapes_of
from arm_dynamics.checks import ArmError, Array


def poses_over_time(
    objects: Sequence[tuple[int, bytes]], stamps: NDArray[np.int64], name: str
) -> Array:
    """Return the poses (k, 1, 7) of an object at stamps (k,) [ns]: the newest ones then.

    Args:
        objects: stamps [ns] and serialised messages of the topic of objects.
        stamps: rising.
        name: of the object.

    Raises:
        ArmError: no message has the object.
    """
    known = [
        (ns, shape.pose) for ns, raw in objects for shape in shapes_of(raw) if shape.name == name
    ]
    if not known:
        raise ArmError(f'no message on the topic of objects has {name!r}')
    times, poses = np.array([ns for ns, _ in known]), np.array([pose for _, pose in known])
    newest = np.searchsorted(times, stamps, side='right') - 1
    return poses[newest.clip(0)][:, np.newaxis]
