"""Servoing of the tip: from twists, poses or joint velocities to a joint motion within limits.

One step of dt goes from the reference q, v to the next one, whose velocity is

    v' = s a + b,    a = J^+ V,    b = K J^+ e

with the commanded twist V, the pose error e of the tip from the line that V draws, and the
largest s <= 1 for which v' keeps every limit: the tip keeps its line and goes slower. J^+ is the
damped inverse W diag(sigma / (sigma^2 + lambda^2)) U^T of J = U diag(sigma) W^T, where lambda^2
grows from 0 at sigma = margin to (margin / 2)^2 + dt |V| r at a singularity (Nakamura and Hanafusa
1986): along the lost direction the tip slows down, along the others it continues. With the lever
r of the joints, over which sigma changes by r per radian at most, a step does not overshoot the
boundary, where the arm would shake. The column of a joint at a limit of position is removed from
J: its direction is lost, too.

The limits are a box for v': |v'| <= v_max, |v' - v| <= a_max dt, and the joint can still come to
rest before its limit. At a_max that takes n = ceil(|v'| / (a_max dt)) steps, so that

    q + (v + v') dt / 2 + n v' dt / 2 <= q_max.

The box always holds a v', for v' = v (n - 1) / n is in it: a limit that holds once always holds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array, JointLimitError
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter, with_arrays

_LEVER = 0.2  # translation that counts as much as a rotation by one radian [m]
FARTHEST = 0.01  # a tip farther from its line begins another line [m]
_SAME_LINE = 1e-3  # a twist in a direction that differs by more begins another line [rad]
_AT_LIMIT = 0.05  # share of a step's velocity change; slower than this, a joint is at its limit
_FOLLOWED = 0.03  # share of a twist from which its feasible part is a direction to follow
_MARGIN = 2.0  # largest velocity of a reference, by the limit
_LONGEST_STOP = 10.0  # [s]


@dataclass(frozen=True)
class TipServoParameters(Parameters):
    """Parameters of the servo."""

    period: float = parameter(0.02, 'period of the steps [s]', min=0.001, max=0.1)
    acceleration_limit: PerJoint = parameter(
        (10.0,), 'largest joint acceleration [rad/s^2 | m/s^2]', above=0
    )
    stop_time: float = parameter(
        0.08, 'time within which every joint can stop [s]', min=0.02, max=1.0
    )
    singularity_margin: float = parameter(
        0.05,
        'singular value of the Jacobian [m per rad of a joint] below which the inverse is damped',
        min=1e-4,
        max=1.0,
    )
    line_gain: float = parameter(
        10.0, 'gain with which the tip returns to its line [1/s]', min=0, max=50
    )


class TipReference(NamedTuple):
    """A reference of the joints.

    Attributes:
        q, v: (n,) position [rad | m] and velocity [rad/s | m/s].
    """

    q: Array
    v: Array


class TipServo:
    """The joint reference of an arm whose tip is commanded step by step.

    Attributes:
        q, v: (n,) the reference; between two steps v is linear in time.
        a_max, v_max: (n,) limits of acceleration and velocity.
        margin: singular values below it are damped.
        weights: (6,) of a twist: what counts as one metre.
    """

    def __init__(self, model: RobotModel, parameters: TipServoParameters):
        """Take an arm, whose tool frame is the tip."""
        p = with_arrays(parameters, model.joint_names)
        self.model, self.dt, self._p = model, p.period, p
        self.a_max = np.minimum(p.acceleration_limit, model.acceleration_limit)
        self.margin = p.singularity_margin
        self.v_max = np.minimum(model.velocity_limit, self.a_max * p.stop_time)
        self.weights = np.repeat([1.0, _LEVER], 3)
        self.start(model.neutral())

    def start(self, q: Array, v: Array | None = None, where: str = '') -> None:
        """Continue from another reference (n,), at rest or with a velocity (n,).

        Raises:
            JointLimitError: a joint is beyond a limit of position, or faster than twice its limit
                or than what can be braked within 10 s; nothing changes. `where`: for the message.
        """
        v = np.zeros(len(q)) if v is None else np.array(v, dtype=float)
        most = np.minimum(_MARGIN * self.model.velocity_limit, _LONGEST_STOP * self.a_max)
        for i in np.flatnonzero(~(np.abs(v) <= most)):
            name, prismatic = self.model.joint_names[i], self.model.prismatic[i]
            raise JointLimitError(name, 'velocity', v[i], -most[i], most[i], prismatic, where)
        self.q, self.v = self.model.check_configuration(q, where), v
        self._leave_line()

    def _leave_line(self) -> None:
        self._line: pin.SE3 | None = None  # its point nearest to the tip
        self._along = np.zeros(6)  # the twist that draws it

    def tip(self) -> pin.SE3:
        """Return the pose of the tip in the base frame."""
        return pin.SE3(self.model.forward_kinematics(self.q))

    def move(self, twist: Array) -> TipReference:
        """Move the tip with a twist (6,) [m/s, rad/s] in axes of the base; zero stops."""
        if not twist.any():
            return self.stop()
        if not self._same_line(twist):
            self._line, self._along = None, twist.copy()
        back = np.zeros(6)
        if self._line is not None:
            error, weighted = self.error(self._line), twist * self.weights**2
            along = (error @ weighted) / (twist @ weighted) * twist
            self._line = _moved(self._line, -along)
            back = error - along
            if np.linalg.norm(back * self.weights) > FARTHEST:
                self._line, back = None, np.zeros(6)
        v, kept = self._within_limits(twist, min(self._p.line_gain, 0.25 / self.dt) * back)
        self._take(v)
        if kept and self._line is None:  # the line begins where the tip follows the twist
            self._line = self.tip()
        return TipReference(self.q, self.v)

    def _same_line(self, twist: Array) -> bool:
        now, before = twist * self.weights, self._along * self.weights
        size = np.linalg.norm(now) * np.linalg.norm(before)
        return bool(now @ before > size * np.cos(_SAME_LINE))

    def left_out(self, twist: Array) -> Array:
        """Return the part (6,) of a twist in axes of the base that the joints do not give here.

        An arm of fewer than six joints lacks ways everywhere, others at a singularity.
        """
        jacobian = self.model.jacobian(self.q)
        return twist - jacobian @ (self._inverse(jacobian, twist) @ twist)

    def approach(self, target: pin.SE3) -> TipReference:
        """Move the tip towards a pose in the base frame, and come to rest there."""
        self._leave_line()
        twist = self.error(target) / (2.0 * self._p.stop_time)
        return self._take(self._within_limits(twist, np.zeros(6))[0])

    def move_joints(self, v: Array) -> TipReference:
        """Move the joints at velocities (n,)."""
        self._leave_line()
        return self._take(np.clip(v, *self._bounds()))

    def stop(self) -> TipReference:
        """Brake all joints together; those near a limit of position brake faster."""
        self._leave_line()
        return self._take(self._braked())

    def _braked(self) -> Array:
        steps = np.ceil((np.abs(self.v) / (self.a_max * self.dt)).max() - 1e-9)
        if steps <= 1.0:
            return np.zeros_like(self.v)
        return np.clip(self.v * (1.0 - 1.0 / steps), *self._bounds())

    def way_to_rest(self) -> list[TipReference]:
        """Return the references of braking from here to rest; nothing changes."""
        q, v, way = self.q, self.v, []
        while self.v.any():
            way.append(self._take(self._braked()))
        self.q, self.v = q, v
        return way

    def _take(self, v: Array) -> TipReference:
        self.q = self.q + (self.v + v) * (self.dt / 2)
        self.v = v
        return TipReference(self.q, self.v)

    def error(self, target: pin.SE3) -> Array:
        """Return the twist (6,) [m, rad] from the tip to a pose, in axes of the base."""
        tip = self.tip()
        turn = pin.log3(target.rotation @ tip.rotation.T)
        return np.concatenate([target.translation - tip.translation, turn])

    def _bounds(self) -> tuple[Array, Array]:
        """Return the box of the next velocities."""
        lower, upper = self._of_time()
        below, above = self._of_place()
        return np.maximum(lower, below), np.minimum(upper, above)

    def _of_time(self) -> tuple[Array, Array]:
        """Return the box within the limits of velocity and acceleration."""
        step = self.a_max * self.dt
        lower = np.minimum(np.maximum(-self.v_max, self.v - step), self.v + step)
        return lower, np.maximum(np.minimum(self.v_max, self.v + step), self.v - step)

    def _of_place(self) -> tuple[Array, Array]:
        """Return the box within the limits of position; braking can always keep it."""
        step = self.a_max * self.dt
        above = self._fastest(self.model.position_upper - self.q, self.v)
        below = -self._fastest(self.q - self.model.position_lower, -self.v)
        return np.minimum(below, self.v + step), np.maximum(above, self.v - step)

    def _fastest(self, distance: Array, v: Array) -> Array:
        """Return the largest next velocities (n,) that can stop within `distance` (n,)."""
        step = self.a_max * self.dt
        left = distance - v * (self.dt / 2)
        with np.errstate(invalid='ignore'):
            steps = np.floor(np.sqrt(np.maximum(2 * left / (step * self.dt), 0) + 0.25) - 0.5)
            return np.fmax(steps * step, 2 * left / (self.dt * (steps + 2)))

    def _within_limits(self, twist: Array, back: Array) -> tuple[Array, bool]:
        """Return the next velocity (n,), and whether an s keeps it within the box."""
        soon = self.q + self.v * self.dt  # v' is the velocity at the end of the step
        jacobian = self.model.jacobian(soon)
        most = np.linalg.norm(self.weights[:, None] * jacobian, axis=0) @ self.v_max
        if (speed := np.linalg.norm(twist * self.weights)) > most:  # no joint has more
            twist = twist * (most / speed)
        timed, placed = self._of_time(), self._of_place()
        held, least = np.zeros(len(self.v), dtype=bool), _AT_LIMIT * self.a_max * self.dt
        fixed, square = np.zeros_like(self.v), self.weights**2
        while True:
            free = np.where(held, 0.0, jacobian)
            inverse = self._inverse(free, twist + back)
            a = inverse @ twist
            # Back to the line, but not against the feasible part of the twist.
            follows = free @ a
            against = min((free @ (inverse @ back) * square) @ follows, 0.0)
            size = float(follows * square @ follows) + _FOLLOWED**2 * float(twist * square @ twist)
            target = back - against / max(size, 1e-12) * follows
            b = inverse @ (target - jacobian @ fixed) + fixed
            share = _largest_share(a, b, *timed)
            wanted = (self._nearest_share(a, b) if share is None else share) * a + b
            beyond = (wanted > placed[1] + 1e-12) | (wanted < placed[0] - 1e-12)
            # A joint at its limit is held, even where the others could slow down for it.
            beyond |= (np.abs(a) > 1e-12) & (np.where(a > 0.0, placed[1], -placed[0]) < least)
            beyond &= ~held
            if not beyond.any():
                break
            held |= beyond
            fixed = np.where(held, np.clip(wanted, *placed), 0.0)
        lower, upper = np.maximum(timed[0], placed[0]), np.minimum(timed[1], placed[1])
        share = _largest_share(a, b, lower - 1e-12, upper + 1e-12)
        if share is not None:
            return np.clip(share * a + b, lower, upper), True
        return np.clip(self._nearest_share(a, b) * a + b, lower, upper), False

    def _nearest_share(self, a: Array, b: Array) -> float:
        """Return the s in [0, 1] for which s a + b is nearest to the present velocity."""
        return float(np.clip((self.v - b) @ a / max(float(a @ a), 1e-12), 0.0, 1.0))

    def singular_values(self, q: Array) -> Array:
        """Return the weighted Jacobian's singular values, the largest first [m per rad or m]."""
        jacobian = self.model.jacobian(q)
        return np.linalg.svd(self.weights[:, None] * jacobian, compute_uv=False)

    def _inverse(self, jacobian: Array, twist: Array) -> Array:
        """Return the inverse (n, 6) for a twist, damped at singularities."""
        weights = self.weights
        weighted = weights[:, None] * jacobian
        u, sigma, wt = np.linalg.svd(weighted, full_matrices=False)
        lever = np.linalg.norm(weighted, axis=0).max()
        most = (self.margin / 2) ** 2 + self.dt * np.linalg.norm(weights * twist) * lever
        damping = np.maximum(1.0 - (sigma / self.margin) ** 2, 0.0) * most
        return (wt.T * (sigma / (sigma**2 + damping + 1e-15))) @ (u.T * weights)


