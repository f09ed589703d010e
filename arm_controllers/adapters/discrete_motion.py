"""The reference as an arm that moves in steps can follow it to the last digit."""

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array

MOTIONS = ('continuous', 'discrete')


class DiscreteMotion(Law):
    """A law whose reference is the motion of samples: q_r with its differences for v and a.

    Simulated arms step by v+ = v + h a, q+ = q + h v+ (semi-implicit Euler). Such an arm is at
    the samples q_r(k), each h [s] after the one before, if and only if

        v(k) = (q_r(k) - q_r(k - 1))/h,   a(k) = (v(k + 1) - v(k))/h.

    The derivatives of the continuous reference are another motion: v differs by a h/2, and a law
    with the exact model is off by kd/kp of that. With the differences its error is nothing.
    The arm's damping D acts at a step's end, as in MuJoCo's implicitfast: h D a is added to the
    effort. Where the reference jumps, its own derivatives count.
    """

    lookahead = 1

    def __init__(self, law: Law):
        """Take a law that commands torques for the reference at hand.

        Raises:
            ArmError: it commands something else, or looks ahead.
        """
        if law.command_interface != 'effort' or law.lookahead:
            what = law.command_interface
            what = f'{law.lookahead} periods ahead' if what == 'effort' else what
            raise ArmError(
                "reference_motion is 'discrete'; that is for laws that command effort for the "
                f"reference at hand, not {what} (servo has feedforward 'discrete')"
            )
        self.law, self.model = law, law.model
        self.reset(np.zeros(law.model.nv), np.zeros(law.model.nv))

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v (..., n), and so is the reference."""
        self.law.reset(q, v)
        self._reference = Reference(q.shape[-1], q.shape[:-1])
        self._last = q.copy(), v.copy(), np.zeros_like(q), np.zeros_like(q)

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (..., n) of the law; `reference` is that of the next sample."""
        now, h = self._reference, dt
        q_now, v_now, a_before, a_now = self._last
        own = reference.v - 0.5 * h * reference.a
        v_next = self.model.difference(q_now, reference.q) / h
        # No motion with accelerations as at these three samples changes its velocity by more.
        most = h * (a_before + a_now + np.abs(reference.a)) + 1e-9
        goes_on = np.maximum(np.abs(v_next - own), np.abs(v_next - v_now)) <= most
        v_next = np.where(goes_on, v_next, own)
        now.q[:] = np.where(goes_on, q_now, reference.q - h * own)
        now.v[:] = np.where(goes_on, v_now, reference.v - h * reference.a)
        now.a[:] = np.where(goes_on, (v_next - v_now) / h, reference.a)
        now.effort[:] = reference.effort + h * self.model.damping * now.a
        self._last = reference.q.copy(), v_next, a_now, np.abs(reference.a)
        return self.law(q, v, now, dt)


def following(law: Law, motion: str) -> Law:
    """Return the law with the reference's motion as one of MOTIONS.

    Raises:
        ArmError: see DiscreteMotion.
    """
    return DiscreteMotion(law) if motion == 'discrete' else law
