"""Guard: notices torque or force that the model does not predict; stops, retracts or floats."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.law import Law, LawAdapter, State
from arm_controllers.measurement import Measurement
from arm_controllers.momentum import momentum, predicted_momentum
from arm_controllers.reference import Reference
from arm_controllers.stopping import stopping_times
from arm_controllers.task_space import TaskSpace
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays
from arm_dynamics.small_matrices import times, transposed

# Nothing is a step before the observer has settled: this many of its time constants.
_SETTLING = 8.0
_SAMPLE, _SAMPLES = 0.02, 50  # of the recent path: period [s] and number
_LEAST_RETRACTION = 0.5  # time [s]
_FASTEST = 1.875  # greatest slope of a rest-to-rest quintic


class GuardState(NamedTuple):
    """Memory of the guard.

    Attributes:
        law: of the guarded law.
        predicted: (..., n) momentum that the model predicts [N.m.s | N.s].
        residual: (..., n) r, the unexpected torque [N.m | N].
        mean: (..., n) its mean over step_time [N.m | N].
        force: (..., 1) at the force-torque sensor [N].
        age: (..., 1) time since the start [s].
        since: (..., 1) time since the detection [s]; -1: there was none.
        q, v: (..., n) state at the detection [rad | m], [rad/s | m/s].
        braking: (..., n) duration of the stop [s].
        path: (..., k, n) recent positions, the oldest first [rad | m].
        back: (..., 1) number of its samples to go back; -1: not known yet.
    """

    law: State
    predicted: Array
    residual: Array
    mean: Array
    force: Array
    age: Array
    since: Array
    q: Array
    v: Array
    braking: Array
    path: Array
    back: Array

    @property
    def way_back(self) -> Array:
        """Positions (..., k + 1, n): the one of rest, then the recent path backwards."""
        rest = self.q + 0.5 * self.v * self.braking
        return np.concatenate([rest[..., np.newaxis, :], self.path[..., ::-1, :]], axis=-2)


class Guard(LawAdapter):
    """A law that follows its reference until the arm collides.

    The observer of the generalised momentum gives the unexpected torque r: what acts on the
    joints beyond the law's own effort, the model and its friction. A collision is |r| above
    `threshold`, |r - mean(r)| above `step_threshold`, where the mean follows r with the time
    constant `step_time`, or a force at the wrist above `force`. A number that is not finite is a
    collision. The guard stays in its reaction until it starts again.

    Sources: De Luca and Mattone, ICRA 2005; Haddadin, De Luca, Albu-Schaeffer, IEEE Trans.
    Robotics 33(6), 2017.
    """

    def __init__(self, law: Law, parameters: GuardParameters):
        """Take a law that commands effort.

        Raises:
            ArmError: it commands something else; nothing is watched.
        """
        super().__init__(law, f'guard.reaction is {parameters.reaction!r}')
        p = self.parameters = with_arrays(parameters, law.model.joint_names)
        if not (p.threshold.any() or p.step_threshold.any() or p.force):
            raise ArmError(
                f'guard.reaction is {p.reaction!r}, but guard.threshold, guard.step_threshold and '
                'guard.force are 0: nothing is watched; `examples/guard_thresholds.py '
                '--robot ROBOT` computes thresholds'
            )
        if parameters.kind[1] and 'wrench' not in law.needs:
            self.needs = (*law.needs, 'wrench')
        self._limits: Array = np.array([p.threshold, p.step_threshold])
        self._limits[self._limits == 0.0] = np.inf
        self._sensor, self.guard = TaskSpace(self.model, self.model.tool_carrier), self

    def watch_as(self, other: 'Guard') -> None:
        """Take the parameters of a guard of the same kind; the memory goes on."""
        self.parameters, self._limits = other.parameters, other._limits

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return a memory without a collision."""
        q, v = measured.q, measured.v
        path = np.repeat(q[..., np.newaxis, :], _SAMPLES, axis=-2)
        path = path if self.parameters.reaction == 'retract' else path[..., :0, :]
        zero, none = np.zeros_like(q), np.zeros((*q.shape[:-1], 1))
        law, now = self.law.start(measured, reference), momentum(self.model, q, v)
        return GuardState(
            law, now, zero, zero, none, none, none - 1.0, q, v, zero, path, none - 1.0
        )

    def resumed(self, state: State) -> State | None:
        """Go on where the guarded law does."""
        before = GuardState(*state)
        law = self.law.resumed(before.law)
        return None if law is None else before._replace(law=law)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the law's effort (..., n) [N.m | N], or that of the reaction."""
        p, q, v = self.parameters, measured.q, measured.v
        state = self._observed(GuardState(*state), measured, dt)
        if p.reaction == 'retract':
            state = self._on_path(state, q, dt)
        reacts = state.since >= 0.0
        if reacts.any() and p.reaction != 'float':
            reference = self._planned(state, reference, reacts, dt)
        tau, law = self.law(state.law, measured, reference, dt)
        if reacts.any() and p.reaction == 'float':
            fading = self.model.gravity_torque(q) - momentum(self.model, q, v) / p.float_time
            tau = np.where(reacts, fading, tau)
        limit = self.model.effort_limit
        effort = np.minimum(np.maximum(tau, -limit), limit) + state.residual
        predicted = predicted_momentum(self.model, state.predicted, q, v, effort, dt)
        since = np.where(reacts, state.since + dt, state.since)
        return tau, state._replace(law=law, predicted=predicted, age=state.age + dt, since=since)

    def collision(self, state: State) -> str:
        """Return what one arm has collided with, as text in the period of the detection.

        '': there was no collision.
        """
        state = GuardState(*state)
        if state.since[0] < 0.0:
            return ''
        with np.errstate(invalid='ignore'):
            share = self._sizes(state) / self._limits
        share[np.isnan(share)] = np.inf
        k, joint = np.unravel_index(share.argmax(), share.shape)
        if share[k, joint] <= 1.0:
            return (
                f'collision: the force at the wrist is {state.force[0]:.4g} N, '
                f'guard.force is {self.parameters.force:g} N'
            )
        what, limit = (
            ('unexpected torque', 'threshold'),
            ('change of the unexpected torque', 'step_threshold'),
        )[k]
        return (
            f'collision: the {what} at joint {self.model.joint_names[joint]!r} is '
            f'{self._sizes(state)[k, joint]:.4g}, guard.{limit} is {self._limits[k, joint]:.4g}'
        )

    def _sizes(self, state: GuardState) -> Array:
        """Return |r| and |r - mean(r)|, (2, ..., n)."""
        return np.abs(np.array([state.residual, state.residual - state.mean]))

    def _observed(self, state: GuardState, measured: Measurement, dt: float) -> GuardState:
        """Return the memory with this period's residuals, and with what has just collided."""
        p, q, v = self.parameters, measured.q, measured.v
        predicted = state.predicted
        if p.tool_contact:  # what the sensor felt in the last period
            predicted = predicted + dt * self._of_tool(measured)
        r = p.observer_gain * (momentum(self.model, q, v) - predicted)
        mean = state.mean + min(1.0, dt / p.step_time) * (r - state.mean)
        mean = np.where(p.observer_gain * state.age < _SETTLING, r, mean)
        state = state._replace(predicted=predicted, residual=r, mean=mean)
        limits = self._limits.reshape(2, *(1,) * (q.ndim - 1), -1)
        hit = ~(self._sizes(state) <= limits).all(axis=0).all(axis=-1, keepdims=True)
        if p.force and measured.wrench is not None:
            force = np.linalg.norm(measured.wrench[..., :3], axis=-1, keepdims=True)
            state, hit = state._replace(force=force), hit | ~(force <= p.force)
        hit &= state.since < 0.0
        if not hit.any():
            return state
        braking = stopping_times(self.model, q, v, p.deceleration)
        return state._replace(
            since=np.where(hit, 0.0, state.since),
            q=np.where(hit, q, state.q),
            v=np.where(hit, v, state.v),
            braking=np.where(hit, braking, state.braking),
        )

    def _of_tool(self, measured: Measurement) -> Array:
        """Return the torque (..., n) of what the force-torque sensor feels."""
        space = self._sensor
        wrench = space.wrench(measured, space.motion(measured))
        return times(transposed(space.jacobian(measured)), wrench)

    def _planned(
        self, state: GuardState, reference: Reference, reacts: NDArray[np.bool_], dt: float
    ) -> Reference:
        """Return the reference with the reaction for the arms that react, now and later."""

        def at(desired: Reference, later: float) -> Reference:
            mixed = desired.copy()
            q, v, a = self._motion(state, state.since + later)
            for row, planned in ((mixed.q, q), (mixed.v, v), (mixed.a, a), (mixed.effort, 0.0)):
                row[:] = np.where(reacts, planned, row)
            if desired.wrench is not None:
                mixed.wrench = np.where(reacts, 0.0, desired.wrench)
            return mixed

        now = at(reference, 0.0)
        now.future = lambda periods: at(reference.ahead(periods), periods * dt)
        return now

    def _motion(self, state: GuardState, since: Array) -> tuple[Array, Array, Array]:
        """Return position, velocity, acceleration (..., n) some time after the detection."""
        duration = state.braking
        rate = np.divide(state.v, duration, out=np.zeros_like(duration), where=duration > 0.0)
        s, moves = np.minimum(since, duration), since < duration
        q = state.q + (state.v - 0.5 * rate * s) * s
        v, a = np.where(moves, state.v - rate * s, 0.0), np.where(moves, -rate, 0.0)
        if self.parameters.reaction != 'retract':
            return q, v, a
        since = since - duration.max(axis=-1, keepdims=True)
        back = np.maximum(state.back, 0.0)
        duration = _FASTEST * _SAMPLE * back + _LEAST_RETRACTION
        s = np.clip(since / duration, 0.0, 1.0)
        share = s * s * s * (10.0 - 15.0 * s + 6.0 * s**2)
        rate, change = 30.0 * (s * (1.0 - s)) ** 2, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        place, slope, bend = _on_spline(state.way_back, back * share)
        u_rate, u_change = back * rate / duration, back * change / duration**2
        goes = state.back >= 0.0
        return (
            np.where(goes, place, q),
            np.where(goes, slope * u_rate, v),
            np.where(goes, bend * u_rate**2 + slope * u_change, a),
        )

    def _on_path(self, state: GuardState, q: Array, dt: float) -> GuardState:
        """Return the memory with the newest sample of the path, and with the way to go back."""
        stopped = state.since >= state.braking.max(axis=-1, keepdims=True)
        stopped &= state.since >= 0.0
        if round(float(state.age.flat[0]) / dt) % max(round(_SAMPLE / dt), 1) == 0:
            path = np.concatenate([state.path[..., 1:, :], q[..., np.newaxis, :]], axis=-2)
            path = np.where(stopped[..., np.newaxis], state.path, path)
            state = state._replace(path=path)
        begins = stopped & (state.back < 0.0)
        if not begins.any():
            return state
        samples = _samples_back(self.model, state.way_back, self.parameters.retract_distance)
        return state._replace(back=np.where(begins, samples, state.back))


