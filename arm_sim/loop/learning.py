"""Learning by repetition: what one pass lacked in effort is feedforward in the next one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.laws import Law
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference, ReferenceFunction, SampledReference
from arm_dynamics.actuators import linear_gains
from arm_dynamics.checks import ArmError, Array
from arm_sim.loop.goals import sampled, sampled_rows
from arm_sim.loop.record import JointStates, Record
from arm_sim.simulation.integration import has_mean_efforts
from arm_sim.simulation.plant import ACTUATOR_FOR, PlantParameters

# Integrators that end a step at q+ = q + h v+; in the others v is the velocity at q.
_STEPPED = ('implicitfast', 'implicit', 'euler', 'semi_implicit_euler')


class Learner:
    """The effort feedforward of the next pass, from the record of the last one.

    In a pass the arm moved by q, v, a = (v+ - v)/h under the applied torque tau. The believed
    model needs tau_m(q, v, a) = M a + b(q, v) + h D a for that; D is the damping that the plant's
    step has at its end, of the joints and, with a servo, of the drive. Where the plant moves as a
    continuous arm D is zero, and q, v and tau are their means over a period. Hence the arm lacked

        d = tau - tau_m(q, v, a),

    whatever law it was that moved it. The next pass gets

        effort = d + tau_m(q*, v*, a*) - law(q*, v*, reference),

    where q*, v*, a* is the motion whose samples lie on the reference: what the law lacks there
    even if its model is exact. It is inversion-based iterative learning control (Bristow, Tharayil
    and Alleyne, IEEE Control Systems Magazine 26(3), 2006) with the arm's whole model for inverse.
    Passes converge if the believed M is within a factor of two of the true one, the faster
    the slower the motion is compared with the law's own loop. Motion that does not repeat, such as
    noise, cannot be learnt: `cutoff` keeps it out of the effort.

    The law must add the reference's effort to its torque, as the laws here do.

    Attributes:
        believed: (k, n) the second part of the effort, which needs no record [N.m | N].
    """

    def __init__(
        self,
        law: Law,
        plant: PlantParameters,
        reference_function: ReferenceFunction,
        steps: int,
        cutoff: float = 0.0,
    ):
        """Take what is believed of the loop, and the reference, for a number of control periods.

        Args:
            law: the law of the loop, with the model that it believes in.
            plant: the believed drives and steps.
            reference_function: writes the reference of a time [s] from the start of the passes.
            steps: control periods of a pass.
            cutoff: of the zero-phase low-pass for d [Hz]; 0: none.

        Raises:
            ArmError: the law commands voltages, or a cutoff that the control
                rate cannot have.
        """
        if law.command_interface == 'voltage':
            raise ArmError('passes > 1 needs a law that commands position, velocity or effort')
        if law.lookahead > 1:
            raise ArmError(f'passes > 1 needs a law with delay 0, not {law.lookahead - 1}')
        self.law, self._model, self._cutoff = law, law.model, cutoff
        self._step = plant.period
        if cutoff >= 0.5 / self._step:
            most = 0.5 / self._step
            raise ArmError(f'learning_cutoff is {cutoff:g} Hz; it must be below {most:g} Hz')
        actuators = (ACTUATOR_FOR[law.command_interface],) * self._model.nv
        self._gains = gains = linear_gains(actuators, *plant.servo_gains(self._model))
        damping = np.zeros(self._model.nv)
        if plant.integrator in _STEPPED[:3]:
            damping = damping + self._model.damping
        if plant.integrator in _STEPPED[:2]:
            damping = damping + gains.velocity
        self._late_damping = self._step * damping
        self._stepped = plant.integrator in _STEPPED and plant.control_decimation == 1
        # Whether the efforts of a servo are those of the end of a period, not means.
        self._at_end = not (self._stepped or has_mean_efforts(plant))
        times = np.rint(np.arange(steps + 2) * self._step * 1e9) * 1e-9
        rows = sampled_rows(reference_function, times, self._model.nv)
        self.believed = self._believed_effort(rows)

    def efforts(self, record: Record) -> Array:
        """Return the effort for the next pass (k + 2, n) [N.m | N], a row per instant of control.

        `record` (k periods) is of a pass from its very start. Row i is for the reference of
        instant i, which a law that looks ahead gets a period earlier.
        """
        count = len(self.believed)
        if len(record.t) != count:
            raise ArmError(f'a pass has {len(record.t)} control periods, not {count}')
        last = (record.q_end - record.q[-1]) / self._step
        if not self._stepped:  # which is the mean of the last period
            last = 2.0 * last - record.v[-1]
        q, v = np.vstack([record.q, record.q_end]), np.vstack([record.v, last])
        state, a = self._moved(q, v), np.diff(v, axis=0) / self._step
        applied = record.effort
        if self._at_end:
            gains = self._gains
            applied = applied + gains.position * (q[1:] - state[0])
            applied += gains.velocity * (v[1:] - state[1])
        lacked = applied - self._needed(*state, a)
        if self._cutoff > 0.0:
            from scipy.signal import butter, sosfiltfilt  # takes a second, which few tasks need

            low_pass = butter(2, self._cutoff, fs=1.0 / self._step, output='sos')
            lacked = sosfiltfilt(low_pass, lacked, axis=0)
        ahead = self.law.lookahead
        return np.pad(self.believed + lacked, ((ahead, 2 - ahead), (0, 0)), mode='edge')

    def _believed_effort(self, rows: Array) -> Array:
        """Return what the believed loop lacks on the reference `rows` (k + 2, 4 n): (k, n)."""
        law, gains, n, h = self.law, self._gains, self._model.nv, self._step
        q, v, _, _ = np.split(rows, 4, axis=1)
        if self._stepped:
            v = np.vstack([v[:1], np.diff(q, axis=0) / h])
        moved_q, moved_v = self._moved(q[:-1], v[:-1])
        needed = self._needed(moved_q, moved_v, np.diff(v, axis=0)[:-1] / h)
        torque, period_ns = np.empty_like(needed), round(h * 1e9)

        def without_effort(t: float, reference: Reference) -> None:
            reference.row[:] = rows[round(t / h)]
            reference.effort[:] = 0.0

        sampled = SampledReference(without_effort, n, period_ns)
        for k in range(len(needed)):
            reference, measured = sampled.at(k * period_ns), Measurement(q[k].copy(), v[k].copy())
            if not k:
                state = law.start(measured, reference)
            command, state = law(state, measured, reference, h)
            torque[k] = gains.command * command
        if not (self._stepped or self._at_end):  # as in the mean effort of a plant
            moved_q = moved_q - np.diff(v, axis=0)[:-1] * h / 12.0
        torque -= gains.position * moved_q + gains.velocity * moved_v
        return needed - torque

    def _moved(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Return at which q, v (k, n) the arm needs its torque, of the states (k + 1, n)."""
        if self._stepped:
            return q[:-1], v[:-1]
        return 0.5 * (q[:-1] + q[1:]), np.diff(q, axis=0) / self._step

    def _needed(self, q: Array, v: Array, a: Array) -> Array:
        """Return the torque (k, n) that the believed arm needs for states (k, n)."""
        return self._model.torques_along(q, v, a) + self._late_damping * a


