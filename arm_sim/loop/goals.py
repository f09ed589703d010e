"""Trajectory goals: from a reference, with a way to their start, and as a controller has them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

# Simulated time at which an arm at rest is set off [ns]: the goal is accepted before time runs.
START_NS = 100_000_000


def sampled(reference_function: ReferenceFunction, times: Array, n: int) -> tuple[Array, ...]:
    """Return positions, velocities, accelerations, each (m, n), of a reference at times (m,)."""
    return tuple(np.split(sampled_rows(reference_function, times, n), 4, axis=1)[:3])


def sampled_rows(reference_function: ReferenceFunction, times: Array, n: int) -> Array:
    """Return the rows (m, 4 n) of a reference at times (m,) [s], see Reference."""
    reference, rows = Reference(n), np.empty((len(times), 4 * n))
    for row, t in zip(rows, times.tolist(), strict=True):
        reference_function(t, reference)
        row[:] = reference.row
    return rows


def goal_of(model: RobotModel, times: Array, states: tuple[Array, ...], rest: float) -> Goal:
    """Return a goal through points that comes to rest at the last one, `rest` [s] later.

    Args:
        times: (m,) [s], rounded to nanoseconds as a message has them.
        states: positions, velocities, accelerations, each (m, n).
    """
    q, v, a = states
    zero = np.zeros((1, model.nv))
    times = np.round(times * 1e9) * 1e-9
    return Goal(
        model.joint_names,
        np.append(times, times[-1] + rest),
        np.vstack([q, q[-1:]]),
        np.vstack([v, zero]),
        np.vstack([a, zero]),
    )


def without_joint(goal: Goal, joint: str) -> Goal:
    """Return a goal without a joint, such as that of a gripper, which has goals of its own."""
    kept = [k for k, name in enumerate(goal.joint_names) if name != joint]
    rows = (goal.positions, goal.velocities, goal.accelerations)
    q, v, a = (None if each is None else each[:, kept] for each in rows)
    assert q is not None
    names = tuple(goal.joint_names[k] for k in kept)
    return replace(goal, joint_names=names, positions=q, velocities=v, accelerations=a)


def led_in(
    goal: Goal, model: RobotModel, q: ArrayLike, approach: float, settle: float, period_ns: int
) -> tuple[Goal, int]:
    """Return a goal with the way to its start before it, and the stamp at which that ends [ns].

    A goal that starts at rest is waited for at its first point; one that starts moving is not.

    Args:
        q: (n,) where the arm is, at rest.
        approach: shortest time of the way [s].
        settle: rest at the first point [s].
        period_ns: of control [ns]; the way ends after a whole number of them.
    """
    assert goal.velocities is not None
    assert goal.accelerations is not None
    distance = np.abs(model.difference(q, goal.positions[0]))
    # A rest-to-rest quintic is fastest in the middle: 15/8 of its mean speed.
    fastest = float(np.max(1.875 * distance / model.velocity_limit))
    arrival = max(approach, 1.5 * fastest)
    starts_moving = goal.velocities[0].any() or goal.accelerations[0].any()
    lead_ns = round((arrival + settle * (not starts_moving)) * 1e9 / period_ns) * period_ns
    lead, from_ns = lead_ns * 1e-9, START_NS + lead_ns
    if starts_moving:
        return replace(goal, times=lead + goal.times, start_ns=START_NS), from_ns
    zero = np.zeros((1, model.nv))
    arrived = replace(
        goal,
        start_ns=START_NS,
        times=np.append(arrival, lead + goal.times),
        positions=np.vstack([goal.positions[:1], goal.positions]),
        velocities=np.vstack([zero, goal.velocities]),
        accelerations=np.vstack([zero, goal.accelerations]),
    )
    return arrived, from_ns


def goal_reference(goal: Goal | None, model: RobotModel, q: Array, v: Array) -> ReferenceFunction:
    """Return the reference of a controller that takes over at q, v (n,) and gets a goal there.

    Without a goal it holds the arm where it is.
    """
    follower = TrajectoryFollower(model, FollowerParameters())
    follower.activate(0, q, v)
    if goal is not None:
        follower.set_goal(goal, 0)

    def reference(t: float, reference: Reference) -> None:
        reference.row[:] = follower.peek(round(t * 1e9)).row

    return reference


def followed(
    follower: TrajectoryFollower, measured: Callable[[], Measurement]
) -> ReferenceFunction:
    """Return the reference of a follower that gets every measurement of an arm after t = 0.

    For example `Loop(plant, law, followed(follower, lambda: plant.measured))`: goals end on
    force, on tolerances and at their end, as those of a controller do.
    """

    def reference(t: float, reference: Reference) -> None:
        time_ns = round(t * 1e9)
        now = time_ns > 0 and reference.future is not None  # not of a law that looks ahead
        state = measured()
        known = follower.update(time_ns, state.q, state.v, state.wrench) if now else None
        reference.row[:] = (known or follower.peek(time_ns)).row
        reference.set_wrench(follower.reference.wrench, follower.reference.selection)

    return reference