def _largest_share(a: Array, b: Array, lower: Array, upper: Array) -> float | None:
    """Return the largest s <= 1 with lower <= s a + b <= upper, or None."""
    moves = np.abs(a) > 1e-12
    if ((b < lower) | (b > upper))[~moves].any():
        return None
    ends = np.array([(lower - b)[moves], (upper - b)[moves]]) / a[moves]
    least, most = ends.min(axis=0).max(initial=-np.inf), ends.max(axis=0).min(initial=1.0)
    return float(most) if least <= most else None


def _moved(pose: pin.SE3, by: Array) -> pin.SE3:
    """Return a pose moved by a displacement (6,) [m, rad] in axes of the base."""
    return pin.SE3(pin.exp3(by[3:]) @ pose.rotation, pose.translation + by[:3])


Command = Callable[[TipServo], TipReference]  # makes one step of a servo


class TipStream:
    """Steps a servo by the newest command of a stream.

    Attributes:
        servo: the servo.
    """

    def __init__(self, servo: TipServo, timeout: float):
        """Brake when the newest command is older than `timeout` [s]."""
        self.servo, self._timeout_ns = servo, round(timeout * 1e9)
        self._command: Command | None = None
        self._taken_ns = 0

    def take(self, command: Command | None, time_ns: int) -> None:
        """Take a command at a time [ns]; None ends the stream."""
        self._command, self._taken_ns = command, time_ns

    def commands(self, time_ns: int) -> bool:
        """Return whether a command counts at a time [ns]."""
        return self._command is not None and time_ns - self._taken_ns <= self._timeout_ns

    def step(self, time_ns: int) -> list[TipReference]:
        """Return the reference after the step that begins at a time [ns], and braking from there.

        Empty where the arm rests and no command counts.
        """
        if self._command is not None and self.commands(time_ns):
            step = self._command(self.servo)
        elif self.servo.v.any():
            step = self.servo.stop()
        else:
            return []
        return [step, *self.servo.way_to_rest()]
