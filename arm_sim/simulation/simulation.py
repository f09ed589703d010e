"""One arm, its time and its brake: what the simulator node runs."""

from bisect import insort
from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, all_finite, finite
from arm_dynamics.model import RobotModel
from arm_sim.simulation.brake import Brake
from arm_sim.simulation.claims import Places
from arm_sim.simulation.divergence import check_physics
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.plant import Plant, PlantParameters
from arm_sim.simulation.speed_guard import SpeedGuard

# An arm slower than this is at rest [rad/s | m/s].
REST_SPEED = 1e-3
# After braking for this long [ns of simulated time] an arm counts as at rest, whatever pushes it.
_LONGEST_BRAKING = 5_000_000_000
# Below this share of the effort limits (squared) no joint is looked at more closely.
_NEARLY_ALL = 0.99
_LEAST_EFFORT = 1e-9  # [N.m | N]


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
        guard: brakes an arm that is too fast.
        saturated: number of control periods in which some joint was at its effort limit.
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
        self.limits = limits or Limits()
        self.guard = SpeedGuard(model, self.limits)
        self._effort_limit = plant.parameters.effort_limit(model)
        self._per_effort = 1.0 / np.maximum(self._effort_limit, _LEAST_EFFORT)
        self._zeros = np.zeros(len(plant.joint_names))
        self._initial_q = model.check_configuration(initial_q, 'initial_positions')
        moving = self._zeros if initial_v is None else initial_v
        self._initial_v = model.check_velocity(moving, 'initial_velocities')
        self._swap = [(swap[0], partial(self._go_on_with, swap[1]))] if swap else []
        self._later: list[tuple[int, Callable[[], None]]] = []  # in the order of times [ns]
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
            self._later = [] if self.payload_fell else list(self._swap)
            self.time_ns = self.steps = self.saturated = self._brake_ns = 0
        self.guard.reset(time, state)
        self.plant.devices.set_time(self.time_ns)
        if state:
            self.plant.reset(self._initial_q, self._initial_v)
            self.unclaimed = None
            self.brake()
        self._ignores = state and not time

    @property
    def payload_fell(self) -> bool:
        """Whether the arm goes on as the plant of `swap`."""
        return self.plant is not self._first_plant

    def set_limits(self, limits: Limits) -> None:
        """Use these limits from now on."""
        self.limits = limits
        self.guard.set_limits(limits)

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
            ArmError: as `MjcfParts.check`; no control is set then.
        """
        for name, value in controls.items():
            self.plant.mjcf.check(name, value)
        self._at(from_ns, 'actuator_commands', partial(self._set_actuators, controls))

    def _set_actuators(self, controls: Mapping[str, float]) -> None:
        for name, value in controls.items():
            self.plant.mjcf.set(name, value)

    def _at(self, from_ns: int, topic: str, action: Callable[[], None]) -> None:
        """Do what a message asks, now or at a later time [ns]; refuse one too far ahead."""
        ahead = (from_ns - self.time_ns) * 1e-9
        self.limits.check_stamp(topic, ahead, len(self._later))
        if ahead <= 0.0:
            action()
        else:
            insort(self._later, (from_ns, action), key=itemgetter(0))

    def change_devices(self, names: frozenset[str], parameters: PlantParameters) -> None:
        """Let devices use changed parameters of these names from now on; see `Device.change`."""
        for plant in {id(each): each for each in (self.plant, self._first_plant)}.values():
            plant.devices.change(names, parameters, self.time_ns)

    def replace(self, plant: Plant) -> None:
        """Go on with another plant from the state as it is, and from the initial one later."""
        hold = self._brake.hold
        self._brake = Brake(self.model, plant.parameters)
        self._brake.hold = hold
        self._first_plant = plant
        self._go_on_with(plant)

    def _go_on_with(self, plant: Plant) -> None:
        plant.continue_from(self.plant)
        self.plant = plant

    def advance(self, command: Array | None) -> None:
        """Go on by one control period under a command as `Plant.step` takes it, or braked (None).

        A command that is not finite is refused, and nothing has moved; after a
        PhysicsDivergedError only `reset` helps.
        """
        while self._later and self._later[0][0] <= self.time_ns:
            self._later.pop(0)[1]()
        plant, guard, hold = self.plant, self.guard, self.plant.step
        if self._ignores:
            command, self._ignores = None, False
        if command is None:
            if not self.braking:
                self.brake()
            command, hold = self._brake.command(*plant.motors), plant.brake
        else:
            if command.ndim == 1 and not all_finite(command, self._zeros):
                raise _not_finite(plant, command)
            self.braking = False
            if self.unclaimed is not None:
                command = self._brake.applied_to(command, *plant.motors, self.unclaimed)
            if guard.active and guard.goes_on(plant.v):
                command, hold = self._brake.slow_down(*plant.motors), plant.brake
        hold(command)
        self.time_ns += self.period_ns
        self.steps += 1
        share = plant.effort * self._per_effort
        if not share.dot(share) < _NEARLY_ALL:
            self.saturated += bool((np.abs(plant.effort) >= self._effort_limit).any())
        speed = plant.v * guard.per_speed
        if not (speed.dot(speed) <= 1.0 and all_finite(plant.q, self._zeros)):
            check_physics(plant, self.model, self.time_ns, command)
            if guard.begins(plant.v):
                self._brake.start(*plant.motors)


def _not_finite(plant: Plant, command: Array) -> ArmError:
    """Return why a command (n,) is refused."""
    joint = int(np.flatnonzero(~np.isfinite(command))[0])
    name, interface = plant.joint_names[joint], plant.command_interfaces[joint]
    return ArmError(
        f'joint {name!r}: {interface} command {command[joint]} is not a finite number; the '
        'command is dropped'
    )
