"""Ages and rates of the messages that a supervisor gets, drawn for an arm."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.latency import FORMS, latency_of
from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.driving.presets import period_of
from arm_tools.driving.supervised_law import SupervisedLaw
from arm_tools.driving.supervisor import Supervisor

_STREAM = 1  # of random numbers, separate from that of the arms
_ROUNDING = 1e-9  # [s]


class Arrivals(NamedTuple):
    """What the supervisor sees of the messages of each state k (K,).

    Attributes:
        age: of the state in the supervisor's cycle, since its arrival [s].
        silence: time since the arrival of the law's newest command [s].
        answer: state to which that command is the answer; -1: there is none yet.
        acts: state whose supervised command the robot has when it sends state k; -1: none yet.
    """

    age: Array
    silence: Array
    answer: NDArray[np.int_]
    acts: NDArray[np.int_]


@dataclass(frozen=True)
class MessageRanges(Parameters):
    """Ages and rates of messages that are drawn; the defaults are exact rates and no ages."""

    state_latency: str = parameter(
        '0', f'time from a state of the robot to its arrival at the supervisor: {FORMS}'
    )
    command_latency: str = parameter(
        '0', f"time from there to the arrival of the law's command: {FORMS}"
    )
    state_rate: Annotated[tuple[float, ...], 'HZ,HZ'] = parameter(
        (), 'lowest and largest rate of the states [Hz], drawn for each arm; empty: --rate',
        length=2, above=0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        latency_of(self.state_latency)
        latency_of(self.command_latency)
        rates = self.state_rate
        if rates and not 10.0 <= rates[0] <= rates[1] <= 1e4:
            raise ArmError(
                f'state_rate is {rates[0]:g},{rates[1]:g} Hz; it must be the lowest and the '
                'largest rate, from 10 to 10000 Hz'
            )

    def period(self, nominal: float, seed: int, index: int) -> float:
        """Return the period of arm `index` [s], in whole nanoseconds; `nominal`: without range."""
        if not self.state_rate:
            return nominal
        low, high = self.state_rate
        rate = np.random.default_rng([seed, index, _STREAM]).uniform(low, high)
        return period_of(rate)

    def arrivals(self, period: float, limit: float, count: int, seed: int, index: int) -> Arrivals:
        """Return the messages of `count` states of arm `index`; see `arrivals`."""
        rng = np.random.default_rng([seed, index, _STREAM])
        begins = [int(x) for x in rng.integers(2**31, size=2)]
        latencies = latency_of(self.state_latency), latency_of(self.command_latency)
        late, answers = (
            np.array([latency(begin, begin + k) for k in range(count + 1)])
            for latency, begin in zip(latencies, begins, strict=True)
        )
        return arrivals(late, answers, period, limit)


def arrivals(late: Array, answers: Array, period: float, limit: float) -> Arrivals:
    """Return what the supervisor sees of the messages of K states.

    Messages do not overtake each other. The supervisor's cycle is when the answer of the law
    arrives or, where that is later, when the next state arrives; without states for `limit` [s]
    it goes on until then.

    Args:
        late: (K + 1,) time from each state to its arrival [s].
        answers: (K + 1,) time from there to the arrival of the law's command [s].
        period: between two states [s].
        limit: of the age of a state, see SupervisorParameters [s].
    """
    sent = period * np.arange(len(late))
    arrived = np.maximum.accumulate(sent + late)
    answered = np.maximum.accumulate(arrived + answers)
    arrived, after, answered = arrived[:-1], arrived[1:], answered[:-1]
    in_time = (answered < after) & (after - arrived <= limit)
    cycle = np.where(in_time, answered, after)
    answer = np.searchsorted(answered, cycle, side='right') - 1
    answer = np.minimum(answer, np.arange(len(cycle)))
    silence = np.where(answer < 0, np.inf, cycle - answered[answer])
    acts = np.searchsorted(cycle, sent[:-1] + _ROUNDING, side='right') - 1
    return Arrivals(cycle - arrived, silence, answer, acts)


class RemoteLaw(SupervisedLaw):
    """A law and a supervisor that get their messages late, and know of a nominal period only.

    The state is (law's, supervisor's, commands of the law, commands of the supervisor).
    """

    def __init__(self, law: Law, supervisor: Supervisor, period: float, arrivals: Arrivals):
        """Take both, the control period that both know [s], and the messages of the arm."""
        super().__init__(law, supervisor)
        self._period, self._arrivals = period, arrivals

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state before the first message."""
        own = self.supervisor.start(measured.q, measured.v, self._period)
        return self.law.start(measured, reference), own, [], [own.sent]

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (n,) that the robot has; `dt` is the period of its states [s]."""
        law, own, commands, sent = state
        k, period = len(commands), self._period
        age, silence, answer, acts = (x[k] for x in self._arrivals)
        command, law = self.law(law, measured, reference, period)
        commands.append(command)
        newest = commands[answer] if answer >= 0 else np.full_like(command, np.nan)
        goal = reference.ahead(self.lookahead).q if self.lookahead else reference.q
        now, own = self.supervisor(
            own, measured.q, measured.v, newest, period, goal, dt, age, silence
        )
        sent.append(now)
        return sent[acts + 1], (law, own, commands, sent)
