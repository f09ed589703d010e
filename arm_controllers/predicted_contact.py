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


class Pressing(NamedTuple):
    """Memory of a wrench goal.

    Attributes:
        contact: of the tool.
        force: (..., 3) that the tool is to exert now [N].
        felt: (..., 3) measured force on the tool in the directions of the goal [N].
        integral: (..., 3) of the force error, times force_ki, which fades out of contact [N].
        known: (..., 3) force on the tool that is no disturbance: `felt`, and friction at rest [N].
        torque: (..., n) that `known` exerts on the joints, mean of two periods [N.m | N].
    """

    contact: Contact
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
    n.x_d' is the speed of the approach, with which the tip also returns after the goal.
    """

    def __init__(self, model: RobotModel, nodes: Any, parameters: Any):
        """Take the model of a law, one for many nodes (BatchModel), and the law's parameters.

        Raises:
            ArmError: no such frame.
        """
        self._model, self._p = nodes, parameters
        self._space = TaskSpace(model, parameters.frame, parameters.wrench_frame)
        still = np.zeros((1, model.nv))
        nodes.frame_motion(still, still, still, self._space.frame)  # compiles before a deadline

    def feel(
        self, before: Pressing | tuple[()], measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Pressing, Touch]:
        """Return the memory of this period.

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
        rise = np.clip(contact.age / p.rise_time, 0.0, 1.0)
        goal = rise * (reference.wrench[..., :3] + 0.0 * felt)
        along = contact.normal * (felt * contact.normal).sum(-1, keepdims=True)
        sideways = np.zeros_like(felt)
        if touch.sides is not None:
            sideways = times(touch.sides, goal)
            along = along + times(touch.sides, felt)
        down = np.linalg.norm(goal - sideways, axis=-1, keepdims=True)
        force = sideways - contact.normal * down
        integral = np.where(touch.kept, before.integral if before else 0.0, 0.0)
        grown, faded = dt * p.force_ki * (force + along), integral * np.exp(-p.force_ki * dt)
        integral = np.where(touch.touches, integral + grown, faded)
        known = felt - moving * (felt - along)
        mean = 0.5 * (before.known + known) if before else np.zeros_like(felt)
        back = transposed(space.jacobian(measured)[..., :3, :])
        return Pressing(contact, force, along, integral, known, times(back, mean)), touch

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
        age, speed = each(pressing.contact.age, 1), each(pressing.contact.approach, 1)
        force = each(pressing.force, 3)

        target = model.frame_motion(rows[:, :, 0], rows[:, :, 1], rows[:, :, 2], frame)
        change = each((pressing.force + pressing.felt) / p.contact_stiffness, 3)
        change = np.where(age < 0.0, 0.0, change)
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


def _with(linear: Array, both: Array) -> Array:
    """Return (..., 6) with this linear part (..., 3)."""
    return np.concatenate([linear, both[..., 3:]], axis=-1)


def _solved(square: Array, back: Array, task: Array) -> Array:
    return solve_positive(square, times(back, task)[..., np.newaxis])[..., 0]
