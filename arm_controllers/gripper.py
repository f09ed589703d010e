"""Gripper control: a position servo with a limited effort, and the end of a gripper goal.

    u = clip(kp (x_r - x) + kd (v_r - v), -F, F),   kp = wn^2 m,   kd = 2 wn m

x_r goes to the goal at the speed limit of the goal, and stays within F / kp of x: on an object
that does not give way, the effort is F, and the gripper opens without delay. v_r is the speed with
which x_r would go on, so that noise of x does not reach it. m is the inertia of the joint with all
joints that follow it.

Names and meaning of parameters, of stalling and of reaching: ros2_controllers'
parallel_gripper_action_controller.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, in_range, unknown
from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter

# Above this product of natural frequency and control period the servo is close to instability.
_FASTEST = 0.5


@dataclass(frozen=True)
class GripperParameters(Parameters):
    """Parameters of the gripper controller."""

    max_effort: float = parameter(
        10.0, 'largest effort of the joint, where a goal has none [N | N.m]', min=0
    )
    max_velocity: float = parameter(
        0.1, 'largest speed of the joint, where a goal has none [m/s | rad/s]', above=0
    )
    goal_tolerance: float = parameter(
        0.01, 'distance from its position at which a goal is reached [m | rad]', min=0
    )
    allow_stalling: bool = parameter(
        False, 'if true, a goal on which the gripper stalls succeeds; if false, it is aborted'
    )
    stall_velocity_threshold: float = parameter(
        0.001,
        'mean speed towards the goal below which the gripper has stalled [m/s | rad/s]',
        min=0,
    )
    stall_timeout: float = parameter(1.0, 'time for which that mean speed counts [s]', min=0)
    natural_frequency: float = parameter(
        200.0, 'natural frequency of the position servo, critically damped [rad/s]', above=0
    )


class GripperGoal(NamedTuple):
    """Goal of a gripper: position [m | rad], largest effort [N | N.m], speed [m/s | rad/s]."""

    position: float
    max_effort: float
    max_velocity: float


class GripperLaw(Law):
    """The servo of a gripper joint.

    The reference has the goal: `q` its position, `effort` the largest effort, `v` the largest
    speed; 0: that of the parameters. Arrays are (..., 1); the state is x_r.
    """

    Parameters = GripperParameters

    def __init__(self, model: RobotModel, parameters: GripperParameters, joint: str):
        """`model`: arm and gripper; `joint`: name of the gripper's joint."""
        self.model, self.parameters = reduced_model(model, [joint]), parameters
        k = model.joint_names.index(joint)
        inertia = float(model.mass_matrix(model.neutral())[k, k])
        self.kp = parameters.natural_frequency**2 * inertia
        self.kd = 2.0 * parameters.natural_frequency * inertia

    def check_period(self, period: float) -> None:
        """Raise ArmError for a control period [s] that is too long for the natural frequency."""
        in_range('natural_frequency', self.parameters.natural_frequency, 0.0, _FASTEST / period)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the measured position."""
        return (measured.q.copy(),)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the effort (..., 1) [N | N.m] of the joint."""
        before, most = state[0], reference.effort
        step = np.where(reference.v > 0.0, reference.v, self.parameters.max_velocity) * dt
        way = np.minimum(np.maximum(reference.q - before, -step), step)
        farthest = most / self.kp
        wanted = np.maximum(before + way, measured.q - farthest)
        wanted = np.minimum(wanted, measured.q + farthest)
        effort = self.kp * (wanted - measured.q) + self.kd * (way / dt - measured.v)
        return np.minimum(np.maximum(effort, -most), most), (wanted,)


def gains_of_arm(
    law: type[Law], given: Mapping[str, object], model: RobotModel, joint: str
) -> dict[str, list[float]]:
    """Return the given parameters of a law that have one number per joint, without the gripper's.

    Args:
        law: class of the law that commands the joints of the arm.
        given: its parameters by name, as files have them.
        model: arm and gripper.
        joint: name of the gripper's joint.
    """
    known, k = {each.name for each in fields(law.Parameters)}, model.joint_names.index(joint)
    return {
        name: [*values[:k], *values[k + 1 :]]
        for name, values in given.items()
        if name in known and isinstance(values, list | tuple) and len(values) == model.nv
    }


