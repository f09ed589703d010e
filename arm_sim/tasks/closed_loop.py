"""One law on one plant in lock-step, without ROS: what the nodes do over topics, in a loop."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import Array
from arm_sim.plants.plant import Plant

# Writes the reference at time t [s] into a Reference: `Trajectory.evaluate` is one.
ReferenceFunction = Callable[[float, Reference], None]


@dataclass(frozen=True)
class Imperfections:
    """What a real loop has between arm and law. The default is none of it.

    Attributes:
        delay: control periods from a measurement to its command's effect.
        position_noise: standard deviation of measured positions [rad | m].
        velocity_noise: standard deviation of measured velocities [rad/s | m/s].
        seed: of the noise.
    """

    delay: int = 0
    position_noise: float = 0.0
    velocity_noise: float = 0.0
    seed: int = 0

    def __post_init__(self):
        """Raises ArmError."""
        in_range('delay', self.delay, 0, 1000)
        in_range('position_noise', self.position_noise, 0.0)
        in_range('velocity_noise', self.velocity_noise, 0.0)


@dataclass(frozen=True)
class Push:
    """A wrench on a frame for a while.

    Attributes:
        frame: name of a link.
        wrench: (6,) force [N] and torque [N.m] at the frame's origin, base-aligned axes.
        start, end: [s].
    """

    frame: str
    wrench: tuple[float, ...]
    start: float
    end: float


@dataclass(frozen=True)
class ClosedLoopRecord:
    """A run of k control periods; row i is the state at the start of period i.

    Attributes:
        t: (k,) [s].
        q, v: (k, n) state [rad | m], [rad/s | m/s].
        q_reference, v_reference: (k, n) what it was compared with.
        effort: (k, n) torque applied in the period [N.m | N].
        completed: False where the state left the finite numbers; the rows end before it.
    """

    t: Array
    q: Array
    v: Array
    q_reference: Array
    v_reference: Array
    effort: Array
    completed: bool


def run_closed_loop(
    plant: Plant,
    law: Law,
    reference_function: ReferenceFunction,
    duration: float,
    push: Push | None = None,
    imperfections: Imperfections | None = None,
    swap: tuple[float, Plant] | None = None,
) -> ClosedLoopRecord:
    """Run `law` on `plant` from the reference's start, for `duration` [s].

    Per control period: read the state, evaluate the reference, ask the law, hold its command.
    The plant starts on the reference at t = 0.

    Args:
        plant, law: with the same command interface.
        reference_function: writes the reference of a time.
        duration: [s].
        push: an external wrench.
        imperfections: delay and noise.
        swap: (time [s], another plant) that goes on from the state at that time, as when a
            payload is dropped.

    Raises:
        ArmError: law and plant do not fit together.
    """
    if law.command_interface != plant.command_interface:
        raise ArmError(
            f'the law commands {law.command_interface!r}, '
            f'the plant takes {plant.command_interface!r}'
        )
    n = len(plant.joint_names)
    ideal = imperfections is None or imperfections == Imperfections()
    delay = imperfections.delay if imperfections else 0
    period_ns = plant.parameters.period_ns
    period = period_ns * 1e-9
    steps = round(duration / period)
    states, efforts, references = (np.empty((steps, *s)) for s in ((2, n), (n,), (4 * n,)))
    t = np.array([i * period_ns * 1e-9 for i in range(steps)])
    noise = None if ideal else _noise(imperfections or Imperfections(), steps, n)

    reference = Reference(n)
    reference_function(0.0, reference)
    plant.reset(reference.q, reference.v)
    law.reset(plant.q.copy(), plant.v.copy())
    pending: deque[Array] = deque()
    ahead = law.lookahead * period_ns
    push_from, push_to = (
        (round(push.start / period), round(push.end / period)) if push else (-1, -1)
    )
    swap_at = round(swap[0] / period) if swap else -1
    done = 0
    for i in range(steps):
        if push and i == push_from:
            plant.apply_wrench(push.frame, push.wrench)
        elif push and i == push_to:
            plant.apply_wrench(push.frame, np.zeros(6))
        if swap and i == swap_at:
            before, plant = plant, swap[1]
            plant.reset(before.q, before.v)
        now = i * period_ns
        reference_function(now * 1e-9, reference)
        references[i] = reference.row
        if ahead:
            reference_function((now + ahead) * 1e-9, reference)
        state = states[i]
        state[0], state[1] = plant.q, plant.v
        measured = state if noise is None else state + noise[i]
        command = law(measured[0], measured[1], reference, period)
        if delay:
            pending.append(command.copy())
            command = pending.popleft() if len(pending) > delay else pending[0]
        if not isfinite(command.dot(command)):  # so it is after a state that is not
            break
        plant.step(command)
        efforts[i] = plant.effort
        done = i + 1
    return ClosedLoopRecord(
        t[:done],
        states[:done, 0],
        states[:done, 1],
        references[:done, :n],
        references[:done, n : 2 * n],
        efforts[:done],
        completed=done == steps,
    )


def _noise(imperfections: Imperfections, steps: int, n: int) -> Array:
    """Return noise (steps, 2, n) of positions and velocities."""
    scale = np.array([[imperfections.position_noise], [imperfections.velocity_noise]])
    return scale * np.random.default_rng(imperfections.seed).standard_normal((steps, 2, n))
