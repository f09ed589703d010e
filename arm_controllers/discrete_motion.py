"""The reference as an arm that moves in steps can follow it to the last digit."""

from typing import NamedTuple

import numpy as np

from arm_controllers.law import Law, LawAdapter, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array

MOTIONS = ('continuous', 'discrete')


class MotionState(NamedTuple):
    """Memory of a discrete motion.

    Attributes:
        q, v: (..., n) the sample of this period [rad | m], and its difference [rad/s | m/s].
        a_before, a: (..., n) sizes of the accelerations at the last two samples.
        law: state of the law.
    """

    q: Array
    v: Array
    a_before: Array
    a: Array
    law: State


class DiscreteMotion(LawAdapter):
    """A law whose reference is the motion of samples: q_r with its differences for v and a.

    Simulated arms step by v+ = v + h a, q+ = q + h v+ (semi-implicit Euler). Such an arm is at
    the samples q_r(k), each h [s] after the one before, if and only if

        v(k) = (q_r(k) - q_r(k - 1))/h,   a(k) = (v(k + 1) - v(k))/h.

    The derivatives of the continuous reference are another motion: v differs by a h/2, and a law
    with the exact model is off by kd/kp of that. With the differences its error is nothing.
    The arm's damping D acts at a step's end, as in MuJoCo's implicitfast: h D a is added to the
    effort. Where the reference jumps, its own derivatives count.
    """

    def __init__(self, law: Law):
        """Take a law that commands torques and follows the reference of the same instant.

        Raises:
            ArmError: it commands something else, or looks ahead.
        """
        option = "reference_motion is 'discrete'"
        super().__init__(law, option)
        if law.lookahead:
            raise ArmError(
                f'{option}; that is for laws that follow the present reference, not '
                f'{law.lookahead} periods ahead'
            )
        self.lookahead = 1

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the memory of a motion that starts at the present reference."""
        still = np.zeros_like(reference.q)
        law = self.law.start(measured, reference)
        return MotionState(reference.q.copy(), reference.v.copy(), still, still, law)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the command (..., n) of the law towards the sample of this period."""
        q_now, v_now, a_before, a_now, law_state = state
        now, h = Reference(q_now.shape[-1], q_now.shape[:-1]), dt
        now.set_wrench(reference.wrench, reference.selection)
        reference = reference.ahead(1)
        v_middle = reference.v - 0.5 * h * reference.a
        v_next = self.model.difference(q_now, reference.q) / h
        # No motion with accelerations as at these three samples changes its velocity by more.
        most = h * (a_before + a_now + np.abs(reference.a)) + 1e-9
        goes_on = np.maximum(np.abs(v_next - v_middle), np.abs(v_next - v_now)) <= most
        v_next = np.where(goes_on, v_next, v_middle)
        now.q[:] = np.where(goes_on, q_now, reference.q - h * v_middle)
        now.v[:] = np.where(goes_on, v_now, reference.v - h * reference.a)
        now.a[:] = np.where(goes_on, (v_next - v_now) / h, reference.a)
        now.effort[:] = reference.effort + h * self.model.damping * now.a
        command, law_state = self.law(law_state, measured, now, dt)
        size = np.abs(reference.a)
        return command, MotionState(reference.q.copy(), v_next, a_now, size, law_state)
