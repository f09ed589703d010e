"""The published five-joint arm with DC motors, as a function from state and input to state.

Equation: its step, in its order.

1. q+ = q + dt v, v+ = v + dt a: explicit Euler with the acceleration that the state carries.
2. Stiction: where v+ and the state's previous velocity have opposite signs, v+ = 0 and the
   stiction flag is set. It clears at once unless the joint's net torque is exactly zero, although
   the motors have no friction.
3. Motors: tau = Kt (V - Kt v+) / Ra. Beyond a limit a spring and damper, 50 (limit - q) - 5 v,
   acts twice, as it does in the original wherever a joint has a motor.
4. The acceleration at the new state, zero where the flag is still set. The voltage therefore acts
   with a delay of one step.

The original's 0.3 joint friction has no effect where a joint has a motor, and it never sets the
limits of R5: neither is here.

Source: "Forward Dynamics Model of a 5 Degree-of-Freedom Robot Arm using DynaMechs",
AffectiveSilicon 2022, revision 2.0.

When to use it: to get the published numbers, to the last digit: J = 16.3888758427 with the
published gains. As a plant it is the engine analytical with `integrator: lagged_euler` and
`actuator: voltage`.

When not: for an arm of your own with DC motors: take the engine analytical with its motors and
an integrator that applies a voltage when it comes, `implicitfast` or `rk4`. Friction, damping,
effort limits and pushes are refused with this step: the published one has none.
"""

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.compiled import ForwardModel, ForwardModelParameters
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors
from arm_dynamics.robots import find_urdf

JOINTS = 5
STATE_SIZE = 28

# Parts of the state vector.
POSITION = slice(0, 5)  # [rad]
VELOCITY = slice(5, 10)  # [rad/s]
ACCELERATION = slice(10, 15)  # [rad/s^2]
TIP = slice(15, 18)  # position in the base frame [m]
STICTION = slice(18, 28, 2)  # flag of each joint, 0 or 1
PREVIOUS_VELOCITY = slice(19, 28, 2)  # [rad/s]
_MOVING = (POSITION, VELOCITY, ACCELERATION, STICTION, PREVIOUS_VELOCITY)  # ForwardModel's state

MOTORS = DCMotors(torque_constant=(10.0, 10.0, 10.0, 1.0, 1.0))
LIMIT_SPRING = (50.0, 50.0, 50.0, 50.0, 0.0)  # [N.m/rad]
LIMIT_DAMPER = (5.0, 5.0, 5.0, 5.0, 0.0)  # [N.m.s/rad]


class FiveJointArm:
    """The arm's forward model. Remembers nothing between calls.

    Attributes:
        model: its rigid bodies.
        forward_model: the same arm as a ForwardModel, without the tip in its state.
    """

    def __init__(self, loops: str = ''):
        """Load the URDF and its compiled code, with `loops` as CompiledModel takes them."""
        self.model = RobotModel.from_urdf(find_urdf('five_joint_arm'), tip_frame='tip')
        parameters = ForwardModelParameters(
            actuator='voltage', integrator='lagged_euler', motors=MOTORS, effort_limits=False,
            limit_stiffness=LIMIT_SPRING, limit_damping=LIMIT_DAMPER,
        )  # fmt: skip
        self.forward_model = ForwardModel(self.model, parameters, loops)

    @property
    def largest_step(self) -> float:
        """The largest stable time step [s], set by the motors' back-EMF damping."""
        return self.forward_model.largest_step

    def initial_state(self, q: ArrayLike) -> Array:
        """Return the state (28,) at rest at q (5,) [rad], with no acceleration yet."""
        state = np.zeros(STATE_SIZE)
        state[POSITION] = q
        state[TIP] = self.tip_position(q)
        return state

    def tip_position(self, q: ArrayLike) -> Array:
        """Return the tip (3,) [m] in the base frame at q (5,)."""
        return self.model.forward_kinematics(q).translation.copy()

    def step(self, state: ArrayLike, voltages: ArrayLike, dt: float) -> Array:
        """Return the state (28,) one step `dt` [s] after `state` (28,) under `voltages` (5,) [V].

        Raises:
            ArmError: wrong lengths, values that are not finite, flags other than 0 and 1, or a
                step that is not > 0 or not stable.
        """
        return self.run(state, finite('voltages', voltages, (JOINTS,))[None], dt)

    def run(self, state: ArrayLike, voltages: ArrayLike, dt: float) -> Array:
        """Return the state (28,) after one step for every row of `voltages` (count, 5) [V].

        Raises:
            ArmError: as `step`.
        """
        state = finite('state', state, (STATE_SIZE,))
        voltages = finite('voltages', voltages, (np.size(voltages) // JOINTS, JOINTS))
        if not np.isin(state[STICTION], (0.0, 1.0)).all():
            raise ArmError(f'stiction flags are {state[STICTION].tolist()}; allowed: 0 and 1')
        self.forward_model.check_step(dt)
        moving = np.concatenate([state[part] for part in _MOVING])
        for row in voltages:
            self.forward_model.advance(moving, row, dt, 1)
        result = np.empty(STATE_SIZE)
        for part, values in zip(_MOVING, moving.reshape(-1, JOINTS), strict=True):
            result[part] = values
        result[TIP] = self.tip_position(result[POSITION])
        return result
