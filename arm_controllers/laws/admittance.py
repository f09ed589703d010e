"""Admittance control: a measured wrench shifts the reference of position drives."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.laws.servo import Servo, ServoParameters
from arm_dynamics.frames import FrameMotion
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.small_matrices import product, rotation_vector, solve_positive, times, transposed

_AXES = 'x, y, z, rx, ry, rz of the control frame'
# Of their files: the kinematics plugin, the chain of controllers, frames outside the URDF.
_THEIRS = (
    'chainable_command_interfaces',
    'control.frame.external',
    'enable_parameter_update_without_reactivation',
    'fixed_world_frame.frame.external',
    'ft_sensor.frame.external',
    'ft_sensor.meas_frame',
    'ft_sensor.measurement_frame',
    'ft_sensor.name',
    'gravity_compensation.frame.external',
    'kinematics.base',
    'kinematics.group_name',
    'kinematics.plugin_name',
    'kinematics.plugin_package',
    'kinematics.tip',
    'sensor_filter_chain',
    'use_feedforward_commanded_input',
)
_TOOL = "empty: the model's tool frame"


@dataclass(frozen=True)
class AdmittanceRuleParameters(Parameters):
    """Parameters of the rule, by their names in ros2_controllers' admittance_controller."""

    without_meaning: ClassVar[tuple[str, ...]] = _THEIRS

    selected_axes: tuple[bool, ...] = parameter(
        (True,) * 6, f'axes along which a wrench moves the tool: {_AXES}',
        length=6, name='admittance.selected_axes',
    )  # fmt: skip
    mass: tuple[float, ...] = parameter(
        (20.0, 20.0, 20.0, 2.0, 2.0, 2.0), 'virtual mass along the axes of the base [kg, kg.m^2]',
        length=6, min=1e-4, max=1e6, name='admittance.mass',
    )  # fmt: skip
    stiffness: tuple[float, ...] = parameter(
        (3000.0, 3000.0, 3000.0, 300.0, 300.0, 300.0),
        f'virtual stiffness [N/m, N.m/rad]: {_AXES}',
        length=6, min=0, max=1e8, name='admittance.stiffness',
    )  # fmt: skip
    damping_ratio: tuple[float, ...] = parameter(
        (1.0,) * 6, f'virtual damping D / (2 sqrt(m k)) [1]: {_AXES}',
        length=6, min=0, name='admittance.damping_ratio',
    )  # fmt: skip
    joint_damping: float = parameter(
        5.0, "damping rate of the joints' shift [1/s]", min=0, name='admittance.joint_damping'
    )
    alpha: float = parameter(
        0.01, 'damping of the pseudo-inverse of the Jacobian [1]',
        above=0, name='kinematics.alpha',
    )  # fmt: skip
    filter_coefficient: float = parameter(
        0.05, 'weight of the newest wrench in the smoothed one [1]; 1: no filter',
        above=0, max=1, name='ft_sensor.filter_coefficient',
    )  # fmt: skip
    sensor_frame: str = parameter(
        '', 'link of the force-torque sensor, where wrenches act and the tool is compliant; empty:'
        ' the link that carries the tool frame',
        name='ft_sensor.frame.id',
    )  # fmt: skip
    control_frame: str = parameter(
        '', f'frame whose axes the other parameters have; {_TOOL}', name='control.frame.id'
    )
    world_frame: str = parameter(
        '', 'frame whose z axis points up, for gravity; empty: the base',
        name='fixed_world_frame.frame.id',
    )  # fmt: skip
    gravity_frame: str = parameter(
        '', f'frame of the centre of gravity; {_TOOL}', name='gravity_compensation.frame.id'
    )
    center: tuple[float, ...] = parameter(
        (0.0, 0.0, 0.0), "tool's centre of gravity in its frame [m]",
        length=3, name='gravity_compensation.CoG.pos',
    )  # fmt: skip
    weight: float = parameter(
        0.0, "tool's weight that the sensor reports and the law subtracts [N]",
        name='gravity_compensation.CoG.force',
    )  # fmt: skip


@dataclass(frozen=True)
class AdmittanceParameters(AdmittanceRuleParameters, ServoParameters):
    """The rule, and the position drives with their feedforward."""


class AdmittanceState(NamedTuple):
    """Memory of the law.

    Attributes:
        wrench: (..., 6) smoothed, at the sensor in axes of the world frame [N, N.m].
        q, v: (..., n) shift of the reference, and its rate [rad | m, rad/s | m/s].
        twist: (..., 6) of the sensor by that rate, in base axes [m/s, rad/s].
        inner: memory of the law of the drives; None: it starts again.
    """

    wrench: Array
    q: Array
    v: Array
    twist: Array
    inner: State | None


