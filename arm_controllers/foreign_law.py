"""A law of another package or of a user's file: what it returns and raises is looked at."""

from collections.abc import Callable
from copy import copy
from dataclasses import is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from arm_controllers.law import Law, State
from arm_controllers.law_evaluation import refuse_moved
from arm_controllers.measurement import HOW_TO_MEASURE, Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, one_of
from arm_dynamics.model import RobotModel
from arm_dynamics.plugin_faults import fault, shown

_INTERFACES = ('position', 'velocity', 'effort', 'voltage')
_ATTRIBUTES = (
    'Parameters', 'command_interface', 'lookahead', 'needs', 'goal_needs', 'wrench_goal',
    'many_arms', 'gains', 'evaluation', 'guard',
)  # fmt: skip


def named(kind: type[Law]) -> str:
    """Return a law's class and its file, as messages name the law."""
    codes = (getattr(each, '__code__', None) for each in vars(kind).values())
    file = next((code.co_filename for code in codes if code), kind.__module__)
    return f'law {kind.__name__} ({file})'


def check_class(kind: type[Law]) -> None:
    """Raise ArmError where attributes of a law's class have no meaning."""
    law, interface = named(kind), kind.command_interface
    if not is_dataclass(kind.Parameters):
        raise ArmError(f'{law}: Parameters is {kind.Parameters!r}; it must be a dataclass')
    for each in (interface,) if isinstance(interface, str) else interface:
        one_of(f'{law}: command_interface', each, _INTERFACES)
    for name in ('needs', 'goal_needs'):
        needs = getattr(kind, name)
        if not isinstance(needs, tuple | list):
            raise ArmError(f"{law}: {name} is {needs!r}; it must be a tuple, such as ('wrench',)")
        for each in needs:
            one_of(f'{law}: one of its {name}', each, tuple(HOW_TO_MEASURE))
    if not isinstance(kind.lookahead, int) or kind.lookahead < 0:
        raise ArmError(f'{law}: lookahead is {kind.lookahead!r}; it must be an integer >= 0')


def design(kind: type[Law], model: RobotModel, q: Array, frequency: float, ratio: float) -> Any:
    """Return the parameters that a law's class designs. Raises ArmError: it returns others."""
    check_class(kind)
    try:
        parameters = kind.designed(model, q, frequency, ratio)
    except Exception as error:  # a foreign function may raise anything
        raise fault(f'law {kind.__name__}: its `designed`', error, kind.__module__) from error
    if not isinstance(parameters, kind.Parameters):
        raise ArmError(
            f'{named(kind)}: its `designed` returns {shown(parameters)}; '
            f'it must return {kind.Parameters.__name__}(...)'
        )
    return parameters


class ForeignLaw(Law):
    """The law as its class makes it; each of its slips is refused in one line that names it.

    Its commands are copied, so that what it does later with its arrays changes none of them. It
    has a copy of the model, so that attributes it sets are none of the plant's.
    """

    def __init__(self, kind: type[Law], model: RobotModel, parameters: object):
        """Make the law.

        Raises:
            ArmError: the class has attributes without a meaning, or the law cannot be made.
        """
        check_class(kind)
        self._module, self._name, self._law = kind.__module__, f'law {kind.__name__}', named(kind)
        self.model = model
        self.law = self._call(kind, _copy_of(model), parameters)
        refuse_moved(kind.__name__, vars(self.law))
        for name in _ATTRIBUTES:
            setattr(self, name, getattr(self.law, name))
        self.parameters = getattr(self.law, 'parameters', parameters)
        self._starts = kind.start is not Law.start

    def check_period(self, dt: float) -> None:
        """Accept a control period [s]. Raises ArmError: the law is made for another one."""
        self._call(self.law.check_period, dt)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self._memory(self._call(self.law.start, measured, reference))

    def resumed(self, state: State) -> State | None:
        """Return the state after this law has replaced one of its class."""
        resumed: State | None = self._call(self.law.resumed, state)
        return resumed

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (..., n) and the state for the next period.

        Raises:
            ArmError: the law raises or returns anything else, or has written into its arguments.
        """
        before = _bytes(measured, reference)
        answer = self._call(self.law, state, measured, reference, dt)
        if before != _bytes(measured, reference):
            raise ArmError(
                f'{self._law} has written into the measurement or the reference; it may change '
                'copies of them only'
            )
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ArmError(f'{self._law} returns {shown(answer)}; it must return command, state')
        shape = np.broadcast_shapes(measured.q.shape, reference.q.shape)
        return self._command(answer[0], shape), self._memory(answer[1])

    def _call(self, function: Callable[..., Any], *values: object) -> Any:
        """Return what a function of the law returns; raises ArmError where it raises."""
        try:
            return function(*values)
        except (Exception, SystemExit) as error:  # a foreign function may raise anything
            if isinstance(error, ArmError):
                raise
            raise fault(self._name, error, self._module) from error

    def _memory(self, state: State | None) -> State:
        """Return a state; raises ArmError where it would be lost."""
        if state is None and self._starts:
            raise ArmError(f'{self._law}: its state is None; it must be a tuple of arrays')
        return () if state is None else state

    def _command(self, command: object, shape: tuple[int, ...]) -> Array:
        """Return a copy of a command. Raises ArmError: no real numbers, or another shape."""
        array = self._call(np.asarray, command)  # lists of different lengths fail
        wrong = ''
        if np.ma.is_masked(command):
            wrong = 'has masked numbers'
        elif array.dtype.kind not in 'fiu' and not _real(array):
            wrong = f'is {shown(command)}'
        elif array.shape != shape:
            wrong = f'has shape {array.shape}'
        if wrong:
            raise ArmError(f'{self._law}: its command {wrong}; it must be {shape} real numbers')
        return np.array(array, dtype=float)


def _copy_of(model: object) -> object:
    """Return the model with numbers of its own."""
    if isinstance(model, RobotModel):
        return model.with_joints(model.armature, model.damping, model.friction)
    return copy(model)


def _real(array: np.ndarray) -> bool:
    return array.dtype == object and all(isinstance(x, Real) for x in array.ravel())


def _bytes(measured: Measurement, reference: Reference) -> list[bytes | None]:
    """Return all numbers that a law receives."""
    arrays = (*measured[:4], *measured.readings.values(), reference.row, reference.wrench)
    return [None if each is None else each.tobytes() for each in arrays]
