"""A policy from an ONNX file: a trained function of errors and motion, on top of another law."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any, NamedTuple

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
from arm_controllers.policy_layout import PolicyLayout
from arm_controllers.position_chunks import PositionChunks
from arm_dynamics.checks import ArmError, one_line
from arm_dynamics.parameters import NumberOrText, Parameters, parameter

# Rows of every inference: kernels for other numbers of rows round differently.
_ROWS = 16
_LONGEST = 10_000  # rows, observed numbers, or actions of a chunk
LONGEST_RUN = 20.0  # of an inference [s]
_TYPES = {'tensor(float)': np.float32, 'tensor(double)': np.float64}


@dataclass(frozen=True)
class PolicyParameters(Parameters):
    """The file of the policy, and how slow it is."""

    policy: str = parameter('', 'path of the ONNX file of the policy, whose metadata name its law')
    latency: NumberOrText = parameter('0', f'time from an observation to its actions [s]: {FORMS}')
    latency_seed: int = parameter(0, 'random seed of drawn latencies', min=0)
    execute: int = parameter(
        0, 'control periods from one observation to the next; 0: as many as a chunk lasts', min=0,
    )  # fmt: skip


class _Runs:
    """Inferences under way: one thread of a process ends those that take too long."""

    def __init__(self) -> None:
        self._under_way: dict[int, tuple[float, Any]] = {}
        self._process = -1

    @contextmanager
    def limited(self, options: Any) -> Iterator[Any]:
        """Let onnxruntime end a run with these options after LONGEST_RUN."""
        if self._process != os.getpid():  # a thread does not go on in a forked process
            self._process = os.getpid()
            Thread(target=self._watch, daemon=True, name='policy').start()
        key = id(options)
        self._under_way[key] = monotonic() + LONGEST_RUN, options
        try:
            yield options
        finally:
            del self._under_way[key]

    def _watch(self) -> None:
        while True:
            sleep(0.05 * LONGEST_RUN)
            for end, options in list(self._under_way.values()):
                options.terminate = options.terminate or monotonic() > end


_RUNS = _Runs()


class PolicyFile:
    """A policy that onnxruntime evaluates: actions of observations (..., size).

    They are (..., n), or chunks (..., chunk, n) from the observation on, see PolicyLayout. An
    arm's action is the same bits for any number of arms.

    Attributes:
        layout: of observation and action.
        exact: whether it computes with 64 bits.
        chunk: number of actions in a chunk; 0: its actions are no chunks.
    """

    def __init__(self, path: str):
        """Load the file.

        Raises:
            ArmError: onnxruntime is not installed, no such file, or no policy of this package.
        """
        if not path:
            raise ArmError("law 'policy' needs its file: policy:=FILE.onnx, or policy:FILE.onnx")
        try:
            runtime: Any = import_module('onnxruntime')
        except ImportError:
            reason = "law 'policy' needs onnxruntime: ./ws pip install 'onnxruntime>=1.20'"
            raise ArmError(reason) from None
        if not Path(path).is_file():
            raise ArmError(f'policy {path!r}: there is no such file')
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = runtime.InferenceSession(path, options, ['CPUExecutionProvider'])
        except Exception as error:  # onnxruntime has a class of errors per code
            raise ArmError(f'policy {path!r} is no ONNX file: {error}'.split('\n')[0]) from None
        text = session.get_modelmeta().custom_metadata_map.get('arm_sim')
        if text is None:
            raise ArmError(
                f"policy {path!r}: it has no metadata 'arm_sim' with the layout of observation "
                'and action; export it with arm_lab.gym.export'
            )
        self.layout = PolicyLayout.of_text(text, f'policy {path!r}')
        inputs, (answer, *_) = session.get_inputs(), session.get_outputs()
        shapes = [each.shape for each in (*inputs, answer)]
        if [len(shape) for shape in shapes] not in ([2, 2], [2, 3]):
            raise ArmError(
                f'policy {path!r} has inputs and an output of shapes {shapes}; it must have one '
                'input (rows, observation) and actions (rows, joints) or (rows, chunk, joints); '
                'a recurrent policy, which has further inputs, is not supported'
            )
        if any(isinstance(each, int) and each > _LONGEST for shape in shapes for each in shape):
            raise ArmError(f'policy {path!r} has shapes {shapes}; allowed: at most {_LONGEST}')
        (features,) = inputs
        n, rows = len(self.layout.joint_names), features.shape[0]
        sizes = features.shape[-1], answer.shape[-1]
        self.chunk: Any = answer.shape[1] if len(answer.shape) > 2 else 0
        if not isinstance(self.chunk, int):
            raise ArmError(f'policy {path!r}: its chunks have no fixed number of actions')
        if features.type not in _TYPES or sizes != (self.layout.size, n):
            raise ArmError(
                f'policy {path!r} takes {sizes[0]} {features.type} and gives {sizes[1]} numbers; '
                f'its layout has {self.layout.size} and {n}'
            )
        self._session, self._name, self._type = session, features.name, _TYPES[features.type]
        self._path, self._options = path, runtime.RunOptions
        self._rows = rows if isinstance(rows, int) else _ROWS
        self.exact = self._type is np.float64
        self._run(np.zeros((self._rows, features.shape[-1]), self._type))

    def _run(self, rows: Array) -> Array:
        """Return the answer to rows; raise ArmError where there is none, or it has no end."""
        with _RUNS.limited(self._options()) as options:
            try:
                answer: Array = self._session.run(None, {self._name: rows}, options)[0]
            except Exception as error:
                late = options.terminate and f'its actions take more than {LONGEST_RUN:g} s'
                raise ArmError(f'policy {self._path!r}: {late or one_line(error)}') from None
        return answer

    def __call__(self, observation: Array) -> Array:
        """Return the actions, commands in [-1, 1]; nan: the policy gave none."""
        rows = observation.reshape(-1, observation.shape[-1])
        padded = np.zeros((-(-len(rows) // self._rows) * self._rows, rows.shape[1]), self._type)
        padded[: len(rows)] = rows
        parts = np.split(padded, len(padded) // self._rows)
        answers = np.concatenate([self._run(part) for part in parts])
        actions = answers[: len(rows)].reshape(*observation.shape[:-1], -1)
        actions = actions.astype(float)
        return actions if self.layout.rate else np.clip(actions, -1.0, 1.0)


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
    """

    Parameters = PolicyParameters
    evaluation = LawEvaluation(variant='policy', of_file=True)

    def __init__(self, model: RobotModel, parameters: Any):
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
                f'{self.layout.period:g} s; the controller has {dt:g} s'
            )

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state of the law, and the memory of the policy."""
        law_state, memory = self.law.start(measured, reference), self.layout.start(measured)
        if not self._slow:
            return law_state, memory
        *arms, n = measured.q.shape
        none = np.zeros((*arms, self.file.chunk or 1, n))
        followed = self._chunks.start(reference.q, reference.v) if self._chunks else none
        counts = np.tile([0, self._execute, -1, 0, 0], (*arms, 1))
        return law_state, memory, Plan(followed, none, counts)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N].

        Raises:
            ArmError: another control period than that of the training.
        """
        layout, model, (law_state, memory, *slow) = self.layout, self.model, state
        self.check_period(dt)

        def answer() -> Array:
            return self.file(layout.observe(model, memory, measured, reference))

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
        return tau, (law_state, memory, *slow)

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
