"""A contact in a prediction: what a wrench goal makes of the reference over a horizon."""

from typing import Any, NamedTuple

import numpy as np

from arm_controllers.contact import Contact, Touch, across, next_contact, pace
from arm_controllers.measurement import HOW_TO_MEASURE, Measurement
from arm_controllers.reference import Reference
from arm_controllers.task_space import TaskSpace, pose_error
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.frames import FrameMotion
from arm_dynamics.model import RobotModel
from arm_dynamics.small_matrices import product, solve_positive, times, transposed

_ITERATIONS = 3  # of the inverse kinematics; each squares the error
_DAMPING = 1e-6  # of its steps [m^2]
_LOSS = 0.05  # time in which the force falls where the contact is lost [s]
_FELT = 0.5  # share of the force that is felt in a contact
_HELD = 0.9  # share of the effort limits that a force at rest may need


class Pressing(NamedTuple):
    """Memory of a wrench goal.

    Attributes:
        contact: of the tool.
        goal: (..., 3) force of the goal as far as it has risen, see _risen [N].
        force: (..., 3) that the tool is to exert now [N].
        felt: (..., 3) measured force on the tool in the directions of the goal [N].
        integral: (..., 3) of the force error, times force_ki, which fades out of contact [N].
        known: (..., 3) force on the tool that is no disturbance: `felt`, and friction at rest [N].
        torque: (..., n) that `known` exerts on the joints, mean of two periods [N.m | N].
    """

    contact: Contact
    goal: Array
    force: Array
    felt: Array
    integral: Array
    known: Array
    torque: Array


