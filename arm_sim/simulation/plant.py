"""The physics engines: what each offers the simulator, and the parameters that all share."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.laws import law_class, law_names
from arm_controllers.measurement import Measurement
from arm_dynamics.actuators import ACTUATORS, ActuatorParameters, one_or_each, servo_gains
from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.clearance import Surroundings
from arm_dynamics.link_loads import External
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.parameters import PerJoint, Stepping, parameter
from arm_dynamics.plugins import PluginRegistry
from arm_sim.simulation.body_sensors import BodySensors
from arm_sim.simulation.drives import DriveParameters, Drives
from arm_sim.simulation.faults import Fault, Faults, read_faults
from arm_sim.simulation.joints import JointParameters, drive_trains, link_side
from arm_sim.simulation.sensors import SensorParameters, Sensors

if TYPE_CHECKING:
    from arm_dynamics.compiled import DriveTrains

# What `joint_commands` holds for each actuator; the actuator for what a law commands.
COMMAND_INTERFACE = {
    'servo': 'position',
    'velocity': 'velocity',
    'torque': 'effort',
    'voltage': 'voltage',
}
ACTUATOR_FOR = {interface: actuator for actuator, interface in COMMAND_INTERFACE.items()}

# Two correct implementations differ by rounding alone: some 1e-13 of the largest entry.
MODEL_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PlantParameters(
    ActuatorParameters, Stepping, Surroundings, DriveParameters, JointParameters, SensorParameters
):
    """Actuators, stepping and surroundings of the simulated arm; the arm itself is the model.

    Attributes:
        follows_positions: whether the arm comes to rest at a commanded position by itself.
    """

    follows_positions: ClassVar[bool] = False
    initial_positions: PerJoint = parameter(
        (), 'positions at reset [rad | m]; empty: nearest to zero in limits'
    )
    integrator: str = parameter('implicitfast', 'integration method of the engine')
    contacts: bool = parameter(
        False, 'if true, links touch each other, the floor and the table (engine mujoco)'
    )
    srdf: str = parameter(
        '', 'SRDF file whose disable_collisions name links that do not touch each other; empty:'
        ' a file with the name of the URDF, next to it',
    )  # fmt: skip
    scene: str = parameter(
        '', 'objects that the links touch: name of a shipped scene, YAML file or MJCF (.xml);'
        ' empty: none (engine mujoco)',
    )  # fmt: skip
    objects: str = parameter(
        '', 'objects in addition to the scene: a YAML list as in a scene; empty: none'
        ' (engine mujoco)',
    )  # fmt: skip
    contact_stiffness: float = parameter(
        0.0, 'stiffness of a contact point of links, floor and table [N/m]; 0: as stiff as the'
        ' engine allows, without a stated number', name='contact.stiffness', min=0, max=1e9,
    )  # fmt: skip
    contact_damping: float = parameter(
        0.0, 'damping of a contact point of links, floor and table [N.s/m]',
        name='contact.damping', min=0, max=1e7,
    )  # fmt: skip
    contact_friction: float = parameter(
        1.0, 'Coulomb friction coefficient of links, floor and table [1]',
        name='contact.friction', min=0, max=10,
    )  # fmt: skip

    faults: str = parameter(
        '', "faults, as a YAML list such as '[{kind: stuck_joint, joint: elbow_joint, time: 1.0, "
        "duration: 0.5}]', or the path of a YAML file; empty: none",
    )  # fmt: skip

    @property
    def touching(self) -> str:
        """The parameter by which links can touch something, as text; '' without one."""
        if self.contacts:
            return 'contacts is true'
        if self.scene:
            return f'scene is {self.scene!r}'
        return 'objects are given' if self.objects else ''

    def servo_gains(self, model: RobotModel) -> tuple[Array, Array]:
        """Return servo_kp, servo_kd (n,), as arrays; raises ArmError as `servo_gains` does."""
        names = model.joint_names
        return servo_gains(self.actuators(names), self.servo_kp, self.servo_kd, names)

    def servo_per_torque(self, model: RobotModel) -> Array:
        """Return by how much a servo's command (n,) changes for one N.m or N; 0: no servo."""
        kp, kd = self.servo_gains(model)
        gain = np.select(
            [
                np.array(self.actuators(model.joint_names)) == name
                for name in ('servo', 'velocity')
            ],
            [kp, kd],
        )
        return np.divide(1.0, gain, out=np.zeros_like(gain), where=gain > 0.0)

    def effort_limit(self, model: RobotModel) -> Array:
        """Return what the actuators can give (n,) [N.m | N]; infinite without `effort_limits`."""
        return model.effort_limit if self.effort_limits else np.full(model.nv, np.inf)


