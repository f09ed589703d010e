"""The brake of the simulated arm, for joints that no controller commands."""

import numpy as np

from arm_dynamics.actuators import linear_gains
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import MotorConstants
from arm_sim.simulation.claims import Places
from arm_sim.simulation.integration import CONTINUOUS
from arm_sim.simulation.plant import PlantParameters

_RATE = 10.0  # of the speed's decay [1/s]


class Brake:
    """The plant's own brake: speed decays as v(t) = v(0) exp(-rate t), then the arm is held.

    The hold point is where that decay ends, q + v/rate, and the demanded acceleration is
    a = rate^2 (hold - q) - 2 rate v, the critically damped law whose free motion from q, v is just
    that decay. The torque is inverse dynamics of a, within the effort limits; a servo gets the
    position or velocity command with that torque, drive damping at the step's end included.

    Attributes:
        hold: (n,) the hold point.
    """

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        """Hold the neutral configuration until `start`."""
        self._model, self._follows_positions = model, parameters.follows_positions
        kinds = parameters.actuators(model.joint_names)
        self._gains = linear_gains(kinds, *parameters.servo_gains(model))
        self._of_position = self._gains.position / self._gains.command
        self._limit = parameters.effort_limit(model)
        # At the end of which step the drives' damping acts.
        self._step = 0.0 if parameters.integrator == CONTINUOUS else parameters.timestep
        self.hold = model.neutral().copy()
        self._motors: MotorConstants | None = None
        if 'voltage' in kinds:
            self._motors = parameters.constants(model.joint_names)

    def start(self, q: Array, v: Array, joints: Places | slice = slice(None)) -> None:
        """Begin to brake the joints at these places from the state q, v (n,)."""
        lower, upper = self._model.position_lower, self._model.position_upper
        self.hold[joints] = np.clip(q + v / _RATE, lower, upper)[joints]

    def command(self, q: Array, v: Array, joints: Places | slice = slice(None)) -> Array:
        """Return the plant command (n,): torque, or what gives it to a servo or a motor.

        It brakes the joints at these places; the other ones are assumed not to accelerate.
        """
        braked = _RATE**2 * self._model.difference(q, self.hold) - 2.0 * _RATE * v
        a = np.zeros_like(braked)
        a[joints] = braked[joints]
        tau = np.clip(self._model.inverse_dynamics(q, v, a), -self._limit, self._limit)
        if self._motors is not None:
            return self._motors.voltage(tau, v)
        gains = self._gains
        damped = tau + gains.velocity * (v + self._step * a)
        return self._of_position * q + damped / gains.command

    def applied_to(self, command: Array, q: Array, v: Array, joints: Places) -> Array:
        """Return a command (n,) in which the brake commands the joints at these places."""
        of_brake = self.hold if self._follows_positions else self.command(q, v, joints)
        command = command.copy()
        command[joints] = of_brake[joints]
        return command

    def slow_down(self, q: Array, v: Array) -> Array:
        """Return the command (n,) for an arm that is too fast."""
        return q.copy() if self._follows_positions else self.command(q, v)
