"""What field cases share: a turntable with a continuous joint, and arms of a few links."""

import numpy as np
from following import DT, SECOND, goal, make, run

from arm_dynamics.model import RobotModel

FULL = 2.0 * np.pi


def link(name, mass=1.0, inertia=0.1, origin=''):
    """Return a link's XML; without mass it has no <inertial>."""
    if not mass:
        return f'<link name="{name}"/>'
    tensor = f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia {tensor}/>'
        '</inertial></link>'
    )


def joint(name, parent, child, limit='', kind='revolute', more='', xyz='0 0 0', axis='0 0 1'):
    """Return a joint's XML."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}{more}</joint>'
    )


def limits(lower=-1.0, upper=1.0, effort=50, velocity=20):
    return f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"/>'


def model_of(*parts):
    return RobotModel(f'<robot name="field">{"".join(parts)}</robot>')


TURNTABLE = model_of(
    link('base', 0.0), link('table'),
    joint('turn', 'base', 'table', '<limit effort="50" velocity="20"/>', 'continuous'),
)  # fmt: skip
LIFT = model_of(
    link('base', 0.0), link('table'), joint('turn', 'base', 'table', limits(-1.0, 1.0, velocity=2))
)
SLIDE = model_of(
    link('base', 0.0), link('table'),
    joint('turn', 'base', 'table', limits(0.0, 0.5), 'prismatic', axis='1 0 0'),
)  # fmt: skip


def table(q=0.0, model=TURNTABLE, v=0.0, at=0, **parameters):
    """Return a follower of an arm of one joint."""
    return make(model, np.array([q]), np.array([v]), at, **parameters)


def goal_of(times, positions, velocities=None, accelerations=None, **others):
    """Return a goal of the joint `turn` from lists of numbers."""
    columns = [
        None if x is None else np.array(x, dtype=float)[:, np.newaxis]
        for x in (positions, velocities, accelerations)
    ]
    return goal(times, *columns, names=['turn'], **others)


def motion(arm, seconds, start_ns=0):
    """Return positions, velocities and accelerations (k,) of the reference over a time."""
    return tuple(x[:, 0] for x in run(arm, start_ns, start_ns + round(seconds * SECOND) + DT))
