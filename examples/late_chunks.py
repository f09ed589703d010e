"""A policy that sends chunks of positions late: what its inference latency costs.

At an observation the policy knows where the task wants the arm in the next actions, without error.
Its chunk of these positions arrives after the latency, in simulated time, and the follower goes
through it by `positions_upsampling`. While a policy computes, the arm follows the chunk before,
which ends at rest.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal, GoalError
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.latency import Latency
from arm_controllers.reference import Reference
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.experiments.experiment import LoadedExperiment
from arm_sim.loop.goals import followed, sampled
from arm_sim.loop.record import Record


@dataclass(frozen=True)
class ChunkParameters(Parameters):
    """The chunks of a policy."""

    rate: float = parameter(25.0, 'actions per second [Hz]', above=0, max=1000)
    chunk: int = parameter(20, 'number of actions in a chunk', min=1, max=1000)
    execute: int = parameter(
        10, 'number of actions from an observation to the next one', min=1, max=1000
    )


class SlowRun(NamedTuple):
    """What became of a run.

    Attributes:
        record: its reference is that of the task.
        largest_step: of the followed velocity from one control period to the next [rad/s | m/s].
        chunks: number of chunks that were followed.
        refused: number of chunks that came too late, or broke limits.
    """

    record: Record
    largest_step: float
    chunks: int
    refused: int


def run_slowly(
    loaded: LoadedExperiment, chunks: ChunkParameters, latency: Latency, stamped: bool
) -> SlowRun:
    """Run a law on the task of an experiment as a slow policy sends the motion.

    Args:
        loaded: the experiment; its seed draws the latencies.
        chunks: of the policy.
        latency: of its inferences; the first chunk is there at the start.
        stamped: whether a chunk has the stamp of its observation, so that actions whose time has
            passed are left out; otherwise its first action begins when the chunk arrives.
    """
    plant, later = loaded.plants()
    policy = _Policy(loaded, chunks, latency, stamped)
    inner = followed(policy.follower, lambda: plant.measured)
    velocities: list[np.ndarray] = []

    def reference(t: float, reference: Reference) -> None:
        if t > 0.0 and reference.future is not None:  # not of a law that looks ahead
            policy.advance(round(t * 1e9))
            inner(t, reference)
            velocities.append(reference.v.copy())
        else:
            inner(t, reference)

    record = loaded.task.run(loaded.law(), plant, later, reference)
    wanted = sampled(loaded.task.reference, record.t, record.q.shape[1])
    record = replace(record, q_reference=wanted[0], v_reference=wanted[1])
    step = np.abs(np.diff(velocities, axis=0)).max(initial=0.0)
    return SlowRun(record, float(step), policy.followed, policy.refused)


class _Policy:
    """Observes, computes, sends: one inference after the other."""

    def __init__(
        self, loaded: LoadedExperiment, chunks: ChunkParameters, latency: Latency, stamped: bool
    ):
        self._task, self._chunks, self._stamped = loaded.task, chunks, stamped
        self._latency, self._count, self._seed = latency, 0, loaded.experiment.seed
        rules = FollowerParameters(upsampling=True, policy_frequency=chunks.rate)
        self.follower = TrajectoryFollower(loaded.robot.model, rules)
        start = Reference(loaded.robot.model.nv)
        self._task.reference(0.0, start)
        self.follower.activate(0, start.q, start.v)
        self.followed = self.refused = 0
        self._pending: tuple[int, Goal] | None = None  # stamp of the arrival
        self._next_ns = round(chunks.execute / chunks.rate * 1e9)
        self._send(self._chunk(0), 0)

    def advance(self, now_ns: int) -> None:
        """Send the chunk that has arrived, and begin the next inference."""
        self._receive(now_ns)
        if self._pending is None and now_ns >= self._next_ns:
            delay = self._latency(self._seed, self._count)
            self._count += 1
            self._pending = now_ns + round(delay * 1e9), self._chunk(now_ns)
            self._next_ns = now_ns + round(self._chunks.execute / self._chunks.rate * 1e9)
            self._receive(now_ns)

    def _receive(self, now_ns: int) -> None:
        if self._pending is not None and now_ns >= self._pending[0]:
            goal, self._pending = self._pending[1], None
            self._send(goal, now_ns)

    def _chunk(self, now_ns: int) -> Goal:
        p, model = self._chunks, self.follower.model
        times = 1e-9 * now_ns + np.arange(1, p.chunk + 1) / p.rate
        positions, *_ = sampled(self._task.reference, times, model.nv)
        start_ns = now_ns if self._stamped else 0
        return Goal(model.joint_names, np.zeros(p.chunk), positions, start_ns=start_ns)

    def _send(self, goal: Goal, now_ns: int) -> None:
        try:
            self.follower.set_goal(goal, now_ns)
            self.followed += 1
        except GoalError:
            self.refused += 1