class GoalLearner:
    """The same goal for the next pass, with the effort that the last one lacked."""

    def __init__(
        self,
        goal: Goal,
        reference_function: ReferenceFunction,
        end_ns: int,
        period_ns: int,
        make: Callable[[ReferenceFunction, int], Learner],
    ):
        """Take what every pass has in common.

        Args:
            goal: of the first pass; its `start_ns` is the stamp of its start.
            reference_function: what a controller makes of it; a function of the stamp [s].
            end_ns: stamp at which a pass ends.
            period_ns: of control.
            make: returns the learner for a reference from the start of a pass, and its steps.
        """
        self._goal, self._follow, self._period_ns = goal, reference_function, period_ns
        self._from_ns, self._end_ns = -(-goal.start_ns // period_ns) * period_ns, end_ns
        steps = (end_ns - self._from_ns) // period_ns
        self._learner = make(_since(reference_function, self._from_ns), steps)

    def next_goal(self, states: JointStates) -> Goal:
        """Return the goal for the pass after the one that has these states."""
        record = states.record(self._follow, self._from_ns, self._end_ns, self._period_ns)
        efforts = self._learner.efforts(record)[:-1]
        stamps = self._from_ns + np.arange(len(efforts)) * self._period_ns
        times: Array = (stamps - self._goal.start_ns).astype(float) * 1e-9
        return with_efforts(self._goal, _since(self._follow, self._goal.start_ns), times, efforts)


def _since(reference_function: ReferenceFunction, stamp_ns: int) -> ReferenceFunction:
    """Return a reference as a function of the time since a stamp."""

    def reference(t: float, reference: Reference) -> None:
        reference_function(t + stamp_ns * 1e-9, reference)

    return reference


def with_effort(
    reference_function: ReferenceFunction, efforts: Array, period: float
) -> ReferenceFunction:
    """Return the reference with an effort (m, n), whose rows are `period` [s] apart."""

    def reference(t: float, reference: Reference) -> None:
        reference_function(t, reference)
        reference.effort[:] = efforts[min(round(t / period), len(efforts) - 1)]

    return reference


def repeated(
    task: Any,
    law: Law,
    plant: Any,
    passes: int,
    seed: int = 0,
    cutoff: float = 0.0,
) -> Iterator[Record]:
    """Yield the records of a task's passes without ROS; each starts on the reference.

    Args:
        task: what every pass does.
        law: of the loop; the learner asks it what it lacks on the reference.
        plant: with the sensors' noise.
        passes: their number.
        seed: of the noise in the first pass; every pass has noise of its own.
        cutoff: low-pass of what is learnt [Hz]; 0: none.
    """
    period_ns = plant.parameters.period_ns
    steps = round(task.duration * 1e9 / period_ns)
    learner = Learner(law, plant.parameters, task.reference, steps, cutoff)
    follow = task.reference
    for number in range(passes):
        record = task.run(law, plant, None, follow, seed + number)
        yield record
        follow = with_effort(task.reference, learner.efforts(record), period_ns * 1e-9)


def with_efforts(
    goal: Goal, reference_function: ReferenceFunction, times: Array, efforts: Array
) -> Goal:
    """Return the goal with the feedforward effort (m, n) [N.m | N] at times (m,) [s] in it.

    It has a point at each of these, on the same motion as before: what `reference_function` says
    of the time in the goal [s]. A first one at time 0 is only where the goal has one there.
    """
    first = int(times[0] == 0.0 and goal.times[0] > 0.0)
    after = goal.times[goal.times > times[-1] + 1e-9]
    at = np.concatenate([times[first:], after])
    q, v, a = sampled(reference_function, at, len(goal.joint_names))
    efforts = np.vstack([efforts[first:], np.repeat(efforts[-1:], len(after), axis=0)])
    return replace(goal, times=at, positions=q, velocities=v, accelerations=a, effort=efforts)
