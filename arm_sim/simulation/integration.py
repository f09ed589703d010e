"""How a plant moves between two control instants: in one step, or as a continuous arm does.

With `integrator` continuous the arm moves as a continuous arm under a held command: halving the
step changes no printed digit of a tracking error. A smooth arm takes steps of Runge and Kutta's
fourth order (rk4), short enough for the stiffness and damping of its drives. An arm with
contacts, an MJCF's springs or joints that follow others takes steps of `implicitfast` of at most
0.25 ms.

Each other integrator takes one step per `timestep`.
"""

from collections.abc import Callable, Sequence
from itertools import cycle
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from arm_dynamics.actuators import LinearGains, MeanEffort, linear_gains
from arm_dynamics.checks import Array, say_once
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors
from arm_dynamics.parameters import with_arrays

CONTINUOUS = 'continuous'
_ROUGH, _SMOOTH = 0.000_25, 0.002  # longest steps: of implicitfast, and of rk4 [s]
_OF_DECAY = 1.5  # longest step of rk4 times the rate of the fastest decay (stable below 2.78)
_SAMPLES = 10  # configurations in which the decay is looked at
_MANY = 100  # steps per period, from where a line says that they are; 1 to 20 are usual
_SLOW = 'steps per period, as inertia is tiny for its servo: slow; add rotors, <dynamics armature>'
# Over this time the acceleration at an instant is a difference of velocities [s].
INSTANT = 1e-8


class Integration(NamedTuple):
    """The integrator of an engine, and how many steps it takes per `timestep`."""

    integrator: str
    steps: int = 1


def integration_of(models: Sequence[RobotModel], each: Sequence[Any]) -> Integration:
    """Return the integration of one arm, or of many that take their steps together.

    Args:
        models: N arms.
        each: PlantParameters of all, or of each.
    """
    first, model = each[0], models[0]
    if first.integrator != CONTINUOUS:
        return Integration(first.integrator)
    if first.has_drive_trains:  # these have substeps of their own
        return Integration('implicitfast')
    if first.touching or model.mjcf or model.mimic is not None:
        return Integration('implicitfast', ceil(first.timestep / _ROUGH - 1e-9))
    pairs = {(id(m), id(p)): (m, p) for m, p in zip(models, cycle(each), strict=False)}
    rate = max(_decay(*pair) for pair in pairs.values())
    steps = max(1, ceil(first.timestep * max(1.0 / _SMOOTH, rate / _OF_DECAY) - 1e-9))
    if steps > _MANY:
        say_once(f'{model.name}: {steps} {_SLOW}')
    return Integration('rk4', steps)


def has_mean_efforts(parameters: Any) -> bool:
    """Return whether efforts of servos and velocity drives are means of the control period."""
    return parameters.integrator == CONTINUOUS and not parameters.has_drive_trains


def mean_effort(models: Sequence[RobotModel], each: Sequence[Any]) -> MeanEffort | None:
    """Return the mean effort of drives with feedback in continuous arms, else None.

    None also with drive trains, which have efforts of their own, and for DC motors. Arguments are
    those of `integration_of`.
    """
    p, names = each[0], models[0].joint_names
    feedback = {'servo', 'velocity'} & {*p.actuators(names)}
    if not (feedback and has_mean_efforts(p)):
        return None
    gains = {id(p): linear_gains(p.actuators(names), *p.servo_gains(models[0])) for p in each}
    pairs = zip(models, cycle(each), strict=False)
    rows = [(*gains[id(p)], p.effort_limit(model)) for model, p in pairs]
    *found, limit = rows[0] if len(rows) == 1 else map(np.array, zip(*rows, strict=True))
    return MeanEffort(LinearGains(*found), limit, p.period_ns * 1e-9)


def _decay(model: RobotModel, parameters: Any) -> float:
    """Return the rate of the fastest decay of an arm with its drives [1/s]."""
    model.check_inertia()
    names = model.joint_names
    kinds = parameters.actuators(names)
    gains = linear_gains(kinds, *parameters.servo_gains(model))
    stiffness, damping = gains.position, gains.velocity
    if isinstance(parameters, DCMotors):  # of engine analytical, which has springs at limits
        if 'voltage' in kinds:
            kt, ke, conductance, *_ = parameters.constants(names)
            damping = kt * ke * conductance
        if np.isfinite([model.position_lower, model.position_upper]).any():
            p: Any = with_arrays(parameters, names)
            stiffness, damping = stiffness + p.limit_stiffness, damping + p.limit_damping
    damping = damping + model.damping
    if not (stiffness.any() or damping.any()):
        return 0.0
    rng, fastest = np.random.default_rng(0), 0.0
    random = (model.random_configuration(rng) for _ in range(_SAMPLES))
    for q in (model.neutral(), *random):  # stretched, where coaxial joints move little
        root = np.linalg.inv(np.linalg.cholesky(model.mass_matrix(q)))
        by_damper = np.linalg.eigvalsh(root * damping @ root.T)[-1]
        by_spring = np.linalg.eigvalsh(root * stiffness @ root.T)[-1]
        fastest = max(fastest, float(by_damper), float(np.sqrt(max(by_spring, 0.0))))
    return fastest


def rk4_step(acceleration: Callable[[Array, Array], Array], q: Array, v: Array, h: float) -> None:
    """Advance q and v (..., n) in place by a step h [s] of Runge and Kutta's fourth order.

    `acceleration` returns dv/dt for q and v as a new array; it may be called with q and v.
    """
    q0, v0 = q.copy(), v.copy()
    a = acceleration(q, v)
    dq, dv = v0.copy(), a.copy()
    for ahead, weight in ((0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        q[:], v[:] = q0 + ahead * h * v, v0 + ahead * h * a
        a = acceleration(q, v)
        dq += weight * v
        dv += weight * a
    q[:], v[:] = q0 + h / 6.0 * dq, v0 + h / 6.0 * dv
