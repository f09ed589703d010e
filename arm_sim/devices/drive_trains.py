"""Joints as they are: elastic gears, backlash, Stribeck friction and torque ripple."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.motors import DCMotors
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_sim.devices._device import Device, OfPlant, Setup

_LARGEST_ANGLE = 1.0  # of the fastest elastic oscillation in a time step [rad]


@dataclass(frozen=True, kw_only=True)
class JointParameters(Parameters):
    """What lies between actuators and links; with the defaults a joint is rigid and even.

    docs/drives.md has the equations.
    """

    joint_stiffness: PerJoint = parameter(
        (0.0,), 'stiffness of the gear between rotor and link [N.m/rad | N/m]; 0: rigid', min=0,
        name='joints.stiffness',
    )  # fmt: skip
    joint_damping: PerJoint = parameter(
        (0.0,), 'damping of an elastic gear [N.m.s/rad | N.s/m]', min=0, name='joints.damping'
    )
    backlash: PerJoint = parameter(
        (0.0,), 'play of an elastic gear, from flank to flank [rad | m]', min=0,
        name='joints.backlash',
    )  # fmt: skip
    static_friction: PerJoint = parameter(
        (), "Stribeck friction near standstill [N.m | N]; empty: the arm's Coulomb friction",
        min=0, name='joints.static_friction',
    )  # fmt: skip
    stribeck_velocity: PerJoint = parameter(
        (0.1,), 'speed at which static friction has faded to 37 % [rad/s | m/s]', above=0,
        name='joints.stribeck_velocity',
    )  # fmt: skip
    ripple_amplitude: PerJoint = parameter(
        (0.0,), 'amplitude of the torque ripple [N.m | N]', min=0, name='joints.ripple_amplitude'
    )
    ripple_harmonic: PerJoint = parameter(
        (1.0,), 'periods of the torque ripple per turn of the joint [1 | rad/m]', min=0,
        name='joints.ripple_harmonic',
    )  # fmt: skip
    ripple_phase: PerJoint = parameter(
        (0.0,), 'phase of the torque ripple at position 0 [rad]', name='joints.ripple_phase'
    )
    encoders: str = parameter(
        'motor', 'side of an elastic gear whose position and velocity the joint sensors report',
        one_of=('motor', 'link'), name='joints.encoders',
    )  # fmt: skip
    joint_substeps: int = parameter(
        1, 'integration steps per timestep of an arm with elastic gears, friction or ripple of'
        ' joints.*', min=1, max=1000, name='joints.substeps',
    )  # fmt: skip

    @property
    def has_drive_trains(self) -> bool:
        """Whether a joint differs from a rigid and even one."""
        own = (self.joint_stiffness, self.static_friction, self.ripple_amplitude)
        return any(map(any, own)) or any(self.backlash)


def drive_trains(
    models: Sequence[RobotModel], parameters: Sequence[OfPlant], arms: tuple[int, ...]
) -> Any:
    """Return the `DriveTrains` of N arms, with the plant's parameters of each; `arms`: N or ().

    Raises:
        ArmError: numbers that do not fit together, or too long a time step.
    """
    from arm_dynamics.compiled import DriveTrains  # loads Numba

    p, names = parameters[0], models[0].joint_names
    made: dict[tuple[int, int], tuple[Array, dict[str, Array]]] = {}  # of arms that come again
    each = []
    for model, own in zip(models, parameters, strict=True):
        key = id(model), id(own)
        if key not in made:
            made[key] = _numbers(model, own)
        each.append(made[key])
    table = np.hstack([own for own, _ in each])
    numbers = {name: np.concatenate([own[name] for _, own in each]) for name in each[0][1]}
    step, shape = p.timestep / p.joint_substeps, (*arms, len(names))
    return DriveTrains(p.actuators(names), step, table, numbers, shape)


def _numbers(model: RobotModel, parameters: OfPlant) -> tuple[Array, dict[str, Array]]:
    """Return the joint table of an arm and the numbers of its drive trains, checked."""
    from arm_dynamics.compiled import ForwardModelParameters

    p, names = parameters, model.joint_names

    def per(field: str, values: Any) -> Array:
        return per_joint(f'joints.{field}', values, names)

    k, backlash = per('stiffness', p.joint_stiffness), per('backlash', p.backlash)
    static = per('static_friction', p.static_friction or model.friction)
    for i, name in enumerate(names):
        if k[i] and not model.armature[i]:
            raise ArmError(
                f'joints.stiffness of joint {name!r} is {k[i]:g}; an elastic joint needs the '
                'inertia of its rotor, armature'
            )
        if backlash[i] and not k[i]:
            raise ArmError(
                f'joints.backlash of joint {name!r} is {backlash[i]:g}; backlash needs '
                'joints.stiffness > 0'
            )
        if static[i] < model.friction[i]:
            raise ArmError(
                f'joints.static_friction of joint {name!r} is {static[i]:g}; it must be >= the '
                f'Coulomb friction {model.friction[i]:g}'
            )
    damping = per('damping', p.joint_damping)
    _check_step(model, p, k, damping)
    rows = {
        'stiffness': k,
        'damping': damping,
        'half_gap': 0.5 * backlash,
        'excess': static - model.friction,
        'stribeck': per('stribeck_velocity', p.stribeck_velocity),
        'ripple': per('ripple_amplitude', p.ripple_amplitude),
        'harmonic': per('ripple_harmonic', p.ripple_harmonic),
        'phase': per('ripple_phase', p.ripple_phase),
    }
    shared = {name: getattr(p, name) for name in ('servo_kp', 'servo_kd', 'effort_limits')}
    motors = p if isinstance(p, DCMotors) else DCMotors()
    table = ForwardModelParameters(p.actuator, motors=motors, **shared).table(model)
    return table, rows


def _check_step(model: RobotModel, parameters: OfPlant, stiffness: Array, damping: Array) -> None:
    """Raise ArmError unless the time step follows the elastic oscillations of an arm."""
    p, rng = parameters, np.random.default_rng(0)
    elastic = stiffness > 0.0
    if not elastic.any():
        return
    links, _ = DriveTrainsDevice.link_side(model, p)
    rotor = np.where(elastic, 1.0 / np.where(elastic, model.armature, 1.0), 0.0)
    spring = np.diag(stiffness)
    servos = np.array(p.actuators(model.joint_names)) == 'servo'
    servo = np.diag(np.where(servos, p.servo_gains(model)[0], 0.0))
    squared = (damping * rotor).max() ** 2
    for _ in range(10):
        inverse = np.linalg.inv(links.mass_matrix(links.random_configuration(rng)))
        rows = [inverse @ np.hstack([spring, -spring])]
        rows.append(rotor[:, np.newaxis] * np.hstack([-spring, spring + servo]))
        squared = max(squared, np.linalg.eigvals(np.vstack(rows)).real.max())
    longest = _LARGEST_ANGLE / np.sqrt(squared)
    if p.timestep / p.joint_substeps > longest:
        raise ArmError(
            f'joints.substeps is {p.joint_substeps}; the elastic joints of this arm need '
            f'integration steps of at most {longest:.2g} s: joints.substeps >= '
            f'{int(np.ceil(p.timestep / longest))} with timestep {p.timestep:g} s'
        )


class DriveTrainsDevice(Device):
    """The drive trains between motors and links; the physics then moves the links by torques."""

    Parameters = JointParameters
    order = 90.0
    alike = ('has_drive_trains', 'joint_substeps', 'encoders')
    is_sensor = False

    @classmethod
    def wanted(cls, parameters: JointParameters) -> bool:
        """Return whether a joint differs from a rigid and even one."""
        return parameters.has_drive_trains

    @classmethod
    def link_side(cls, model: RobotModel, parameters: OfPlant) -> tuple[RobotModel, OfPlant]:
        """Return what an engine steps: the links, under torques, with one joint step per period.

        Raises:
            ArmError: drive trains with an integrator that is neither continuous nor implicitfast.
        """
        p = parameters
        if p.integrator not in ('continuous', 'implicitfast'):
            raise ArmError(f"integrator is {p.integrator!r}; joints.* need 'implicitfast'")
        if 'voltage' in p.actuators(model.joint_names) and not isinstance(p, DCMotors):
            raise ArmError("actuator is 'voltage'; joints.* with DC motors need engine analytical")
        rigid = per_joint('joints.stiffness', p.joint_stiffness, model.joint_names) == 0.0
        none = np.zeros(model.nv)
        links = model.with_joints(np.where(rigid, model.armature, 0.0), none, none)
        one: dict[str, Any] = {'timestep': p.timestep / p.joint_substeps, 'control_decimation': 1}
        one['integrator'] = 'implicitfast'
        return links, replace(p, actuator='torque', effort_limits=False, **one)

    def __init__(self, setup: Setup):
        super().__init__(setup)
        plant, p = self.plant, setup.each[0]
        if not plant.has_damping:
            raise ArmError('joints.*: only engines mujoco and analytical have such joints')
        for model in setup.models:
            model.check_inertia()
        self._steps = p.control_decimation * p.joint_substeps
        self._trains = drive_trains(setup.models, setup.each, plant.arms)
        plant.motors = (self._trains.q, self._trains.v)
        if p.encoders == 'motor':
            plant.sensed = plant.motors

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Turn the rotors to where the gears of the resting arm carry its weight."""
        plant, models = self.plant, self.setup.models
        pairs = zip(models, plant.q.reshape(-1, len(plant.joint_names)), strict=True)
        weight = np.array([model.gravity_torque(q) for model, q in pairs])
        self._trains.reset(plant.q, plant.v, weight.reshape(plant.q.shape))
        plant.set_damping(self._trains.slope)
        return measured

    def around(self, command: Array, act: Callable[[Array], None]) -> None:
        """Hold `command` (n,) on the motors over one control period."""
        plant, trains = self.plant, self._trains
        for _ in range(self._steps):
            trains.pull(command, plant.q, plant.v)
            plant.set_damping(trains.slope)
            act(trains.torque)
            trains.turn(command, plant.q, plant.v)
        plant.effort[:] = trains.effort

    def continue_from(self, before: 'DriveTrainsDevice') -> None:
        """Take over the rotors."""
        self._trains.continue_from(before._trains)
