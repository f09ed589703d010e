"""One arm, its time and its brake: what the simulator node runs."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, all_finite, finite
from arm_dynamics.model import RobotModel
from arm_sim.simulation.brake import Brake
from arm_sim.simulation.claims import Places
from arm_sim.simulation.faults import Fault
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.plant import Plant

# An arm slower than this is at rest [rad/s | m/s].
REST_SPEED = 1e-3
# After braking for this long [ns of simulated time] an arm counts as at rest, whatever pushes it.
_LONGEST_BRAKING = 5_000_000_000
# A joint faster than this is not one of an arm any more: the integration has failed.
_ABSURD_SPEED = 1e6  # [rad/s | m/s]
# Below this share of the effort limits (squared) no joint is looked at more closely.
_NEARLY_ALL = 0.99
_LEAST_EFFORT = 1e-9  # [N.m | N]
# A command of more than this multiple of the effort limit is named as the cause.
_ABSURD_EFFORT = 100.0


class PhysicsDivergedError(ArmError):
    """The integration left the finite numbers, or all that an arm can do."""


class Simulation:
    """An arm that a controller or its own brake always commands.

    Attributes:
        plant: the arm.
        time_ns: simulated time of the present state [ns].
        steps: control periods since the last reset.
        braking: whether the brake holds all joints, since no controller commands.
        unclaimed: (m,) places of the joints that the brake holds while controllers command the
            other joints; None: controllers command all joints.
        limits: bounds on speed and external wrenches; see `set_limits`.
        notice: a line for the user; the reader empties it.
        overspeed_samples: control periods in which a joint was too fast, and the arm was braked.
        saturated_samples: control periods in which some joint was at its effort limit.
    """

    def __init__(
        self,
        plant: Plant,
        model: RobotModel,
        initial_q: ArrayLike,
        initial_v: ArrayLike | None = None,
        swap: tuple[int, Plant] | None = None,
        limits: Limits | None = None,
    ):
        """Put the arm at its initial state (n,), (n,), at rest by default, and brake it.

        At the time [ns] of `swap` its plant goes on from the state, as when a payload falls off.
        """
        self.plant = self._first_plant = plant
        self.model = model
        self.period_ns = plant.parameters.period_ns
        self._brake = Brake(model, plant.parameters)
        self.set_limits(limits or Limits())
        self._effort_limit = plant.parameters.effort_limit(model)
        self._per_effort = 1.0 / np.maximum(self._effort_limit, _LEAST_EFFORT)
        self._zeros = np.zeros(len(self._effort_limit))
        self._initial_q = model.check_configuration(initial_q, 'initial_positions')
        moving = self._zeros if initial_v is None else initial_v
        self._initial_v = model.check_velocity(moving, 'initial_velocities')
        self._swap = [(swap[0], partial(self._go_on_with, swap[1]))] if swap else []
        self._events: list[tuple[int, Callable[[], None]]] = []
        self.unclaimed: Places | None = None
        self.reset()

    def reset(self, time: bool = True, state: bool = True) -> None:
        """Return to time zero, to the initial state (braked; all wrenches end), or to both.

        Time alone: what messages have announced for later is dropped. State alone: a payload that
        has fallen off stays off, and the next period is braked, because commands may still be for
        the state before.
        """
        if time and state:
            self.plant = self._first_plant
        if time:
            self._events = [] if self.payload_fell else list(self._swap)
            self.time_ns = self.steps = self.saturated_samples = self.overspeed_samples = 0
            self._brake_ns = 0
        self.plant.set_time(self.time_ns)
        if state:
            self.plant.reset(self._initial_q, self._initial_v)
            self.unclaimed = None
            self.notice, self._too_fast = '', False
            self.brake()
        self._ignores = state and not time

    @property
    def payload_fell(self) -> bool:
        """Whether the arm goes on as the plant of `swap`."""
        return self.plant is not self._first_plant

    def set_limits(self, limits: Limits) -> None:
        """Use these limits from now on."""
        self.limits = limits
        known = np.where(np.isfinite(self.model.velocity_limit), self.model.velocity_limit, 0.0)
        fastest = limits.speed_limit_factor * known
        bounded = (fastest > 0.0) & (fastest < _ABSURD_SPEED)
        self._per_speed = 1.0 / np.where(bounded, fastest, _ABSURD_SPEED)

    def brake(self) -> None:
        """Let the brake take all joints; `advance(None)` then brings them to rest."""
        self.braking, self._brake_ns = True, self.time_ns
        self._brake.start(*self.plant.motors)

    def brake_joints(self, joints: Places) -> None:
        """Let the brake take the joints at these places, while controllers command the others."""
        self._brake_ns = self.time_ns
        self._brake.start(*self.plant.motors, joints)

    @property
    def at_rest(self) -> bool:
        """Whether no joint moves faster than REST_SPEED."""
        return bool(np.abs(self.plant.v).max() < REST_SPEED)

    def can_be_claimed(self, joints: Places | slice = slice(None)) -> bool:
        """Whether joints are at rest, in their initial state, or were braked for 5 s."""
        begins = self.steps == 0 and np.array_equal(self.plant.v, self._initial_v)
        if begins or self.time_ns - self._brake_ns >= _LONGEST_BRAKING:
            return True
        return bool(np.abs(self.plant.v[joints]).max(initial=0.0) < REST_SPEED)

    def push(self, frame: str, wrench: ArrayLike, from_ns: int = 0) -> None:
        """Apply a wrench to a frame, now or from a later time on, until the next wrench.

        Args:
            frame: name of a link.
            wrench: (6,) force [N] and torque [N.m] at the frame's origin, in axes that the frame
                has then; zeros end it.
            from_ns: simulated time [ns]; what has passed is now.

        Raises:
            ArmError: no such frame, or a wrench beyond the limits.
        """
        self.model.frame_id(frame)
        wrench = finite('external_wrench', wrench, (6,))
        self.limits.check_wrench(wrench)
        self._at(from_ns, 'external_wrench', partial(self._apply, frame, wrench))

    def _apply(self, frame: str, wrench: Array) -> None:
        rotation = self.model.forward_kinematics(self.plant.q, frame).rotation
        self.plant.apply_wrench(frame, (rotation @ wrench.reshape(2, 3).T).T.ravel())

    def set_actuators(self, controls: Mapping[str, float], from_ns: int = 0) -> None:
        """Set controls of actuators of the MJCF, now or from a simulated time [ns] on.

        Raises:
            ArmError: as `Plant.set_actuator`; no control is set then.
        """
        for name, value in controls.items():
            self.plant.check_actuator(name, value)
        self._at(from_ns, 'actuator_commands', partial(self._set_actuators, controls))

    def _set_actuators(self, controls: Mapping[str, float]) -> None:
        for name, value in controls.items():
            self.plant.set_actuator(name, value)

    def _at(self, from_ns: int, topic: str, action: Callable[[], None]) -> None:
        """Do what a message asks, now or at a later time [ns]; refuse one too far ahead."""
        ahead = (from_ns - self.time_ns) * 1e-9
        self.limits.check_stamp(topic, ahead, len(self._events))
        if ahead <= 0.0:
            action()
            return
        self._events.append((from_ns, action))
        self._events.sort(key=itemgetter(0))

    def set_faults(self, faults: Sequence[Fault]) -> None:
        """Have these faults in place of all earlier ones; raises ArmError as `Plant.set_faults`.

        Those of negative time begin now.
        """
        for plant in {id(each): each for each in (self.plant, self._first_plant)}.values():
            plant.set_faults(faults, self.time_ns)

    def replace(self, plant: Plant) -> None:
        """Go on with another plant from the state as it is, and from the initial one later."""
        hold = self._brake.hold
        self._brake = Brake(self.model, plant.parameters)
        self._brake.hold = hold
        self._first_plant = plant
        self._go_on_with(plant)

    def _go_on_with(self, plant: Plant) -> None:
        plant.go_on_from(self.plant)
        self.plant = plant

    def advance(self, command: Array | None) -> None:
        """Go on by one control period under a command as `Plant.step` takes it, or braked (None).

        A command that is not finite is refused, and nothing has moved; after a
        PhysicsDivergedError only `reset` helps.
        """
        while self._events and self._events[0][0] <= self.time_ns:
            self._events.pop(0)[1]()
        plant, hold = self.plant, self.plant.step
        if self._ignores:
            command, self._ignores = None, False
        if command is None:
            if not self.braking:
                self.brake()
            command, hold = self._brake.command(*plant.motors), plant.brake
        else:
            if command.ndim == 1 and not all_finite(command, self._zeros):
                joint = int(np.flatnonzero(~np.isfinite(command))[0])
                name, interface = plant.joint_names[joint], plant.command_interfaces[joint]
                raise ArmError(
                    f'joint {name!r}: {interface} command {command[joint]} is not a '
                    'finite number; the command is dropped'
                )
            self.braking = False
            if self.unclaimed is not None:
                command = self._with_brake(command, self.unclaimed)
            if self._too_fast and self._is_too_fast():
                command, hold = self._slow_down(), plant.brake
        hold(command)
        self.time_ns += self.period_ns
        self.steps += 1
        share = plant.effort * self._per_effort
        if not share.dot(share) < _NEARLY_ALL and self._is_saturated():
            self.saturated_samples += 1
        speed = plant.v * self._per_speed
        if not (speed.dot(speed) <= 1.0 and all_finite(plant.q, self._zeros)):
            self._look_at_speed(np.abs(speed), command)

    def _is_saturated(self) -> bool:
        return bool((np.abs(self.plant.effort) >= self._effort_limit).any())

    def _with_brake(self, command: Array, held: Places) -> Array:
        """Return a command (n,) in which the brake commands the joints at these places."""
        plant, brake = self.plant, self._brake
        of_brake = brake.hold if plant.takes_goals else brake.command(*plant.motors, held)
        command = command.copy()
        command[held] = of_brake[held]
        return command

    def _look_at_speed(self, share: Array, command: Array) -> None:
        """Brake where a joint is too fast, by its share (n,) of what is allowed."""
        plant, names = self.plant, self.plant.joint_names
        bad = ~(np.isfinite(plant.q) & (np.abs(plant.v) < _ABSURD_SPEED))
        if bad.any():
            raise PhysicsDivergedError(
                f'joint {names[bad.argmax()]!r}: physics diverged at t = '
                f'{self.time_ns * 1e-9:.4f} s; {self._cause(command)}, then reset'
            )
        joint = int(share.argmax())
        if share[joint] <= 1.0 or self._too_fast:
            return
        self._too_fast = True
        self._brake.start(*plant.motors)
        if not self.overspeed_samples:
            self.notice = (
                f'joint {names[joint]!r}: speed {abs(plant.v[joint]):.3g} is beyond '
                f'{self.limits.speed_limit_factor:g} times its limit '
                f'{self.model.velocity_limit[joint]:.3g} (speed_limit_factor): braked until it is '
                'within, as whenever that happens again'
            )

    def _is_too_fast(self) -> bool:
        """Whether a joint is still beyond its own speed limit."""
        self._too_fast = bool((np.abs(self.plant.v) > self.model.velocity_limit).any())
        return self._too_fast

    def _slow_down(self) -> Array:
        """Return the brake's command for an arm that is too fast."""
        plant = self.plant
        self.overspeed_samples += 1
        # A motion model comes to rest at its present position.
        return plant.q.copy() if plant.takes_goals else self._brake.command(*plant.motors)

    def _cause(self, command: Array) -> str:
        """Return what is to be done about physics that has diverged."""
        plant = self.plant
        if plant.wrenches:
            return f'reduce external_wrench on {", ".join(map(repr, plant.wrenches))}'
        torques = np.array(plant.command_interfaces) == 'effort'
        if torques.any():
            asked = np.where(torques, np.abs(command) / self.model.effort_limit, 0.0)
            joint = int(asked.argmax())
            if asked[joint] > _ABSURD_EFFORT:
                return f'a command asked for {command[joint]:.3g} of {plant.joint_names[joint]!r}'
        step = plant.parameters.timestep
        return f'reduce timestep ({step:g} s) or the gains'