class Plant:
    """A simulated arm with its drives and sensors. Arrays are (n,), in the order of `joint_names`.

    An engine is built as plant(model, plant.Parameters(...)); parameters of another engine serve
    as well. Its constructor sets q, v, effort and resets. It steps by `act`.

    Attributes:
        joint_names: the moving joints.
        command_interfaces: of each joint: 'position', 'velocity', 'effort' or 'voltage'.
        command_interface: that of all joints; where they differ, `command_interfaces`.
        parameters: see PlantParameters.
        takes_goals: whether it contains a law, so that the simulator takes trajectory goals for it
            where no controller commands.
        actuator_kinds: kinds of actuators that its joints can have.
        has_contacts: whether its links can touch something.
        has_drive_trains: whether its joints can have what JointParameters describe.
        arms: leading axes of all arrays; () for one arm.
        wrenches: the external wrenches now, (6,) by frame.
        q, v: the present state [rad | m], [rad/s | m/s]; views, valid until the next step.
        effort: torque applied in the last integration step [N.m | N]; a view as well.
        measured: the state as the sensors report it, read-only.
        imu: (10,) reading of the IMU, see `Felt`; None: there is none.
        beyond: whether the state has left what the engine models.
        objects: names of the objects around the arm that move.
        shapes: the visible shapes of all objects, also of fixed ones.
        link_shapes: the visible shapes of `loose_links`.
        actuator_names: actuators of the MJCF that no controller commands; see `set_actuator`.
        loose_links: links of the MJCF that move against the URDF's; see `link_poses`.
        mjcf_sensors: names of the values that the sensors of the MJCF have.
        seed: of drives and sensors from the next reset on; None: the seeds of the parameters.
        notes: facts that a user should know, a line each.
    """

    Parameters: ClassVar[type[PlantParameters]] = PlantParameters
    takes_goals = False
    actuator_kinds = frozenset(ACTUATORS) - {'voltage'}
    has_contacts = False
    has_drive_trains = False
    arms: tuple[int, ...] = ()
    beyond: Any = False
    objects: tuple[str, ...] = ()
    shapes: tuple[ObjectShape, ...] = ()
    link_shapes: tuple[ObjectShape, ...] = ()
    actuator_names: tuple[str, ...] = ()
    mjcf_sensors: tuple[str, ...] = ()
    loose_links: tuple[str, ...] = ()
    seed: int | None = None
    imu: Array | None = None
    q: Array
    v: Array
    effort: Array
    measured: Measurement
    _controls: Array  # (..., k) of the actuators of the MJCF
    _reset_ns = 0

    def __init__(self, model: RobotModel, parameters: PlantParameters):
        if not isinstance(parameters, self.Parameters):
            parameters = self.Parameters(**vars(parameters))
        if parameters.touching and not self.has_contacts:
            raise ArmError(f'{parameters.touching}; only engine mujoco has contacts')
        self._set_up([model], [parameters])

    def _set_up(self, models: Sequence[RobotModel], each: Sequence[PlantParameters]) -> None:
        """Take the first model or all, and parameters of each; make drives, joints, sensors."""
        self.parameters: Any = each[0]
        model = models[0]
        self.joint_names = model.joint_names
        actuators = self.parameters.actuators(model.joint_names)
        self.command_interfaces = tuple(COMMAND_INTERFACE[each] for each in actuators)
        self.command_interface = one_or_each(self.command_interfaces)
        self.notes = model.notes
        self._model = model
        if model.mjcf:
            self.notes += self.notes_on_mjcf(model)
        self.wrenches: dict[str, Array] = {}
        for one in each:
            one.check_drives(self.command_interfaces)
        period = self.parameters.period_ns * 1e-9
        drives = any(one.drives() for one in each)
        exact = all(one.has_exact_joints for one in each)
        torques = np.array(self.command_interfaces) == 'effort'
        self._drives = None
        if drives:
            per_torque = self.parameters.servo_per_torque(model)
            self._drives = Drives(model, each, period, torques, per_torque)
        self._sensors = None if exact else Sensors(each, model.joint_names, period)
        self._seeds = [one.sensor_seed for one in each]
        # The velocity before the last integration step, where sensors need the acceleration.
        self._before: Array | None = None
        self._body_sensors: BodySensors | None = None
        if self.parameters.feels:
            self._before = np.zeros((*self.arms, model.nv))
            self._body_sensors = BodySensors(models, each, period)
        for link in self.parameters.contact_switches:
            if self.arms or not self.parameters.touching:
                where = 'a batch' if self.arms else 'an arm without scene and contacts'
                raise ArmError(f'contact_switches: {link!r}: {where} has none')
            model.frame_id(link)
        self._models = models
        faults = read_faults(self.parameters.faults)
        self._faults: Faults | None = Faults(faults, models, self.parameters) if faults else None
        self._senses = self._sensors is not None or self._body_sensors is not None
        self._senses |= self._faults is not None
        self._joints: DriveTrains | None = None
        if any(one.has_drive_trains for one in each):
            if not self.has_drive_trains:
                raise ArmError('joints.*: only engines mujoco and analytical have such joints')
            for each_model in models:
                check_inertia(each_model)
            self._joints = drive_trains(models, each, self.arms)

    def notes_on_mjcf(self, model: RobotModel) -> tuple[str, ...]:
        """Return notes on a model from an MJCF; raise ArmError where its URDF misses a spring."""
        check_convertible(model)
        return ('the URDF of the MJCF is simulated; engine mujoco simulates the MJCF',)

    def reset(self, q: ArrayLike, v: ArrayLike | None = None) -> None:
        """Go to state q, v (rest by default) and forget everything else."""
        self._set_wrenches({})
        self.q[:] = q
        self.v[:] = 0.0 if v is None else v
        self.effort[:] = 0.0
        if self._joints is not None:
            pairs = zip(self._models, self.q.reshape(-1, len(self.joint_names)), strict=True)
            weight = np.array([model.gravity_torque(own) for model, own in pairs])
            self._joints.reset(self.q, self.v, weight.reshape(self.q.shape))
            self.set_damping(self._joints.slope)
        self.measured = Measurement(*self._sensed)
        if self._drives is not None:
            self._drives.reset(self.seed)
        if self._sensors is not None:
            self._measure(self._sensors.reset(*self._rows(), self.seed))
        if self._body_sensors is not None:
            seed, own = self.seed, self._seeds
            self._body_sensors.reset(own if seed is None else range(seed, seed + len(own)))
            self._feel(np.zeros_like(self.v), ())
        if self._faults is not None:
            self._faults.reset(self._reset_ns)
            self.measured = self._faults.reported(self.measured, first=True)
        self.measured = self.measured.read_only()

    def set_time(self, time_ns: int) -> None:
        """Let faults go on from a simulated time [ns], now and after each reset."""
        self._reset_ns = time_ns
        if self._faults is not None:
            self._faults.reset(time_ns)

    def go_on_from(self, before: 'Plant') -> None:
        """Take over state, wrenches, drives, joints and sensors of another plant of the arm."""
        self.reset(before.q, before.v)
        if self._joints is not None and before._joints is not None:
            self._joints.go_on_from(before._joints)
        for frame, wrench in before.wrenches.items():
            self.apply_wrench(frame, wrench)
        self._drives, self._sensors = before._drives, before._sensors
        if self._body_sensors is not None and before._body_sensors is not None:
            self._body_sensors.go_on_from(before._body_sensors)
        self._faults = before._faults
        self._senses |= self._faults is not None
        if self._sensors is not None or self._faults is not None:
            self.measured = before.measured
        else:
            sensed = before.measured
            of_joints = Measurement(*self._sensed, sensed.effort, sensed.wrench)
            self.measured = of_joints.read_only()
        self.imu = before.imu

    def drives_know(self, model: RobotModel) -> None:
        """Give the drives their model of the arm, for example without a payload."""
        if self._drives is not None:
            self._drives.model = model

    def step(self, command: Array) -> None:
        """Send `command` (n,) to the drives, which act on the joints over one control period.

        A control period has `control_decimation` integration steps.
        """
        if self._faults is not None:
            command = self._faults.sent(command)
        if self._drives is not None:
            sent = command.reshape(-1, command.shape[-1])
            command = self._drives.effect(sent, *self._rows()).reshape(command.shape)
        self._hold(command)

    def brake(self, command: Array) -> None:
        """Hold `command` (n,) over one period, without delay or compensation of the drives."""
        if self._drives is not None:
            self._drives.release()
        self._hold(command)

    def _hold(self, command: Array) -> None:
        """Let a command (n,) of the drives act over one period, then read all sensors."""
        if self._faults is not None:
            command = self._faults.acting(command, *self._rows())
        if self._joints is None:
            self.act(command)
        else:
            self._turn(command, self._joints)
        if self._senses:
            self._sense()

    def _turn(self, command: Array, joints: 'DriveTrains') -> None:
        """Hold `command` (n,) on the motors over one control period."""
        for _ in range(self.parameters.control_decimation * self.parameters.joint_substeps):
            joints.pull(command, self.q, self.v)
            self.set_damping(joints.slope)
            self.act(joints.torque)
            joints.turn(command, self.q, self.v)
        self.effort[:] = joints.effort

    def act(self, command: Array) -> None:
        """Hold `command` (n,) on the joints over one control period.

        With drive trains: hold torques on the links over one step of the joints.
        """
        raise NotImplementedError

    def set_faults(self, faults: Sequence[Fault], time_ns: int) -> None:
        """Have these faults in place of all earlier ones from a simulated time [ns] on.

        Raises:
            ArmError: no such joint, or an offset of a sensor that the arm does not have.
        """
        self._faults = Faults(faults, self._models, self.parameters, time_ns)
        self._senses = True

    def tare(self) -> None:
        """Tare the force-torque sensor: see `ForceTorqueSensor.tare`.

        Raises:
            ArmError: there is none.
        """
        sensors = self._body_sensors
        if sensors is None or sensors.force_torque is None:
            raise ArmError('there is no force-torque sensor: set force_torque.frame')
        sensors.force_torque.tare()

    def touched(self) -> Array:
        """Return which links of `contact_switches` (k,) bool touch something."""
        return np.zeros(len(self.parameters.contact_switches), dtype=bool)

    def set_damping(self, damping: Array) -> None:
        """Damp the joints by `damping` (n,) [N.m.s/rad | N.s/m] from now on, implicitly."""
        raise NotImplementedError

    @property
    def motors(self) -> tuple[Array, Array]:
        """Position and velocity of the motors (n,), seen at the joints; views."""
        return (self.q, self.v) if self._joints is None else (self._joints.q, self._joints.v)

    @property
    def _sensed(self) -> tuple[Array, Array]:
        """Position and velocity at the encoders."""
        return (self.q, self.v) if self.parameters.encoders == 'link' else self.motors

    def _rows(self) -> tuple[Array, Array]:
        """Return position and velocity at the encoders with a row per arm (N, n)."""
        n = len(self.joint_names)
        q, v = self._sensed
        return q.reshape(-1, n), v.reshape(-1, n)

    def _measure(self, rows: Measurement) -> None:
        """Keep a reading (N, n) with the leading axes of this plant."""
        q, v, *_ = rows
        self.measured = Measurement(q.reshape(self.q.shape), v.reshape(self.v.shape))

    def _sense(self) -> None:
        """Read all sensors at the end of a control period."""
        if self._sensors is not None:
            self._measure(self._sensors.read(*self._rows()))
        else:
            self.measured = Measurement(*self._sensed)
        if self._before is not None:
            a = (self.v - self._before) / self.integration_step
            self._feel(a, self.external_forces())
        if self._faults is not None:
            self.measured = self._faults.reported(self.measured)
        self.measured = self.measured.read_only()

    def _feel(self, a: Array, external: Sequence[Sequence[External]]) -> None:
        """Read the sensors that need the acceleration and the external forces."""
        assert self._body_sensors is not None
        q, v, a = (each.reshape(-1, a.shape[-1]) for each in (self.q, self.v, a))
        effort, wrench, self.imu = (
            None if each is None else each.reshape(*self.arms, -1)
            for each in self._body_sensors.read(q, v, a, external)
        )
        self.measured = self.measured._replace(effort=effort, wrench=wrench)

    @property
    def integration_step(self) -> float:
        """The integration step [s]."""
        return self.parameters.timestep / self.parameters.joint_substeps

    def external_forces(self) -> Sequence[Sequence[External]]:
        """Return what acted on the links of each arm in the last integration step.

        Pushes, here; engines with contacts add them. Empty: nothing acts on any arm.
        """
        if not self.wrenches:
            return ()
        return [self._pushes_on(arm, q) for arm, q in enumerate(self._rows()[0])]

    def _pushes_on(self, arm: int, q: Array) -> list[External]:
        """Return the wrenches on an arm, about the base's origin."""
        found = []
        for frame, wrench in self.wrenches.items():
            force, torque = np.split(wrench if wrench.ndim == 1 else wrench[arm], 2)
            origin = self._model.forward_kinematics(q, frame).translation
            found.append(
                External(frame, np.concatenate([force, torque + np.cross(origin, force)]))
            )
        return found

    def object_motion(self, name: str) -> tuple[Array, Array]:
        """Return the pose (7,), as in `object_poses`, and the velocity (6,) of any object.

        The velocity is linear [m/s] and angular [rad/s], in the axes of the base.
        """
        raise ArmError(f'there is no object {name!r}')

    def object_bounds(self, name: str) -> Array:
        """Return the lower and the upper corner (2, 3) of an object in its own frame [m]."""
        raise ArmError(f'there is no object {name!r}')

    def move_object(self, name: str, pose: Array, velocity: Array) -> None:
        """Give an object a pose (7,) and a velocity (6,), as `object_motion` has them.

        Raises:
            ArmError: the object is fixed or carried, or its joint does not allow them.
        """
        raise ArmError(f'there is no object {name!r}')

    def object_poses(self) -> Array:
        """Return the poses of moving objects (k, 7): position [m], quaternion x, y, z, w."""
        return np.empty((0, 7))

    def set_actuator(self, name: str, value: float) -> None:
        """Set the control of an actuator of the MJCF, in its units, until the next reset.

        Raises:
            ArmError: there is no such actuator, or the control is beyond its range.
        """
        number = self.check_actuator(name, value)
        self._controls[..., number] = value

    def check_actuator(self, name: str, value: float) -> int:
        """Return the number of an actuator that takes this control; raise ArmError otherwise."""
        raise ArmError(f'no actuator {name!r}: only an MJCF in engine mujoco has its own')

    def mjcf_readings(self) -> tuple[Array, Array]:
        """Return what the MJCF reports of the present state under the present command.

        That is the values of `mjcf_sensors`, and of `actuator_names` (k) length, velocity and
        force (3, k) [the units of the file].
        """
        return np.empty(0), np.empty((3, 0))

    def contact_facts(self) -> Array:
        """Return what the links touched in the last integration step (..., 3).

        The deepest penetration [mm], the sum of the forces of all contact points [N], and the
        largest slip of a loaded point [mm/s]; nan: the links touch nothing.
        """
        return np.full((*self.arms, 3), np.nan)

    def link_poses(self) -> Array:
        """Return the poses of `loose_links` (k, 7): position [m], quaternion x, y, z, w."""
        return np.empty((0, 7))

    def apply_wrench(self, frame: str, wrench: ArrayLike) -> None:
        """Apply a wrench to a frame until the next call for this frame.

        Args:
            frame: name of a link.
            wrench: (6,) force [N] and torque [N.m] at the frame's origin, in base-aligned axes;
                zeros end it. Of N arms also (N, 6).
        """
        self._model.frame_id(frame)
        shape = (6,) if np.ndim(wrench) == 1 else (*self.arms, 6)
        wrenches = {**self.wrenches, frame: finite(f'wrench on {frame!r}', wrench, shape)}
        self._set_wrenches({name: each for name, each in wrenches.items() if each.any()})

    def _set_wrenches(self, wrenches: dict[str, Array]) -> None:
        self.wrenches = wrenches

    def mass_matrix(self) -> Array:
        """Return M(q) + armature (n x n) as the engine has it."""
        return self._model.mass_matrix(self.q)

    def joint_friction(self) -> tuple[Array, Array]:
        """Return damping (n,) and Coulomb friction (n,) of the joints as the engine has them."""
        return self._model.damping, self._model.friction

    def bias_torque(self) -> Array:
        """Return C(q, v) v + g(q) (n,) as the engine has it."""
        return self._model.bias_torque(self.q, self.v)


