"""One arm, its time and its brake: what the simulator node runs."""

from collections.abc import Callable
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, all_finite, finite
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import MotorConstants
from arm_sim.plants.plant import Plant, PlantParameters

# An arm slower than this is at rest [rad/s | m/s].
REST_SPEED = 1e-3
# How far ahead of simulated time a wrench may be stamped [s].
LATEST_PUSH = 3600.0


class PhysicsDivergedError(ArmError):
    """The integration left the finite numbers: step too long or gains too high for it."""


class Brake:
    """The plant's own brake: speed decays as v(t) = v(0) exp(-rate t), then the arm is held.

    The hold point is where that decay ends, q + v/rate, and the demanded acceleration is
    a = rate^2 (hold - q) - 2 rate v, the critically damped law whose free motion from q, v is just
    that decay. The torque is inverse dynamics of a, within the effort limits; a servo gets the
    position command with that torque, drive damping at the step's end included.
    """

    def __init__(self, model: RobotModel, parameters: PlantParameters, rate: float = 10.0):
        """`rate` [1/s] of the speed's decay."""
        self._model = model
        self._actuator = parameters.actuator
        self._kp, self._kd = parameters.servo_gains(model)
        self._limit = parameters.effort_limit(model)
        self._step = parameters.timestep
        self._rate = rate
        self._hold = model.neutral()
        self._motors: MotorConstants | None = None
        if parameters.actuator == 'voltage':
            self._motors = parameters.constants(model.joint_names)  # type: ignore[attr-defined]

    def start(self, q: Array, v: Array) -> None:
        """Begin to brake from the state q, v."""
        lower, upper = self._model.position_lower, self._model.position_upper
        self._hold = np.clip(q + v / self._rate, lower, upper)

    def command(self, q: Array, v: Array) -> Array:
        """Return the plant command (n,): torque, or what gives it to a servo or a motor."""
        a = self._rate**2 * self._model.difference(q, self._hold) - 2.0 * self._rate * v
        tau = np.clip(self._model.inverse_dynamics(q, v, a), -self._limit, self._limit)
        if self._actuator == 'torque':
            return tau
        if self._motors is not None:
            return self._motors.voltage(tau, v)
        return q + (tau + self._kd * (v + self._step * a)) / self._kp


class Simulation:
    """A plant that is always under somebody's command: a controller's or its own brake's.

    Attributes:
        plant: the arm.
        time_ns: simulated time of the present state [ns].
        steps: control periods since the last reset.
        braking: True while nobody commands.
        saturated_samples: control periods in which some joint was at its effort limit.
    """

    def __init__(
        self,
        plant: Plant,
        model: RobotModel,
        initial_q: ArrayLike,
        initial_v: ArrayLike | None = None,
        swap: tuple[int, Plant] | None = None,
    ):
        """Put the arm at its initial state (n,), (n,), at rest by default, and brake it.

        At the time [ns] of `swap` its plant goes on from the state, as when a payload falls off.
        """
        self.plant = self._first_plant = plant
        self.model = model
        self.period_ns = plant.parameters.period_ns
        self._brake = Brake(model, plant.parameters)
        self._effort_limit = plant.parameters.effort_limit(model)
        self._zeros = np.zeros(len(self._effort_limit))
        self._initial_q = model.check_configuration(initial_q, 'initial_positions')
        moving = self._zeros if initial_v is None else initial_v
        self._initial_v = model.check_velocity(moving, 'initial_velocities')
        self._swap = [(swap[0], partial(self._go_on_with, swap[1]))] if swap else []
        self.reset()

    def reset(self) -> None:
        """Return to the initial state at time zero, braked; all wrenches end."""
        self.plant = self._first_plant
        self.plant.reset(self._initial_q, self._initial_v)
        self._events: list[tuple[int, Callable[[], None]]] = list(self._swap)
        self.time_ns = self.steps = self.saturated_samples = 0
        self.brake()

    def brake(self) -> None:
        """Take the arm from whoever commanded it; `advance(None)` then brings it to rest."""
        self.braking = True
        self._brake.start(self.plant.q, self.plant.v)

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves faster than REST_SPEED."""
        return bool(np.abs(self.plant.v).max() < REST_SPEED)

    def push(self, frame: str, wrench: ArrayLike, from_ns: int = 0) -> None:
        """Push on a frame, now or from a time to come, until told otherwise.

        Args:
            frame: name of a link.
            wrench: (6,) force [N] and torque [N.m] at the frame's origin, in axes that the frame
                has then; zeros end it.
            from_ns: simulated time [ns], no more than LATEST_PUSH ahead; what has passed is now.
        """
        self.model.frame_id(frame)
        wrench = finite('external_wrench', wrench, (6,))
        ahead = (from_ns - self.time_ns) * 1e-9
        if ahead > LATEST_PUSH:
            raise ArmError(
                f'external_wrench is stamped {ahead:.6g} s ahead of simulated time; allowed: '
                f'{LATEST_PUSH:g} s, or no stamp for now'
            )
        if ahead <= 0.0:
            self._apply(frame, wrench)
            return
        self._events.append((from_ns, partial(self._apply, frame, wrench)))
        self._events.sort(key=itemgetter(0))

    def _apply(self, frame: str, wrench: Array) -> None:
        rotation = self.model.forward_kinematics(self.plant.q, frame).rotation
        self.plant.apply_wrench(frame, (rotation @ wrench.reshape(2, 3).T).T.ravel())

    def _go_on_with(self, plant: Plant) -> None:
        plant.reset(self.plant.q, self.plant.v)
        self.plant = plant

    def advance(self, command: Array | None) -> None:
        """Go on by one control period under `command` (n,), or braked (None).

        A command that is not finite is refused, and nothing has moved; after a
        PhysicsDivergedError only `reset` helps.
        """
        while self._events and self._events[0][0] <= self.time_ns:
            self._events.pop(0)[1]()
        plant = self.plant
        if command is None:
            if not self.braking:
                self.brake()
            command = self._brake.command(plant.q, plant.v)
        else:
            if not all_finite(command, self._zeros):
                joint = int(np.flatnonzero(~np.isfinite(command))[0])
                raise ArmError(
                    f'joint {plant.joint_names[joint]!r}: {plant.command_interface} command '
                    f'{command[joint]} is not a finite number; the command is dropped'
                )
            self.braking = False
        plant.step(command)
        self.time_ns += self.period_ns
        self.steps += 1
        if np.count_nonzero(np.abs(plant.effort) >= self._effort_limit):
            self.saturated_samples += 1
        if not (all_finite(plant.q, self._zeros) and all_finite(plant.v, self._zeros)):
            bad = ~(np.isfinite(plant.q) & np.isfinite(plant.v))
            name = plant.joint_names[int(np.flatnonzero(bad)[0])]
            raise PhysicsDivergedError(
                f'joint {name!r}: physics diverged at t = {self.time_ns * 1e-9:.4f} s; reduce '
                f'timestep ({plant.parameters.timestep:g} s) or the gains, then reset'
            )
