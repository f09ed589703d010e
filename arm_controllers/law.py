"""What every control law is: a function of state, measurement and reference."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from arm_controllers.law_evaluation import LawEvaluation, refuse_moved
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.second_order_gains import frequency_and_ratio
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import of_many, with_arrays

# The memory of a law: a tuple of arrays (..., k) and of such tuples.
State = tuple[Any, ...]


class Law:
    """A control law: command, state = law(state, measured, reference, dt).

    A law object never changes: its memory is the `state`, which the caller keeps and hands to the
    next call. A state is a tuple of arrays and of such tuples; () is the state of a law without
    memory.

    With arrays (..., n) and a model whose functions take them, one law commands many arms; the
    arrays of its state then have the same leading axes.

    Attributes:
        Parameters: frozen dataclass; a law is built as law(model, law.Parameters(...)).
        command_interface: 'position', 'velocity', 'effort' or 'voltage': the unit of the command;
            a tuple with one per joint where they differ.
        lookahead: control periods from the measurement to the reference that the law follows,
            `reference.ahead(lookahead)`; 0: the reference of the same instant.
        needs: fields of the Measurement that it needs besides q and v, such as 'wrench'.
        goal_needs: further fields that it needs while it follows a wrench goal.
        wrench_goal: parts of a wrench goal that it follows, 'force' and 'torque'; empty: none.
        many_arms: whether the law takes arrays with leading axes; False: one law per arm.
        designed: classmethod(model, q, natural_frequency, damping_ratio) -> Parameters that give
            every joint's error these second-order dynamics, with the inertia at q (n,). The
            numbers serve all joints; where there are `gains` they may as well be (n,). None: there
            is no such design, and the law is not compared with others.
        gains: the two parameters that frequency and ratio set while the controller runs; empty:
            there are none.
        evaluation: what comparisons, tuning and margins need to know of the law.
        guard: the Guard around the law, which has the same state; None: there is none.
    """

    Parameters: Any
    command_interface: Any = 'effort'
    lookahead = 0
    needs: tuple[str, ...] = ()
    goal_needs: tuple[str, ...] = ()
    wrench_goal: tuple[str, ...] = ()
    many_arms = True
    designed: ClassVar[Any] = None
    gains: tuple[str, ...] = ()
    evaluation = LawEvaluation()
    guard: Any = None

    def __init_subclass__(cls, **others: object) -> None:
        """Refuse the attributes that are now in `evaluation`; see refuse_moved."""
        super().__init_subclass__(**others)
        refuse_moved(cls.__name__, vars(cls))

    def __init__(self, model: RobotModel, parameters: Any):
        """Keep both; parameters of one number per joint as arrays (n,).

        A list of N parameters is one for each of N arms: what differs among them has a leading
        axis, (N, n) per joint, (N, 1) a number.

        Raises:
            ArmError: a wrong count of numbers, or one that is not allowed; what may not differ; an
                arm with springs that the law's model lacks.
        """
        springs, own = getattr(model, 'springs', ''), self.evaluation
        if springs and own.model_use and not own.of_file:
            raise ArmError(f'law {type(self).__name__}: {springs}')
        self.model = model
        many = isinstance(parameters, Sequence)
        self.parameters = (of_many if many else with_arrays)(parameters, model.joint_names)

    def check_period(self, dt: float) -> None:
        """Accept a control period [s]. Raises ArmError: the law is made for another one."""

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm at its first measurement."""
        return ()

    def resumed(self, state: State) -> State | None:
        """Return the state after this law has replaced one of its class with other parameters.

        `state` is that of the other law; None: this law starts again.
        """
        return None

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (..., n) for one control period, and the state for the next one.

        Args:
            state: what `start` or the call of the period before returned.
            measured: the arm at the start of the period.
            reference: the desired motion at that instant, and its future.
            dt: control period [s].
        """
        raise NotImplementedError

    @classmethod
    def frequency_and_ratio(
        cls, model: RobotModel, q: Array, first: Array, second: Array
    ) -> tuple[Array, Array]:
        """Return wn [rad/s] and zeta (n,) of two `gains` (n,), as `designed` has them from these.

        Here they are kp = m wn^2 and kd = 2 zeta wn m; m is the kp that is designed for wn = 1.
        """
        inertia = getattr(cls.designed(model, q, 1.0, 1.0), cls.gains[0])
        return frequency_and_ratio(first, second, np.array(inertia))


class LawAdapter(Law):
    """A law around another law, which commands effort; by default it starts as that law does."""

    def __init__(self, law: Law, option: str):
        """Take the law and the parameter that needs it, such as "motion is 'discrete'".

        Raises:
            ArmError: the law does not command effort.
        """
        if law.command_interface != 'effort':
            raise ArmError(
                f'{option}; that is for laws that command effort, not {law.command_interface}'
            )
        self.law, self.model = law, law.model
        self.lookahead, self.many_arms = law.lookahead, law.many_arms
        self.needs, self.goal_needs, self.guard = law.needs, law.goal_needs, law.guard
        self.evaluation = law.evaluation

    def check_period(self, dt: float) -> None:
        """Accept a control period [s]. Raises ArmError: the law is made for another one."""
        self.law.check_period(dt)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self.law.start(measured, reference)

    def resumed(self, state: State) -> State | None:
        """Return the state of the law, where it is that of the adapter; else start again."""
        return self.law.resumed(state) if type(self).start is LawAdapter.start else None
