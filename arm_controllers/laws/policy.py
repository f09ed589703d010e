"""A policy from an ONNX file: a trained function of errors and motion, on top of another law."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from arm_controllers.latency import FORMS, latency_of
from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
    law_class,
)
from arm_controllers.parameter_values import read_fields
from arm_controllers.policy_file import PolicyFile
from arm_controllers.position_chunks import PositionChunks
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import NumberOrText, Parameters, parameter


@dataclass(frozen=True)
class PolicyParameters(Parameters):
    """The file of the policy, and how slow it is."""

    policy: str = parameter('', 'path of the ONNX file of the policy, whose metadata name its law')
    latency: NumberOrText = parameter('0', f'time from an observation to its actions [s]: {FORMS}')
    latency_seed: int = parameter(0, 'random seed of drawn latencies', min=0)
    execute: int = parameter(
        0, 'control periods from one observation to the next; 0: as many as a chunk lasts', min=0,
    )  # fmt: skip


class Plan(NamedTuple):
    """What a slow policy has answered; arrays of many arms have leading axes.

    Attributes:
        followed: (..., chunk, n) actions in use; zero until the first ones arrive. Positions: the
            knots of PositionChunks, which come to rest until then.
        coming: (..., chunk, n) actions of the last observation.
        periods: (..., 5) control periods since the observations of both, and until the latter
            arrives; number of observations; control periods from the observation of the actions
            in use to their arrival. The same for all arms.
    """

    followed: Array
    coming: Array
    periods: Array


class Policy(Law):
    """tau = tau_law + scale * policy(observation), see PolicyLayout; the file names the law.

    A residual policy as of Johannink et al., Residual Reinforcement Learning for Robot Control
    (2019), equation 2: the policy adds to a law, which is designed.

    Actions arrive after the latency, in control periods. Those of a chunk whose time has passed
    are left out; the last one is held until the next chunk arrives. The policy observes again
    after `execute` periods, and not before its last actions have arrived.

    A policy of positions adds nothing: the law follows a spline through them, see PositionChunks.
    The numbers that a recurrent policy hands from one inference to the next are in the law's
    state; they begin at zero.
    """

    Parameters = PolicyParameters
    evaluation = LawEvaluation(variant='policy', of_file=True)

    def __init__(self, model: RobotModel, parameters: PolicyParameters):
        """Load the policy and build its law; see PolicyFile.

        Raises:
            ArmError: a policy of another robot, or on a law that does not command effort.
        """
        super().__init__(model, parameters)
        path = parameters.policy
        self.file = PolicyFile(path)
        self.layout = layout = self.file.layout
        if layout.joint_names != model.joint_names:
            raise ArmError(
                f'policy {path!r} is for the joints {", ".join(layout.joint_names)}; '
                f'the arm has {", ".join(model.joint_names)}'
            )
        kind = law_class(layout.law)
        if kind.command_interface != 'effort':
            raise ArmError(f'policy {path!r}: its law {layout.law!r} does not command effort')
        names = model.joint_names
        self.law = kind(model, read_fields(kind.Parameters, layout.parameters, '', names))
        self.lookahead, self.many_arms = self.law.lookahead, self.law.many_arms
        self.needs = ('wrench',) if layout.wrench else self.law.needs
        self._latency = latency_of(parameters.latency)
        count, periods = max(self.file.chunk, 1), 1.0
        self._chunks: PositionChunks | None = None
        if layout.rate:
            self._chunks = PositionChunks(model, layout.rate, count)
            periods = 1.0 / (layout.rate * layout.period)
        self._execute = parameters.execute or max(round(count * periods), 1)
        has_latency = str(parameters.latency) not in ('0', '0.0')
        self._slow = self.file.chunk > 0 or self._execute > 1 or has_latency or layout.rate > 0
        step = 1e-6 if self.file.exact else 1e-3
        self.evaluation = replace(self.evaluation, derivative_step=0.0 if self._slow else step)
        self._scale = np.array(layout.scale)

    def check_period(self, dt: float) -> None:
        """Raise ArmError for another control period [s] than that of the training."""
        if abs(dt - self.layout.period) > 1e-9:
            raise ArmError(
                f'policy {self.parameters.policy!r} has a control period of '
                f'{self.layout.period:g} s; the controller has {dt:g} s: train with '
                f'timestep={dt:g}'
            )

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state of the law, the memory of the policy, and that of its network."""
        *arms, n = measured.q.shape
        law_state, memory = self.law.start(measured, reference), self.layout.start(measured)
        hidden = self.file.start(*arms)
        if not self._slow:
            return law_state, memory, hidden
        none = np.zeros((*arms, self.file.chunk or 1, n))
        followed = self._chunks.start(reference.q, reference.v) if self._chunks else none
        counts = np.tile([0, self._execute, -1, 0, 0], (*arms, 1))
        return law_state, memory, hidden, Plan(followed, none, counts)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N].

        Raises:
            ArmError: another control period than that of the training; the policy failed.
        """
        layout, model, (law_state, memory, hidden, *slow) = self.layout, self.model, state
        self.check_period(dt)

        def answer() -> Array:
            nonlocal hidden
            seen = layout.observe(model, memory, measured, reference)
            actions, hidden = self.file.step(seen, hidden)
            return actions

        goal = reference
        if not slow:
            action = answer()
        else:
            plan = self._in_time(slow[0], answer, dt)
            age, *_, begun = plan.periods.reshape(-1, 5)[0].tolist()
            if self._chunks:
                goal = self._chunks.reference(plan.followed, age, begun, dt)
                action = goal.q
            else:
                action = plan.followed[..., min(age, plan.followed.shape[-2] - 1), :]
            slow = [plan._replace(periods=plan.periods + np.array([1, 1, -1, 0, 0]))]
        tau, law_state = self.law(law_state, measured, goal, dt)
        memory = layout.remember(model, memory, measured, reference, action)
        tau = tau if self._chunks else tau + self._scale * action
        return tau, (law_state, memory, hidden, *slow)

    def _in_time(self, plan: Plan, answer: Callable[[], Array], dt: float) -> Plan:
        """Return the plan at this period: with what has arrived, and the next inference begun."""
        age, since, left, k, begun = plan.periods.reshape(-1, 5)[0].tolist()
        followed, coming = plan.followed, plan.coming

        def arrived() -> tuple[Array, int, int]:
            if not self._chunks:
                return coming, since, since
            joined = self._chunks.joined(followed, age, begun, coming, since, dt)
            return (followed, age, begun) if joined is None else (joined, since, since)

        if left == 0:
            followed, age, begun = arrived()
        if left <= 0 and since >= self._execute:
            coming, since = answer().reshape(coming.shape), 0
            left = math.ceil(self._latency(self.parameters.latency_seed, k) / dt - 1e-6)
            k += 1
            if left == 0:
                followed, age, begun = arrived()
        periods = np.broadcast_to([age, since, left, k, begun], plan.periods.shape)
        return Plan(followed, coming, periods)
