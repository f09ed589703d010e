"""A policy in an ONNX file, which onnxruntime evaluates, also a recurrent one."""

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.policy_layout import PolicyLayout
from arm_dynamics.checks import ArmError, Array, one_line, typed
from arm_dynamics.optional import optional_module

# Rows of every inference: kernels for other numbers of rows round differently.
_ROWS = 16
_LONGEST = 10_000  # rows, observed numbers, numbers of a state, or actions of a chunk
LONGEST_RUN = 20.0  # of an inference [s]
_TYPES = {'tensor(float)': np.float32, 'tensor(double)': np.float64}

Hidden = tuple[Array, ...]  # states of a recurrent network, (..., k) each


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


class _Hidden(NamedTuple):
    """A state of a recurrent network: an input, and the output that follows it.

    Attributes:
        name: of the input.
        kind: of its numbers.
        axis: of the rows.
        shape: of one row, the other axes.
    """

    name: str
    kind: Any
    axis: int
    shape: tuple[int, ...]

    @classmethod
    def of(cls, given: Any, next_one: Any, rows: int | str | None) -> '_Hidden':
        """Return the state of an input and an output of onnxruntime; `rows`: of the observation.

        Raises:
            ArmError: two shapes that differ, or no axis of the rows.
        """
        shape, after = given.shape, next_one.shape
        axes = [k for k, each in enumerate(shape) if each == rows or not isinstance(each, int)]
        others = tuple(shape[k] for k in range(len(shape)) if k != axes[0]) if axes else shape
        both = [pair for pair in zip(shape, after, strict=False) if {*map(type, pair)} == {int}]
        if (
            not axes
            or given.type not in _TYPES
            or given.type != next_one.type
            or len(shape) != len(after)
            or any(one != other for one, other in both)
            or not all(isinstance(each, int) for each in others)
        ):
            raise ArmError(
                f'its further input {given.name!r} {shape} is followed by the output '
                f'{next_one.name!r} {after}: a state needs the same shape and type in both, with '
                'one axis of the rows'
            )
        return cls(given.name, _TYPES[given.type], axes[0], others)

    def of_rows(self, rows: Array) -> Array:
        """Return the tensor of states (m, k)."""
        tensor = rows.astype(self.kind).reshape(len(rows), *self.shape)
        return np.ascontiguousarray(np.moveaxis(tensor, 0, self.axis))

    def rows_of(self, tensor: Array, count: int) -> Array:
        """Return the states (m, k) of a tensor. Raises ArmError: not of m = `count` rows."""
        rows = np.moveaxis(tensor, self.axis, 0) if tensor.ndim > self.axis else tensor
        if rows.shape != (count, *self.shape):
            raise ArmError(
                f'the state after {self.name!r} has the shape {tensor.shape}; it needs that of '
                f'{count} rows'
            )
        return rows.reshape(len(rows), -1).astype(float)