def check_law(robot: str, law: str, simulator: Mapping[str, Any]) -> None:
    """Refuse a law whose commands the simulated arm does not take; name those that can drive it.

    `simulator` are the parameters of the simulator.
    """
    engine, integrator = simulator['engine'], simulator.get('integrator', '')
    taken = set(ACTUATORS)
    if engine != 'analytical':
        rigid = engine in RIGID_BODY_ENGINES  # spares a launch file the import of MuJoCo
        taken = set((Plant if rigid else plant_class(engine)).actuator_kinds)
    elif integrator == 'lagged_euler':
        taken = {'voltage'}

    def drives(name: str) -> bool:
        try:
            return ACTUATOR_FOR[law_class(name).command_interface] in taken
        except ArmError:  # a plugin that cannot be imported
            return False

    interface = law_class(law).command_interface
    if ACTUATOR_FOR[interface] not in taken:
        how = f'engine {engine}, integrator {integrator}' if integrator else f'engine {engine}'
        raise ArmError(
            f'controller {law!r} commands {interface}, which the robot {robot!r} ({how}) does not '
            f'take; those that can drive it: {", ".join(filter(drives, law_names()))}'
        )


# An engine is a file of arm_sim/engines with a class MyEnginePlant, or an entry point. Its module
# is imported when the engine is used: each needs libraries that the others do without.
ENGINES = PluginRegistry(
    'engine', 'arm_sim.engines', 'arm_sim.engines', base=Plant, suffix='Plant'
)
engine_names = ENGINES.names  # returns the names of all engines, sorted; imports none
plant_class = ENGINES.load  # returns the class of an engine; ArmError: there is no such engine

