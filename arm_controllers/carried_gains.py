"""Whether an arm carries the gains of a law at its control period."""

from collections.abc import Callable

import numpy as np

from arm_controllers.law import Law, LawAdapter
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

# Changes of position [rad | m] and speed [rad/s | m/s] by which gains are measured.
_STEPS = 1e-4, 1.0
# An error that turns by less than this angle per period [rad] is one of gravity, not of gains.
_SLOW = 0.1
_LEAST = 1.001  # growth per period that is named


def why_not_carried(law: Law, period: float) -> str:
    """Return which joint a law's gains shake, and what the arm carries; '': they do not.

    At rest in the model's neutral configuration the law is tau = -K x - D v, held for a period h,
    and the arm M a = tau - B v; B is its viscous friction, and the Coulomb friction of 1 rad/s.
    A law whose command depends on more than q, v and the reference's present value is left out.
    """
    while isinstance(law, LawAdapter):
        law = law.law
    if not law.gains or law.needs or law.command_interface != 'effort':
        return ''
    try:
        stiffness, damping = _gains(law, period)
    except ArmError:
        return ''
    growth, joint = _growth(law, stiffness, damping, period)
    if growth <= 1.0:
        return ''
    if _growth(law, 0.0 * stiffness, damping, period)[0] > 1.0:
        share = _share(lambda x: _growth(law, 0.0 * stiffness, x * damping, period)[0])
        carried = f'it carries {share:.2g} of this damping'
    elif damping[joint, joint] + _friction(law.model)[joint] <= 0.0:
        carried = 'without damping it carries no stiffness'
    else:
        share = _share(lambda x: _growth(law, x * stiffness, damping, period)[0])
        carried = f'with this damping it carries {share:.2g} of this stiffness'
    name, during = law.model.joint_names[joint], f'each control period of {period * 1e3:.3g} ms'
    return (
        f'{" and ".join(law.gains)} shake joint {name!r}: at rest its error grows '
        f'{growth:.4g} times in {during}; {carried}'
    )


def _gains(law: Law, period: float) -> tuple[Array, Array]:
    """Return the stiffness and damping (n, n) of a law, beyond what balances the arm's weight."""
    model, n, q = law.model, law.model.nv, law.model.neutral()
    reference, rest = Reference(n), np.zeros(n)
    reference.q[:] = q

    def effort(change: Array) -> Array:
        at, v = q + change[:n], change[n:]
        state = law.start(Measurement(q.copy(), rest.copy()), reference)
        command, _ = law(state, Measurement(at, v.copy()), reference, period)
        return np.array(command) - model.gravity_torque(at)

    steps = np.repeat(_STEPS, n)
    columns = [(effort(row) - effort(-row)) / (2.0 * row.max()) for row in np.diag(steps)]
    rows = -np.stack(columns, axis=-1)
    return rows[:, :n], rows[:, n:]


def _share(growth: Callable[[float], float]) -> float:
    """Return the largest share with which no error grows."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if growth(middle) > 1.0 else (middle, high)
    return low


def _growth(law: Law, stiffness: Array, damping: Array, h: float) -> tuple[float, int]:
    """Return the factor per period of the error that grows most, and its joint; 1.0: none."""
    model, one = law.model, np.eye(law.model.nv)
    friction = np.diag(_friction(model))
    inertia = model.mass_matrix(model.neutral())
    v = np.linalg.solve(inertia + h * friction, np.hstack([-h * stiffness, inertia - h * damping]))
    x = np.hstack([one, h * one]) + 0.5 * h * (v - np.hstack([0.0 * one, one]))
    poles, errors = np.linalg.eig(np.vstack([x, v]))
    sizes = np.where(np.abs(np.angle(poles)) > _SLOW, np.abs(poles), 0.0)
    most = int(sizes.argmax())
    joint = int(np.abs(errors[model.nv :, most]).argmax())
    return (float(sizes[most]), joint) if sizes[most] > _LEAST else (1.0, 0)


def _friction(model: RobotModel) -> Array:
    """Return viscous friction (n,) and Coulomb friction at 1 rad/s, as [N.m.s/rad | N.s/m]."""
    return np.asarray(model.damping + model.friction)