class PolicyFile:
    """A policy that onnxruntime evaluates: actions of observations (..., size).

    They are (..., n), or chunks (..., chunk, n) from the observation on, see PolicyLayout. An
    arm's action is the same bits for any number of arms.

    Attributes:
        layout: of observation and action.
        exact: whether it computes with 64 bits.
        chunk: number of actions in a chunk; 0: its actions are no chunks.
        recurrent: whether it has a state, which `step` takes and returns.
    """

    def __init__(self, path: str):
        """Load the file.

        Raises:
            ArmError: onnxruntime is not installed, no such file, or no policy of this package.
        """
        if not path:
            raise ArmError("law 'policy' needs its file: policy:=FILE.onnx, or policy:FILE.onnx")
        self._where, session = f'policy {path!r}', _session(path)
        text = session.get_modelmeta().custom_metadata_map.get('arm_sim')
        if text is None:
            raise ArmError(
                f"{self._where}: it has no metadata 'arm_sim' with the layout of observation "
                'and action; export it with arm_lab.gym.export'
            )
        self.layout = PolicyLayout.of_text(text, self._where)
        if not session.get_inputs():
            raise ArmError(f'{self._where} has no input; it must take an observation')
        (features, *further), (answer, *states) = session.get_inputs(), session.get_outputs()
        self._check(features, answer)
        shapes = [each.shape for each in (features, *further, answer)]
        if any(isinstance(each, int) and each > _LONGEST for shape in shapes for each in shape):
            raise ArmError(f'{self._where} has shapes {shapes}; allowed: at most {_LONGEST}')
        rows = features.shape[0]
        if further and len(further) != len(states):
            raise ArmError(
                f'{self._where} has {len(further)} inputs besides the observation and '
                f'{len(states)} outputs besides the actions: a recurrent policy has a state for '
                'each, in the same order'
            )
        try:
            self._hidden = [_Hidden.of(*pair, rows) for pair in zip(further, states, strict=False)]
        except ArmError as error:
            raise ArmError(f'{self._where}: {error}') from None
        self.recurrent = bool(further)
        self._session, self._name, self._type = session, features.name, _TYPES[features.type]
        self._outputs = [each.name for each in (answer, *states[: len(further)])]
        self._options = _runtime().RunOptions
        self._rows = rows if isinstance(rows, int) else _ROWS
        self.exact = self._type is np.float64
        first, _ = self.step(np.zeros(self.layout.size), self.start())
        if not np.isfinite(first).all():
            raise ArmError(
                f'{self._where}: its first actions, of an observation of zeros, are not all '
                'finite numbers'
            )
        self._check_rows()

    def _check_rows(self) -> None:
        """Raise ArmError where the action of an observation is not the same in another batch."""
        batches = np.random.default_rng(0).uniform(-1.0, 1.0, (2, self._rows, self.layout.size))
        batches[1, 0] = batches[0, 0]
        one, other = (self.step(x, self.start(self._rows))[0][0] for x in batches)
        if one.tobytes() != other.tobytes():
            raise ArmError(
                f'{self._where} gives the actions {_shown(one)} and {_shown(other)} for the same '
                'observation; they must be equal: export it without random numbers, and with '
                'actions that do not depend on the other rows'
            )

    def _check(self, features: Any, answer: Any) -> None:
        """Set the number of actions; raise ArmError for shapes that no policy has."""
        n, shapes = len(self.layout.joint_names), [features.shape, answer.shape]
        if [len(shape) for shape in shapes] not in ([2, 2], [2, 3]):
            raise ArmError(
                f'{self._where} has an input {shapes[0]} and an output {shapes[1]}; it must have '
                'an input (rows, observation) and actions (rows, joints) or (rows, chunk, joints)'
                ': export it with an axis of rows'
            )
        sizes = features.shape[-1], answer.shape[-1]
        self.chunk: Any = answer.shape[1] if len(answer.shape) > 2 else 0
        if not isinstance(self.chunk, int):
            raise ArmError(f'{self._where}: its chunks have no fixed number of actions')
        if answer.type not in _TYPES:
            raise ArmError(
                f'{self._where} gives actions of type {answer.type}; allowed: {", ".join(_TYPES)}'
            )
        if features.type not in _TYPES or sizes != (self.layout.size, n):
            raise ArmError(
                f'{self._where} takes {sizes[0]} {features.type} and gives {sizes[1]} numbers; '
                f'its layout has {self.layout.size} and {n}'
            )

    def start(self, *arms: int) -> Hidden:
        """Return the states (*arms, k) before the first observation: zeros."""
        return tuple(np.zeros((*arms, math.prod(each.shape))) for each in self._hidden)

    def __call__(self, observation: Array) -> Array:
        """Return the actions of a policy that is not recurrent, as `step` has them.

        Raises:
            ArmError: the policy is recurrent, failed, or took too long.
        """
        if self.recurrent:
            raise ArmError(f'{self._where} is recurrent: step(observation, state) has its state')
        return self.step(observation, ())[0]

    def step(self, observation: Array, state: Hidden) -> tuple[Array, Hidden]:
        """Return the actions, commands in [-1, 1], and the next states; nan: it gave none.

        Args:
            observation: (..., size).
            state: what `start` or the last step returned, () of a policy without states.

        Raises:
            ArmError: the policy failed, or took too long.
        """
        axes = observation.shape[:-1]
        given = [x.reshape(-1, x.shape[-1]) for x in (observation, *state)]
        count, rows = len(given[0]), self._rows
        padded = [np.zeros((count + -count % rows, x.shape[1])) for x in given]
        for own, x in zip(padded, given, strict=True):
            own[:count] = x
        parts = [self._run([x[k : k + rows] for x in padded]) for k in range(0, count, rows)]
        actions, *after = (np.concatenate(each)[:count] for each in zip(*parts, strict=True))
        actions = actions.astype(float).reshape(*axes, -1)
        actions[np.isinf(actions)] = np.nan
        actions = actions if self.layout.rate else np.clip(actions, -1.0, 1.0)
        return actions, tuple(x.reshape(*axes, -1) for x in after)

    def _run(self, rows: list[Array]) -> list[Array]:
        """Return actions and states of rows; raise ArmError where there are none, or no end."""
        given = {self._name: rows[0].astype(self._type)}
        given |= {
            each.name: each.of_rows(x) for each, x in zip(self._hidden, rows[1:], strict=True)
        }
        with _RUNS.limited(self._options()) as options:
            try:
                answer, *states = self._session.run(self._outputs, given, options)
            except Exception as error:
                late = options.terminate and f'its actions take more than {LONGEST_RUN:g} s'
                raise ArmError(f'{self._where}: {late or one_line(error)}') from None
        count, hidden = len(rows[0]), zip(self._hidden, states, strict=True)
        shape = (count, *[self.chunk][: self.chunk], len(self.layout.joint_names))
        if answer.shape != shape:
            raise ArmError(
                f'{self._where} gives actions of shape {answer.shape} for {count} observations; '
                f'they must be {shape}'
            )
        try:
            return [answer, *(each.rows_of(x, count) for each, x in hidden)]
        except ArmError as error:
            raise ArmError(f'{self._where}: {error}') from None


def _runtime() -> ModuleType:
    """Return onnxruntime; raise ArmError where it is not installed."""
    lacking = "law 'policy' needs onnxruntime: " + typed("pip install 'onnxruntime>=1.20'")
    return optional_module('onnxruntime', lacking)


def _session(path: str) -> Any:
    """Return onnxruntime's session of a file.

    Raises:
        ArmError: no such file, no ONNX file, or no onnxruntime.
    """
    if not Path(path).is_file():
        raise ArmError(f'policy {path!r}: there is no such file')
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return runtime.InferenceSession(path, options, ['CPUExecutionProvider'])
    except Exception as error:  # onnxruntime has a class of errors per code
        # It says where in its sources, too.
        text = re.sub(r'^\[.*?failed:(/\S+:\d+ .*\) )?', '', one_line(error))
        raise ArmError(
            f'policy {path!r} is no ONNX file that onnxruntime {runtime.__version__} reads: {text}'
        ) from None


def _shown(action: Array) -> str:
    return np.array2string(action.ravel()[:12], precision=6)