class GripperOutcome(NamedTuple):
    """End of a goal.

    Attributes:
        reached_goal: the position is within the tolerance.
        stalled: the gripper has stalled elsewhere.
        succeeded: whether the goal counts as a success.
    """

    reached_goal: bool
    stalled: bool
    succeeded: bool


class GripperMonitor:
    """Watches the way of a gripper to its goal.

    Attributes:
        goal: the present goal; the gripper keeps going to a goal that has ended.
        active: whether the goal has not ended yet.
    """

    def __init__(self, parameters: GripperParameters, position: float):
        """Hold a position [m | rad]."""
        self._parameters = parameters
        self.hold(position)

    def hold(self, position: float) -> None:
        """Hold a position [m | rad]; the present goal ends."""
        p = self._parameters
        self.goal, self.active = GripperGoal(position, p.max_effort, p.max_velocity), False

    def set_goal(self, goal: GripperGoal, time_ns: int) -> None:
        """Watch a goal from a time [ns] on."""
        self.goal, self.active = goal, True
        self._nearest, self._moved_ns = np.inf, time_ns

    def update(self, time_ns: int, position: float) -> GripperOutcome | None:
        """Return the end of the goal at a position [m | rad] and time [ns]; None: it goes on.

        A gripper has moved where it comes nearer to its goal than ever, by what it does within
        stall_timeout at stall_velocity_threshold, or at half the speed of a slower goal. So a
        goal ends within stall_timeout + distance / that speed, whatever noise the measured
        velocity has. (Proposed in PR2/pr2_controllers#307; ros2_controllers compares the measured
        velocity.)
        """
        p, distance = self._parameters, abs(self.goal.position - position)
        if not self.active:
            return None
        if distance < p.goal_tolerance:
            self.active = False
            return GripperOutcome(reached_goal=True, stalled=False, succeeded=True)
        slow = min(p.stall_velocity_threshold, 0.5 * self.goal.max_velocity)
        if distance < self._nearest - slow * p.stall_timeout:
            if np.isfinite(self._nearest):
                self._moved_ns = time_ns
            self._nearest = distance
        elif (time_ns - self._moved_ns) * 1e-9 > p.stall_timeout:
            self.active = False
            return GripperOutcome(reached_goal=False, stalled=True, succeeded=p.allow_stalling)
        return None


def gripper_joint(model: RobotModel, joint: str = '') -> str:
    """Return the joint of a gripper.

    Args:
        model: arm and gripper.
        joint: its name; '': the only joint that does not move the tool link.

    Raises:
        ArmError: no such joint, or more than one.
    """
    names = model.joint_names
    if joint:
        if joint not in names:
            raise unknown('joint of the gripper', joint, names)
        return joint
    moving = np.abs(model.jacobian(model.neutral() + 0.1)).max(axis=0) > 0.0
    found = [name for name, moves in zip(names, moving, strict=True) if not moves]
    if len(found) != 1:
        which = f'{len(found)} joints do not move {model.tip_frame!r}'
        raise ArmError(f"joint is ''; {which}: set joint to one of {', '.join(names)}")
    return found[0]


def gripper_goal(
    model: RobotModel,
    joint: str,
    parameters: GripperParameters,
    position: float,
    max_effort: float | None = None,
    max_velocity: float | None = None,
) -> GripperGoal:
    """Return a goal within the limits of the joint; None: the value of the parameters.

    Raises:
        ArmError: a value that is not finite or not allowed.
    """
    k, p = model.joint_names.index(joint), parameters
    given = (
        ('position', position, model.position_lower[k], model.position_upper[k]),
        ('max_effort', p.max_effort if max_effort is None else max_effort, 0.0, np.inf),
        ('max_velocity', p.max_velocity if max_velocity is None else max_velocity, 0.0, np.inf),
    )
    for name, value, lower, upper in given:
        in_range(f'{name} of the goal of joint {joint!r}', value, lower, upper)
    _, effort, velocity = (value for _, value, _, _ in given)
    return GripperGoal(
        float(position),
        float(min(effort, model.effort_limit[k])),
        float(min(velocity, model.velocity_limit[k])),
    )