# The engines with rigid-body dynamics of this package, which tests compare with each other.
RIGID_BODY_ENGINES = ('mujoco', 'analytical')


def engine_classes(names: Iterable[str]) -> dict[str, type[Plant]]:
    """Return the classes of engines by name, without those that cannot be imported."""
    found = {}
    for name in names:
        with suppress(ArmError):
            found[name] = plant_class(name)
    return found


def rigid_body_engines() -> tuple[str, ...]:
    """Return the names of the engines that laws drive by torques."""
    others = engine_classes(x for x in engine_names() if x not in RIGID_BODY_ENGINES)
    driven = (name for name, engine in others.items() if 'torque' in engine.actuator_kinds)
    return (*RIGID_BODY_ENGINES, *driven)


def check_convertible(model: RobotModel) -> None:
    """Raise ArmError where an engine that simulates the URDF of an MJCF would miss a spring."""
    from arm_dynamics.descriptions import mjcf_files, mjcf_model  # they load MuJoCo

    mjcf_model.check_springs(mjcf_files.compiled(Path(model.mjcf))[0], model)


def check_inertia(model: RobotModel) -> None:
    """Raise ArmError where a joint moves no inertia except its rotor's."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        m = model.mass_matrix(model.random_configuration(rng)) - np.diag(model.armature)
        roots = np.sqrt(np.diagonal(m).clip(0.0))
        joint, smallest = int(roots.argmin()), 0.0
        if roots[joint] > 1e-7:
            values, vectors = np.linalg.eigh(m / np.outer(roots, roots))
            joint, smallest = int(np.abs(vectors[:, 0]).argmax()), values[0]
        if not smallest > 1e-12:
            raise ArmError(
                f'joint {model.joint_names[joint]!r} of {model.file or model.name!r} moves no '
                'inertia: use inertia:=estimate, or give the link behind it an '
                '<inertial> with mass'
            )


def check_model(plant: Plant, model: RobotModel, samples: int = 10, seed: int = 0) -> float:
    """Compare inertia, bias torque and friction of the plant and the model at random states.

    Leaves the plant in its last compared state: reset it. Returns the largest difference found
    [N.m | kg m^2], relative to max(1, largest entry); one beyond MODEL_TOLERANCE is refused.
    """
    model, _ = link_side(model, plant.parameters)
    if plant.joint_names != model.joint_names:
        raise ArmError(f'plant has joints {plant.joint_names}, the model {model.joint_names}')
    rng = np.random.default_rng(seed)
    damping, friction = plant.joint_friction()
    worst = 0.0
    for _ in range(samples):
        q = model.random_configuration(rng)
        v = rng.uniform(-1.0, 1.0, model.nv)
        plant.reset(q, v)
        pairs = (
            ('mass matrix [kg m^2]', plant.mass_matrix(), model.mass_matrix(q)),
            ('bias torque [N.m]', plant.bias_torque(), model.bias_torque(q, v)),
            ('damping [N.m.s/rad]', damping, model.damping),
            ('Coulomb friction [N.m]', friction, model.friction),
        )
        for quantity, of_plant, of_model in pairs:
            error = np.abs(of_plant - of_model) / max(1.0, np.abs(of_model).max())
            worst = max(worst, float(error.max()))
            if error.max() > MODEL_TOLERANCE:
                index = np.unravel_index(error.argmax(), error.shape)
                raise ArmError(
                    f'joint {model.joint_names[index[0]]!r}: {quantity} of the plant is '
                    f'{of_plant[index]:.9g}, of the controller model {of_model[index]:.9g}; '
                    f'they must agree to {MODEL_TOLERANCE:g}'
                )
    return worst