class Admittance(Law):
    """m x'' + D x' + K x = w: position drives follow a reference that a wrench w shifts.

    x is the pose of the sensor's frame from that of the reference, x' and x'' the velocity and
    acceleration of the shift. The joints' shift s is integrated (semi-implicit Euler):

        s'' = (J^T J + alpha 1)^-1 J^T m^-1 (w - D x' - K x) - joint_damping s'

    with K, D = 2 damping_ratio sqrt(m K) and the selection of w diagonal in the control frame, m
    in base axes, and w the smoothed measured wrench without the tool's weight. The inner law
    follows q_r + s, v_r + s', a_r + s''.

    A wrench goal is added to w, so that the tool exerts it at rest; along its force the stiffness
    does not act, so that no error of position changes the force.

    Sources: Hogan, J. Dynamic Systems, Measurement and Control 107, 1985; the rule is that of
    ros2_controllers' admittance_controller.
    """

    evaluation = LawEvaluation(model_use=54)
    needs, wrench_goal = ('wrench',), ('force', 'torque')
    Parameters: Any = AdmittanceParameters
    command_interface = 'position'

    def __init__(self, model: RobotModel, parameters: AdmittanceParameters):
        super().__init__(model, parameters)
        p = self.parameters
        self._sensor = p.sensor_frame or model.tool_carrier
        self._control = p.control_frame or model.tip_frame
        self._center = p.gravity_frame or model.tip_frame
        self._world = p.world_frame or model.base_frame
        self._frames = {self._sensor, self._control, self._center, self._world, model.tip_frame}
        for frame in self._frames:
            model.frame_id(frame)  # there is such a frame
        self._selected = np.array(p.selected_axes, dtype=float)
        self._damping = 2.0 * p.damping_ratio * np.sqrt(p.mass * p.stiffness)
        self._regular = p.alpha * np.eye(model.nv)
        self.inner = self.inner_law()
        self.command_interface = self.inner.command_interface
        self.lookahead, self.many_arms = self.inner.lookahead, self.inner.many_arms

    def inner_law(self) -> Law:
        """Return the law that follows the shifted reference."""
        return Servo(self.model, self.parameters)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return a memory without a shift."""
        still, none = np.zeros_like(measured.q), np.zeros((*measured.q.shape[:-1], 6))
        return AdmittanceState(none, still, still, none, self.inner.start(measured, reference))

    def resumed(self, state: State) -> State | None:
        """Go on with wrench and shift; the inner law, which may be another, starts again."""
        return AdmittanceState(*state)._replace(inner=None)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the inner law's command (..., n), and the memory."""
        before, p = AdmittanceState(*state), self.parameters
        poses = {frame: self._pose(measured.q, frame) for frame in self._frames}
        wrench = before.wrench
        if measured.wrench is not None:
            newest = self._unweighted(measured.wrench, poses)
            wrench = p.filter_coefficient * newest + (1.0 - p.filter_coefficient) * wrench
        force = self._balance(wrench, before.twist, poses, reference)
        jacobian = self.model.jacobian(measured.q, self._sensor)
        back = transposed(jacobian)
        pulled = times(back, force / p.mass)[..., np.newaxis]
        a = solve_positive(product(back, jacobian) + self._regular, pulled)[..., 0]
        a = a - p.joint_damping * before.v
        v = before.v + a * dt
        q = before.q + v * dt
        shifted = _shifted(reference, q, v, a, dt)
        inner = before.inner
        if inner is None:
            inner = self.inner.start(measured, shifted)
        command, inner = self.inner(inner, measured, shifted, dt)
        return command, AdmittanceState(wrench, q, v, times(jacobian, v), inner)

    def _pose(self, q: Array, frame: str) -> FrameMotion:
        still = np.zeros_like(q)
        return self.model.frame_motion(q, still, still, frame)

    def _unweighted(self, wrench: Array, poses: Mapping[str, FrameMotion]) -> Array:
        """Return a measured wrench (..., 6) in axes of the world frame, without the weight."""
        world = poses[self._world].rotation
        turned = _turned(product(world, poses[self._sensor].rotation), wrench)
        if np.any(self.parameters.weight):
            turn = product(world, poses[self._center].rotation)
            arm = times(turn, self.parameters.center + np.zeros_like(turned[..., :3]))
            weight = self.parameters.weight * np.array([0.0, 0.0, -1.0]) + np.zeros_like(arm)
            turned = turned - np.concatenate([weight, np.cross(arm, weight)], axis=-1)
        return turned

    def _balance(
        self, wrench: Array, twist: Array, poses: Mapping[str, FrameMotion], reference: Reference
    ) -> Array:
        """Return w - D x' - K x (..., 6) in base axes."""
        p, here, turn = self.parameters, poses[self._sensor], poses[self._control].rotation
        target = self._pose(reference.q, self._sensor)
        wrench = _turned(transposed(poses[self._world].rotation), wrench)
        offset = here.position - target.position
        if reference.wrench is not None:
            goal, torque = np.split(reference.wrench + np.zeros_like(wrench), 2, axis=-1)
            lever = poses[self.model.tip_frame].position - here.position
            wrench = wrench + np.concatenate([goal, torque + np.cross(lever, goal)], axis=-1)
            size = np.linalg.norm(goal, axis=-1, keepdims=True)
            along = goal / np.where(size > 0.0, size, 1.0)
            offset = offset - along * (along * offset).sum(-1, keepdims=True)
        rotated = rotation_vector(product(here.rotation, transposed(target.rotation)))
        error, back = np.concatenate([offset, rotated], axis=-1), transposed(turn)
        pull = self._selected * _turned(back, wrench)
        pull = pull - self._damping * _turned(back, twist) - p.stiffness * _turned(back, error)
        return _turned(turn, pull)


def _turned(rotation: Array, wrench: Array) -> Array:
    """Return wrenches or twists (..., 6) in other axes."""
    return np.concatenate(
        [times(rotation, wrench[..., :3]), times(rotation, wrench[..., 3:])], axis=-1
    )


def _shifted(reference: Reference, q: Array, v: Array, a: Array, dt: float) -> Reference:
    """Return the reference with a shift; later, the shift goes on at its rate."""
    shifted = reference.copy()
    shifted.q[:] += q
    shifted.v[:] += v
    shifted.a[:] += a
    shifted.future = lambda periods: _shifted(
        reference.ahead(periods), q + periods * dt * v, v, np.zeros_like(a), dt
    )
    return shifted