def _samples_back(model: RobotModel, way: Array, distance: float) -> Array:
    """Return the number of samples (..., 1) of a way (..., k, n) for a distance of the tip [m]."""
    still = np.zeros_like(way[..., 0, :])
    places = np.stack(
        [
            model.frame_motion(np.ascontiguousarray(each), still, still).position
            for each in np.moveaxis(way, -2, 0)
        ],
        axis=-2,
    )
    lengths = np.linalg.norm(np.diff(places, axis=-2), axis=-1)
    left = distance - (np.cumsum(lengths, axis=-1) - lengths)
    samples: Array = np.clip(left / np.maximum(lengths, 1e-12), 0.0, 1.0).sum(-1, keepdims=True)
    return samples


def _on_spline(points: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return value, slope, and bend (..., n) at u (..., 1) of the quadratic B-spline.

    The spline begins at the first of the points (..., k, n) and ends halfway before the last one.
    """
    points = np.concatenate([points[..., :1, :], points], axis=-2)
    first = np.clip(np.floor(u), 0, points.shape[-2] - 3)
    f, index = u - first, first.astype(int)[..., np.newaxis]
    a, b, c = (np.take_along_axis(points, index + k, axis=-2)[..., 0, :] for k in range(3))
    value = 0.5 * ((1.0 - f) ** 2 * a + (1.0 + 2.0 * f * (1.0 - f)) * b + f**2 * c)
    return value, (1.0 - f) * (b - a) + f * (c - b), a - 2.0 * b + c
