"""The published five-joint arm with DC motors, as a function from state and input to state.

"Forward Dynamics Model of a 5 Degree-of-Freedom Robot Arm using DynaMechs", AffectiveSilicon
2022, revision 2.0. Its step, in its order:

1. q+ = q + dt v, v+ = v + dt a: explicit Euler with the acceleration that the state carries.
2. Stiction: where v+ and the state's previous velocity have opposite signs, v+ = 0 and the
   stiction flag is set. It clears at once unless the joint's net torque is exactly zero, although
   the motors have no friction.
3. Motors: tau = Kt (V - Kt v+) / Ra. Beyond a limit a spring and damper, 50 (limit - q) - 5 v,
   acts twice, as it does in the original wherever a joint has a motor.
4. The acceleration at the new state, zero where the flag is still set. The voltage therefore acts
   one step late.

The original's 0.3 joint friction has no effect where a joint has a motor, and it never sets the
limits of R5: neither is here.
"""

import functools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.compiled.compiled_model import CompiledModel, building
from arm_dynamics.compiled.joint_table import (
    BACK_EMF_CONSTANT,
    LIMIT_DAMPING,
    LIMIT_STIFFNESS,
    LOWER,
    TORQUE_CONSTANT,
    UPPER,
    joint_table,
)
from arm_dynamics.compiled.motors import DCMotors
from arm_dynamics.compiled.plant_context import MotorScratch, PoseControl
from arm_dynamics.compiled.stability import check_step, largest_stable_step
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf

Array = NDArray[np.float64]

JOINTS = 5
STATE_SIZE = 28

# Parts of the state vector.
POSITION = slice(0, 5)  # [rad]
VELOCITY = slice(5, 10)  # [rad/s]
ACCELERATION = slice(10, 15)  # [rad/s^2]
TIP = slice(15, 18)  # position in the base frame [m]
STICTION = slice(18, 28, 2)  # flag of each joint, 0 or 1
PREVIOUS_VELOCITY = slice(19, 28, 2)  # [rad/s]

MOTORS = DCMotors(torque_constant=(10.0, 10.0, 10.0, 1.0, 1.0))
LIMIT_SPRING = (50.0, 50.0, 50.0, 50.0, 0.0)  # [N.m/rad]
LIMIT_DAMPER = (5.0, 5.0, 5.0, 5.0, 0.0)  # [N.m.s/rad]


class FiveJointArm:
    """The arm's forward model. Remembers nothing between calls.

    Attributes:
        model: its rigid bodies.
        compiled: their generated code.
        table: joint numbers: motors and limit springs.
        largest_step: the largest stable time step [s], set by the motors' back-EMF damping.
    """

    def __init__(self):
        """Load the URDF and its compiled code."""
        self.model = RobotModel.from_urdf(find_urdf('five_joint_arm'), tip_frame='tip')
        self.compiled = CompiledModel(self.model)
        self.table = joint_table(
            JOINTS,
            {
                **MOTORS.rows(self.model.joint_names),
                LOWER: self.model.position_lower,
                UPPER: self.model.position_upper,
                LIMIT_STIFFNESS: LIMIT_SPRING,
                LIMIT_DAMPING: LIMIT_DAMPER,
            },
        )
        self._no_control = PoseControl.none(JOINTS)
        self._no_trace = np.zeros((0, JOINTS))

    @functools.cached_property
    def largest_step(self) -> float:
        """The largest stable time step [s]."""
        damping = self.table[TORQUE_CONSTANT] * self.table[BACK_EMF_CONSTANT]
        zeros = np.zeros(JOINTS)
        return largest_stable_step(self.model, 'lagged_euler', zeros, damping, zeros)

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
        return self.run(state, _checked('voltages', voltages, (JOINTS,))[None], dt)

    def run(self, state: ArrayLike, voltages: ArrayLike, dt: float) -> Array:
        """Return the state (28,) after one step for every row of `voltages` (count, 5) [V].

        Raises:
            ArmError: as `step`.
        """
        state = _checked('state', state, (STATE_SIZE,))
        voltages = np.asarray(voltages, dtype=float)
        if voltages.ndim != 2:
            raise ArmError(f'voltages have shape {voltages.shape}; allowed: (count, {JOINTS})')
        voltages = _checked('voltages', voltages, (voltages.shape[0], JOINTS))
        if not np.isin(state[STICTION], (0.0, 1.0)).all():
            raise ArmError(f'stiction flags are {state[STICTION].tolist()}; allowed: 0 and 1')
        check_step(dt, self.largest_step, 'the five-joint arm')
        q, v, a = (state[part].copy() for part in (POSITION, VELOCITY, ACCELERATION))
        stuck, previous = state[STICTION].copy(), state[PREVIOUS_VELOCITY].copy()
        work = MotorScratch.of(np.zeros(JOINTS))
        rollout = self.compiled.module.motor_rollout
        with building(self.model.name):
            for voltage in np.ascontiguousarray(voltages):
                rollout(
                    q, v, a, stuck, previous, voltage, dt, 1,
                    self.table, work, self._no_control, self._no_trace,
                )  # fmt: skip
        result = np.empty(STATE_SIZE)
        result[POSITION], result[VELOCITY], result[ACCELERATION] = q, v, a
        result[TIP] = self.tip_position(q)
        result[STICTION], result[PREVIOUS_VELOCITY] = stuck, previous
        return result


def _checked(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise ArmError(f'{name} has shape {array.shape}; it must be {shape}')
    bad = np.argwhere(~np.isfinite(array))
    if bad.size:
        index = tuple(int(i) for i in bad[0])
        where = index[0] if len(index) == 1 else index
        raise ArmError(f'{name}[{where}] is {array[index]}; it must be finite')
    return array
