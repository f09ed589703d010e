"""Contacts whose numbers have units: springs [N/m], dampers [N.s/m] and Coulomb friction.

Equation of a point where two bodies penetrate by r > 0:

    f_n = max(0, k r + c dr/dt),   |f_t| <= mu f_n

MuJoCo solves (A + R) f = a_ref - a_0 for the force f, with R = A_0 (1 - d) / d. A is the inverse
inertia at the contact, A_0 is MuJoCo's estimate of A at the zero configuration. With the usual
impedance d of 0.9 to 0.99 the force depends on A: the same numbers are another stiffness for
another body or posture. With d = 1e-4 the force is k r + c dr/dt to one part in 1e4, whatever A:

    stiffness = k (1 - d) A_0,   damping = c A_0      (the two negative numbers of `solref`)

The direction of friction has no spring. A point that should stick creeps with

    |v| = R f_t / (impratio b),   b = 0.3 / h

which for h = 1 ms and the weight of a body on four points is a few 1e-6 m/s.

Source: "Computation, Constraint model" in MuJoCo's documentation.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import ceil, inf, sqrt

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, some_of
from arm_sim.simulation.material import NUMBERS, Material, damping_of, softer
from arm_sim.simulation.mujoco_objects import moving_bodies
from arm_sim.simulation.plant import PlantParameters

IMPEDANCE = 1e-4  # the smallest that MuJoCo has
IMPRATIO = 1e7  # of tangential to normal impedance
_FRICTION_RATE = 0.3  # share of a slip that a time step takes away
_POINTS = 4.0  # contact points of two flat faces that share a load
_MOST_DIVISION = 20  # parts of a time step


def set_springs(mj_model: mujoco.MjModel, parameters: PlantParameters) -> None:
    """Make every contact pair of a model a spring and a damper; the softer body decides.

    Pairs with a name stay as they are: they are those of an MJCF.

    A link, the floor and the table are rigid without a stiffness of their own. The time step of
    the model is divided until each contact is stable.

    Raises:
        ArmError: a stiffness or a damping that needs a much shorter time step; says which.
    """
    p, own = parameters, [k for k in range(mj_model.npair) if not mj_model.pair(k).name]
    if not own:
        return
    others = Material(
        stiffness=p.contact_stiffness or 1e9,
        damping=p.contact_damping,
        friction=p.contact_friction,
    )
    _spread_inertias(mj_model)
    shape = cache(lambda geom: _Shape(mj_model, geom, others))  # many pairs have the same ones
    ends = np.stack([mj_model.pair_geom1, mj_model.pair_geom2], axis=1).tolist()
    step = mj_model.opt.timestep / _MOST_DIVISION
    pairs = [_Pair(tuple(map(shape, ends[pair])), step) for pair in own]
    worst = min(pairs, key=lambda each: each.longest_step)
    base = mj_model.opt.timestep
    division = max(1, ceil(base / worst.longest_step))
    if division > _MOST_DIVISION:
        k, c = worst.material.stiffness, worst.damping(base / _MOST_DIVISION)
        raise ArmError(
            f'contact of {worst.names}: {k:g} N/m with {c:g} N.s/m need an integration step of at '
            f'most {worst.longest_step:.2g} s; timestep is {p.timestep:g} s. Reduce timestep, '
            'stiffness or damping, or correct a mass that is too small'
        )
    h = mj_model.opt.timestep = base / division
    for number, pair in zip(own, pairs, strict=True):
        inverse, k, mu = pair.inverse, pair.material.stiffness, pair.material.friction
        damping = max(pair.damping(h) * inverse, 1e-12)
        mj_model.pair_solref[number] = -k * (1.0 - IMPEDANCE) * inverse, -damping
        mj_model.pair_solreffriction[number] = -1e-12, -_FRICTION_RATE / h * IMPEDANCE
        mj_model.pair_solimp[number] = IMPEDANCE, IMPEDANCE, 1e-3, 0.5, 2.0
        mj_model.pair_friction[number] = mu, mu, 0.0, 0.0, 0.0
        if mu == 0.0:  # MuJoCo's least coefficient lets a point stick
            mj_model.pair_dim[number] = 1


class _Shape:
    """A shape that may touch others.

    Attributes:
        material: of the shape.
        body: its name in messages.
        inverse: MuJoCo's estimate of the inverse mass of its body [1/kg].
        balls: see `_balls`.
        mobility: see `_mobility`; of forces that are not central, and that are.
    """

    def __init__(self, mj_model: mujoco.MjModel, geom: int, others: Material):
        body = int(mj_model.geom_bodyid[geom])
        self.material = material_of(mj_model, geom) or others
        self.body = repr(mj_model.body(body).name)
        self.inverse = mj_model.body_invweight0[body, 0]
        self.balls = _balls(mj_model, geom)
        self.mobility = [_mobility(mj_model, body, central) for central in (False, True)]


class _Pair:
    """Two shapes that may touch.

    Attributes:
        material: of the contact.
        names: of the two bodies, for messages.
        inverse: MuJoCo's estimate of the inverse inertia at the contact [1/kg].
        longest_step: integration step [s] that keeps the contact stable.
    """

    def __init__(self, shapes: Sequence[_Shape], step: float):
        """`step`: the shortest integration step [s]."""
        one, other = shapes
        self.material = softer(one.material, other.material)
        self.names = f'{one.body} and {other.body}'
        self.inverse = float(one.inverse + other.inverse)
        balls = max(one.balls, other.balls)
        mobility = one.mobility[balls > 0] + other.mobility[balls > 0]
        c = self.damping(step)
        points = balls or _POINTS
        self.longest_step = _longest_step(self.material.stiffness, c, points * mobility)

    def damping(self, step: float) -> float:
        """Return the damping [N.s/m]; for a restitution that of an integration step [s]."""
        own = self.material
        if own.restitution < 0.0:
            return own.damping
        return damping_of(own.restitution, own.stiffness, 1.0 / self.inverse, step)


def material_of(mj_model: mujoco.MjModel, geom: int) -> Material | None:
    """Return the material of a shape of the scene; None: a link, the floor or the table."""
    return _material(*mj_model.geom_user[geom].tolist())


def endless_bounces(mj_model: mujoco.MjModel) -> tuple[str, ...]:
    """Return a line that names moving objects whose impacts lose no energy, if there are any."""
    names = []
    for body in moving_bodies(mj_model):
        first, count = mj_model.body_geomadr[body], mj_model.body_geomnum[body]
        found = [material_of(mj_model, geom) for geom in range(first, first + count)]
        if any(x is not None and x.restitution < 0.0 == x.damping for x in found):
            names.append(mj_model.body(body).name)
    return (
        f'objects that bounce without end, as their damping is 0: {some_of(names)}; give them '
        'damping [N.s/m], or restitution (0.2) in place of it',
    ) * bool(names)


@lru_cache
def _material(*numbers: float) -> Material | None:
    return Material(**dict(zip(NUMBERS, numbers, strict=False))) if any(numbers) else None


def _spread_inertias(mj_model: mujoco.MjModel) -> None:
    """Make MuJoCo's estimate of A count turns of jointed objects: a door's middle may not move."""
    for body in moving_bodies(mj_model):
        if mj_model.body_dofnum[body] != 6:
            weight = mj_model.body_invweight0[body]
            weight[0] += weight[1] * _radius(mj_model, body) ** 2


def _mobility(mj_model: mujoco.MjModel, body: int, central: bool) -> float:
    """Return the inverse inertia of a body at the farthest point of its shapes [1/kg].

    `central`: forces go through the middle of the shape.
    """
    translation, rotation = mj_model.body_invweight0[body]
    if central or mj_model.body_dofnum[body] != 6:  # of a joint, `translation` has rotations
        return translation
    return translation + rotation * _radius(mj_model, body) ** 2


def _radius(mj_model: mujoco.MjModel, body: int) -> float:
    """Return the largest radius of the shapes of a body [m]."""
    first, count = mj_model.body_geomadr[body], mj_model.body_geomnum[body]
    return mj_model.geom_rbound[first : first + count].max(initial=0.0)


def _balls(mj_model: mujoco.MjModel, geom: int) -> int:
    """Return how many balls a moving body has, which touch together; 0: `geom` is no ball."""
    balls = mj_model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    body = mj_model.geom_bodyid[geom]
    if not balls[geom] or not mj_model.body_weldid[body]:
        return int(balls[geom])
    return int(balls[mj_model.geom_bodyid == body].sum())


def _longest_step(stiffness: float, damping: float, inverse: float) -> float:
    """Return the longest stable time step [s]: half of what semi-implicit Euler's method allows.

    The limit of a = -w^2 x - g v is h^2 w^2 + 2 h g = 4.
    """
    w2, g = stiffness * inverse, damping * inverse
    total = sqrt(g * g + 2.0 * w2) + g  # a difference would be rounded to 0 for a small w
    return 2.0 / total if total else inf