class PredictedContact:
    """The tip on a surface: where the contact has the desired force, seen from where the tip is.

    With the stiffness k of the contact, the force along the normal n changes by -k n.dx with the
    tip's place x. A reference for the force f_d is one for the place

        n.x_d = n.x + (f - f_d) / k,  n.x_d' = 0,

    so that a cost of the position's error is one of the force's error over k. Along the
    surface the reference stays as it is, seen along the desired force. Before the first contact
    n.x_d' is the speed of the approach, with which the tip also returns after the goal. Where the
    contact is lost the force falls to what moves a free tip with this speed.
    """

    def __init__(self, model: RobotModel, nodes: RobotModel, parameters: Any):
        """Take the model of a law, one for many nodes (BatchModel), and the law's parameters.

        Raises:
            ArmError: no such frame.
        """
        self._arm, self._model, self._p = model, nodes, parameters
        self._space = TaskSpace(model, parameters.frame, parameters.wrench_frame)

    def feel(
        self,
        before: Pressing | tuple[()],
        measured: Measurement,
        reference: Reference,
        inertia: Array,
        lacked: Array,
        dt: float,
    ) -> tuple[Pressing, Touch]:
        """Return the memory of this period.

        Args:
            before: the memory; (): the goal begins.
            measured, reference: of this period.
            inertia: mass matrix (..., n, n).
            lacked: torque (..., n) that the model lacks [N.m | N].
            dt: [s].

        Raises:
            ArmError: there is no force-torque sensor.
        """
        if measured.wrench is None:
            raise ArmError(f'a wrench goal needs wrench: {HOW_TO_MEASURE["wrench"]}')
        assert reference.wrench is not None  # there is a goal
        space, p = self._space, self._p
        tip = space.motion(measured)
        felt = space.wrench(measured, tip)[..., :3]
        contact = before.contact if before else Contact.none(measured.q.shape[:-1])
        speed, moving = tip.velocity[..., :3], pace(space.target(reference))
        contact, touch = next_contact(p, contact, reference, felt, speed, moving, dt)
        along = contact.normal * (felt * contact.normal).sum(-1, keepdims=True)
        if touch.sides is not None:
            along = along + times(touch.sides, felt)
        back = transposed(space.jacobian(measured)[..., :3, :])
        zero = np.zeros_like(felt)
        goal = np.where(touch.kept, before.goal if before else zero, zero)
        # What a faster tool feels is its own inertia.
        holds = touch.touches & (_dot(-along, goal) >= _FELT * _dot(goal, goal))
        push = times(back, contact.normal)
        free = solve_positive(inertia, push[..., np.newaxis])[..., 0] / p.kd  # speed for 1 N
        wanted = self._held(measured, back, reference.wrench[..., :3], lacked)
        least = np.where(holds, np.inf, p.approach_speed / np.maximum(_dot(push, free), 1e-12))
        touched = contact.age >= 0.0
        goal = _risen(goal, wanted, np.where(touched, least, 0.0), p.rise_time, dt)
        sideways = zero if touch.sides is None else times(touch.sides, goal)
        down = np.linalg.norm(goal - sideways, axis=-1, keepdims=True)
        force = sideways - contact.normal * down
        integral = np.where(touch.kept, before.integral if before else 0.0, 0.0)
        grown, faded = dt * p.force_ki * (force + along), integral * np.exp(-p.force_ki * dt)
        integral = np.where(holds, integral + grown, faded)
        known = felt - moving * (felt - along)
        mean = 0.5 * (before.known + known) if before else zero
        torque = times(back, mean)
        return Pressing(contact, goal, force, along, integral, known, torque), touch

    def _held(self, measured: Measurement, back: Array, force: Array, lacked: Array) -> Array:
        """Return what of a force (..., 3) the drives can hold at rest here."""
        model, q = self._arm, measured.q
        rest = model.inverse_dynamics(q, np.zeros_like(q), np.zeros_like(q)) - lacked
        torque = times(back, force + np.zeros_like(q[..., :1]))
        spare = np.maximum(_HELD * model.effort_limit - np.sign(torque) * rest, 0.0)
        shares = spare / np.maximum(np.abs(torque), 1e-9)
        return force * np.minimum(shares.min(-1, keepdims=True), 1.0)

    def follow(
        self,
        pressing: Pressing,
        touch: Touch,
        q: Array,
        times_of_nodes: Array,
        rows: Array,
    ) -> Array:
        """Let the reference follow the surface; return the torques (M, N + 1, n) of the force.

        Args:
            pressing, touch: of this period.
            q: (..., n) positions of M arms at the first node.
            times_of_nodes: (N + 1,) from the first node on [s].
            rows: (M, N + 1, 4, n) q, v, a of the reference, which become those on the surface.
        """
        model, p, frame = self._model, self._p, self._space.frame
        m = len(rows)

        def each(array: Array, *shape: int) -> Array:
            return array.reshape(m, 1, *shape)

        here = each(model.poses(q, frame)[1], 3)
        normal, expected = each(pressing.contact.normal, 3), each(touch.expected, 3)
        speed, force = each(pressing.contact.approach, 1), each(pressing.force, 3)

        target = model.frame_motion(rows[:, :, 0], rows[:, :, 1], rows[:, :, 2], frame)
        change = each((pressing.force + pressing.felt) / p.contact_stiffness, 3)
        change = np.where(touch.touches.reshape(m, 1, 1), change, 0.0)
        place = here + change - normal * speed * times_of_nodes[:, np.newaxis]
        share = (expected * normal).sum(-1, keepdims=True)
        slope = expected / np.where(share > 0.0, share, 1.0)
        deep = (place * normal).sum(-1, keepdims=True)
        x = across(target.position, normal, expected) + slope * deep
        v = across(target.velocity[..., :3], normal, expected) - slope * speed
        a = across(target.acceleration[..., :3], normal, expected)
        if touch.sides is not None:
            sides = np.broadcast_to(each(touch.sides, 3, 3), (*rows.shape[:2], 3, 3))
            x, v, a = x + times(sides, place - x), v - times(sides, v), a - times(sides, a)
        back = self._on(
            FrameMotion(
                target.rotation, x, _with(v, target.velocity), _with(a, target.acceleration)
            ),
            rows,
        )
        return times(back[..., :3], np.broadcast_to(force + each(pressing.integral, 3), x.shape))

    def returned(
        self, left: Array, measured: Measurement, t: Array, dt: float, target: Array
    ) -> Array | tuple[()]:
        """Let a target begin where a goal has left the arm; return what is left a period later.

        Args:
            left: (..., n) reference minus the arm; fades with the speed of the approach.
            measured: the arm.
            t: (N,) times between the nodes [s].
            dt: [s].
            target: (M, 3, N + 1, n) q, v, a at the nodes, which become those of the return.
        """
        tip = times(self._space.jacobian(measured)[..., :3, :], left)
        size = np.linalg.norm(tip, axis=-1, keepdims=True)
        duration = np.maximum(size / self._p.approach_speed, dt)
        each, lasts = left.reshape(-1, 1, left.shape[-1]), duration.reshape(-1, 1, 1)
        share = 1.0 - np.concatenate([[0.0], np.cumsum(t)])[:, np.newaxis] / lasts
        target[:, 0] -= np.maximum(share, 0.0) * each
        target[:, 1] += (share > 0.0) * each / lasts
        rest = np.maximum(1.0 - dt / duration, 0.0) * left
        return rest if rest.any() else ()

    def _on(self, target: FrameMotion, rows: Array) -> Array:
        """Let the rows have the motion of a frame; return J^T (M, N + 1, n, 6)."""
        model, frame = self._model, self._space.frame
        q, v, a = rows[:, :, 0], rows[:, :, 1], rows[:, :, 2]
        damping = _DAMPING * np.eye(model.nv)
        for step in range(_ITERATIONS + 1):
            jacobian = model.jacobian(q, frame)
            back = transposed(jacobian)
            square = product(back, jacobian) + damping
            if step < _ITERATIONS:
                turn, place = model.poses(q, frame)
                here = target._replace(rotation=turn, position=place)
                q += _solved(square, back, pose_error(target, here))
        v += _solved(square, back, target.velocity - times(jacobian, v))
        acceleration = model.frame_motion(q, v, a, frame).acceleration
        a += _solved(square, back, target.acceleration - acceleration)
        return back


def _risen(
    before: Array, wanted: Array, most: Array, rise_time: float | Array, dt: float
) -> Array:
    """Return the force (..., 3) of the goal as far as it has risen, of at most `most` (..., 1).

    It goes to what is wanted within `rise_time`, and falls to `most` within _LOSS.
    """
    size, now = (np.linalg.norm(each, axis=-1, keepdims=True) for each in (wanted, before))
    goal = wanted * np.minimum(1.0, most / np.maximum(size, 1e-9))
    way = np.linalg.norm(goal - before, axis=-1, keepdims=True)
    rate = np.maximum(size, now) / np.where(now > most, _LOSS, rise_time)
    return before + (goal - before) * np.minimum(1.0, dt * rate / np.maximum(way, 1e-9))


def _dot(one: Array, other: Array) -> Array:
    return (one * other).sum(-1, keepdims=True)


def _with(linear: Array, both: Array) -> Array:
    """Return (..., 6) with this linear part (..., 3)."""
    return np.concatenate([linear, both[..., 3:]], axis=-1)


def _solved(square: Array, back: Array, task: Array) -> Array:
    return solve_positive(square, times(back, task)[..., np.newaxis])[..., 0]
