"""One experiment: robot, task and law; the only place that builds the law and the plant."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from arm_controllers.adapted_law import adapted_law
from arm_controllers.composed_law import ComposedLaw
from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.drive_convention import DriveConvention
from arm_controllers.gripper import GripperLaw, GripperParameters, gains_of_arm
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import Law
from arm_controllers.laws.pd import PD
from arm_controllers.parameter_values import read_fields, ros_values
from arm_dynamics.actuators import ACTUATORS
from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import (
    NumberOrText,
    Parameters,
    ParameterValues,
    Stepping,
    changed,
    parameter,
)
from arm_dynamics.robots import RobotArgument
from arm_lab.experiments.compared_laws import any_class, compared_class, compared_laws, designed
from arm_lab.experiments.frequency import at_frequency
from arm_lab.experiments.ranges import Draw, Ranges
from arm_lab.experiments.robot_files import load_robot
from arm_lab.experiments.seeded import seeded
from arm_sim.devices import SensorParameters
from arm_sim.devices.drive_trains import JointParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.events import Event
from arm_sim.loop.measures import Tracking, track
from arm_sim.loop.record import Record
from arm_sim.loop.report import physics_of
from arm_sim.robot import Robot
from arm_sim.simulation.integration import CONTINUOUS
from arm_sim.simulation.plant import ACTUATOR_FOR, Plant, PlantParameters, plant_class
from arm_sim.tasks import Task, make_task


@dataclass(frozen=True)
class Experiment(Parameters):
    """A robot, a task and a law, with what differs from the ideal.

    The law is designed for `natural_frequency` on a plain plant with `timestep`, as comparisons
    do; where one of them is 0, gains or plant are those of the robot's files, as launch files do.

    Attributes:
        robot, task, engine: by name.
        law: by name; `servo:discrete` and `policy:file.onnx` also set the parameter that
            `LawEvaluation.variant` names; or a law's Python file, which runs; '': see `suited`.
        config: parameter file on top of the robot's own.
        feedforward: level of a servo law; empty: its default.
        actuator: drive of the arm under a controller that is no law of this package, 'external';
            empty: the drive that takes the law's commands.
        latency: of the inference of a policy, see PolicyParameters; empty: that of its files.
        latency_seed: of drawn latencies, where `latency` is given.
        error: of the arm, compared with the law's model.
        faults: while the arm runs, in place of those in the robot's files.
        scene: objects around the arm, in place of that in the robot's files.
        drives, joints, sensors: on top of those in the robot's files where these are used.
        guard: in place of that in the robot's files, unless its reaction is 'none'.
        ranges: of the arms that Monte Carlo, tuning and margins draw.
    """

    robot: str
    task: str
    law: str = ''
    engine: str = 'mujoco'
    timestep: float = parameter(
        1e-3, "integration step and control period [s]; 0: simulator of the robot's files",
        min=0, max=0.1,
    )  # fmt: skip
    natural_frequency: float = parameter(
        20.0, "design frequency of the law's errors [rad/s]; 0: gains of the robot's files",
        min=0, max=1e4,
    )  # fmt: skip
    frequency: float = parameter(
        0.0, "frequency of the sinusoid [Hz]; 0: the frequency of the robot's files",
        min=0, max=100,
    )  # fmt: skip
    config: str = ''
    reference_motion: str = parameter(
        '', "motion of the reference, see DiscreteMotion; empty: as the gains' source says",
        one_of=('', *MOTIONS),
    )  # fmt: skip
    friction_velocity: str = parameter(
        '', "velocity of the friction torque, see FrictionOfReference; empty: as the gains' source"
        ' says',
        one_of=('', *FRICTION_VELOCITIES),
    )  # fmt: skip
    feedforward: str = ''
    actuator: str = parameter('', 'drive of the arm', one_of=('', *ACTUATORS))
    integrator: str = parameter(
        '', "integrator of the plant, such as implicitfast (one step per timestep); empty:"
        " continuous, and with timestep 0 that of the robot's files",
    )  # fmt: skip
    latency: NumberOrText = ''
    latency_seed: int = parameter(0, 'random seed of drawn latencies', min=0)
    error: ModelError = field(default_factory=ModelError)
    drives: DriveParameters = field(default_factory=DriveParameters)
    joints: JointParameters = field(default_factory=JointParameters)
    sensors: SensorParameters = field(default_factory=SensorParameters)
    faults: str = parameter('', 'faults of drives and sensors, see `read_faults`')
    scene: str = parameter('', 'name or file of a scene, whose objects join those of the task')
    guard: GuardParameters = field(default_factory=GuardParameters)
    ranges: Ranges = field(default_factory=Ranges)
    seed: int = parameter(0, 'random seed of the drawn arms', min=0)

    @property
    def robot_label(self) -> str:
        """The robot's name in titles and reports."""
        return RobotArgument.of(self.robot).label

    @property
    def physics(self) -> str:
        """The engine, with its integrator where this takes one step per timestep."""
        return physics_of(self.engine, self.integrator)

    @classmethod
    def of_files(cls, robot: str, task: str, law: str, **others: Any) -> 'Experiment':
        """Return the experiment with gains and simulator as in the robot's files."""
        return cls(robot, task, law, **{'timestep': 0.0, 'natural_frequency': 0.0, **others})

    def load(self) -> 'LoadedExperiment':
        """Return it with robot and task. Raises ArmError: no such robot, or a wrong file."""
        return LoadedExperiment(self, load_robot(self.robot, self.config, self.timestep > 0.0))

    def drawn(self, draw: Draw) -> 'Experiment':
        """Return the experiment on a drawn arm.

        Drawn numbers replace those of `error` and `sensors`, and the drawn delay is added to that
        of `drives`; the other numbers stay.
        """
        drives = replace(self.drives, command_delay=self.drives.command_delay + draw.delay)
        error = replace(self.error, **changed(draw.error))
        sensors = replace(self.sensors, **changed(draw.sensors))
        return replace(self, error=error, drives=drives, sensors=sensors)


@dataclass(frozen=True)
class LoadedExperiment:
    """An experiment with its robot: builds task, law and plants.

    Attributes:
        experiment: what is to be done.
        robot: its arm, and the robot's files.
        given: parameters of the task in place of those in the robot's files.
    """

    experiment: Experiment
    robot: Robot
    given: Mapping[str, object] = field(default_factory=dict)

    def changed(self, **changes: object) -> 'LoadedExperiment':
        """Return the experiment with changes; it shares the task, which they do not concern."""
        return self._sharing('task', **changes)

    def on(self, draw: Draw) -> 'LoadedExperiment':
        """Return the same experiment on a drawn arm."""
        drawn = self.experiment.drawn(draw)
        changes = {name: getattr(drawn, name) for name in ('error', 'drives', 'sensors')}
        one = self._sharing('task', 'law_class', 'law_parameters', **changes)
        vars(one)['_plain_plant'] = draw.with_objects(self._plain_plant)
        return one

    def _sharing(self, *names: str, **changes: Any) -> 'LoadedExperiment':
        """Return another experiment of the robot that shares what need not be made again."""
        other = LoadedExperiment(replace(self.experiment, **changes), self.robot, self.given)
        vars(other).update({name: getattr(self, name) for name in names})
        return other

    @cached_property
    def task(self) -> Task:
        """The task. Raises ArmError: no such task, or the robot cannot do it."""
        e, given = self.experiment, self.given
        if e.frequency > 0.0 and e.task == 'sinusoid':
            own = make_task('sinusoid', self.robot)
            given = at_frequency(own, e.frequency) | dict(given)
        return make_task(e.task, self.robot, given)

    @property
    def _own_law(self) -> tuple[str, str]:
        """The name of the law in comparisons or launch files, and its variant."""
        name, _, variant = self.experiment.law.partition(':')
        return name, variant

    @property
    def law_name(self) -> str:
        """The name of the law among all laws."""
        name, _ = self._own_law
        return compared_laws().get(name, (name,))[0] if self.experiment.natural_frequency else name

    @cached_property
    def law_class(self) -> type[Law]:
        """The class of the law. Raises ArmError: no such law, or it has no design."""
        name, _ = self._own_law
        return compared_class(name) if self.experiment.natural_frequency else any_class(name)

    @cached_property
    def law_parameters(self) -> Any:
        """Parameters of the law: designed with the inertia at the robot's start, or its files'."""
        e, arm, law = self.experiment, self.arm, self.law_class
        level: ParameterValues = {'feedforward': e.feedforward} if e.feedforward else {}
        name, variant = self._own_law
        if issubclass(law.Parameters, Stepping):  # the steps are those of the plant
            level |= {x.name: getattr(self._plain_plant, x.name) for x in fields(Stepping)}
        if variant and not law.evaluation.variant:
            raise ArmError(f'law {e.law!r}: {name} has no variants')
        level |= {law.evaluation.variant: variant} if variant else {}
        if e.latency != '':
            if not law.evaluation.of_file:
                raise ArmError(f"law {e.law!r} infers nothing: latency is for law 'policy'")
            level |= {'latency': e.latency, 'latency_seed': e.latency_seed}
        if not e.natural_frequency:
            given = {**self._of_controller, **level}
            if self.task.gripper:
                given |= gains_of_arm(law, given, self.robot.model, self.task.gripper)
            return read_fields(law.Parameters, given, '', arm.joint_names)
        start = self.robot.start[[x in arm.joint_names for x in self.robot.model.joint_names]]
        if law.evaluation.of_file:
            return read_fields(law.Parameters, {**self.robot.controller_parameters(name), **level})
        design = designed(law, arm, start, e.natural_frequency)
        if law.evaluation.knows_delay:
            level['delay'] = self._plain_plant.command_delay + e.drives.command_delay
        _, named = compared_laws().get(name, ('', {}))  # a law of a file is not among them
        return replace(design, **named, **level)

    @cached_property
    def arm(self) -> RobotModel:
        """The model of the robot without the joint of a gripper, which has a law of its own."""
        model = self.robot.model
        return reduced_model(model, [x for x in model.joint_names if x != self.task.gripper])

    @property
    def _of_controller(self) -> Mapping[str, Any]:
        """The controller's parameters in the robot's files, where the gains are theirs."""
        designed = self.experiment.natural_frequency
        return {} if designed else self.robot.controller_parameters(self.law_name)

    @property
    def guard(self) -> GuardParameters:
        """Parameters of the guard; a law that is designed has that of the files, too."""
        e = self.experiment
        files = self.robot.controller_parameters(self.law_name)
        return e.guard if e.guard.enabled else read_fields(GuardParameters, files, 'guard.')

    def law(self, model: RobotModel | None = None, parameters: object = None) -> Law:
        """Return the law.

        Args:
            model: of the arm as the law believes it, or a BatchModel of many; None: the robot's.
            parameters: of the law, for many arms also a list; None: `law_parameters`.

        Raises:
            ArmError: the law refuses its parameters, or does not allow the reference's motion.
        """
        e, files = self.experiment, self._of_controller
        of_files = read_fields(DriveConvention, files)
        law = adapted_law(
            self.law_class,
            self.arm if model is None else model,
            self.law_parameters if parameters is None else parameters,
            e.friction_velocity or files.get('friction_velocity', 'measured'),
            e.reference_motion or files.get('reference_motion', 'continuous'),
            e.drives if e.drives.compensates else of_files,
            self.guard,
        )
        joint, robot = self.task.gripper, self.robot
        if not joint:
            return law
        own = read_fields(GripperParameters, robot.parameters('gripper_controller'))
        return ComposedLaw([law, GripperLaw(robot.model, own, joint)], robot.model.joint_names)

    def plant_parameters(self, law_parameters: Any = None) -> PlantParameters:
        """Return the plant's parameters; a servo's gains are the law's.

        `law_parameters` are of the law; None: those of the experiment.
        """
        e, plant, actuator = self.experiment, self._plain_plant, self._actuator
        own, joint = law_parameters, self.task.gripper
        if own is None and not e.actuator:
            own = self.law_parameters
        changes: ParameterValues = {'actuator': actuator}
        gains = ('servo_kp', 'servo_kd')
        changes |= {name: getattr(own, name) for name in gains if hasattr(own, name)}
        if joint:
            names = self.robot.model.joint_names
            changes['actuator'] = tuple('torque' if x == joint else actuator for x in names)
            for name in {*gains} & {*changes}:  # a drive that takes effort has no gains
                each = np.broadcast_to(changes[name], len(names) - 1)
                changes[name] = tuple(np.insert(each, names.index(joint), each[0]).tolist())
        changes |= changed(e.drives) | changed(e.joints) | changed(e.sensors)
        changes |= {name: getattr(e, name) for name in ('faults', 'scene') if getattr(e, name)}
        changes['command_delay'] = plant.command_delay + e.drives.command_delay
        return replace(plant, **changes)

    @property
    def _actuator(self) -> str:
        """The drive of the arm."""
        return self.experiment.actuator or ACTUATOR_FOR[self.law_class.command_interface]

    @cached_property
    def _plain_plant(self) -> PlantParameters:
        """The plant's parameters, without those that the law and the drawn arm decide on."""
        e, robot = self.experiment, self.robot
        if e.timestep:
            design = PD.designed(robot.model, robot.start, e.natural_frequency or 20.0, 1.0)
            gains: dict[str, Any] = {'servo_kp': design.kp, 'servo_kd': design.kd}
            gains |= {'timestep': e.timestep, 'integrator': e.integrator or CONTINUOUS}
            plain = PlantParameters(**gains)
            given = self.task.simulator
            return read_fields(PlantParameters, {**ros_values(plain), **given}) if given else plain
        files = {**robot.parameters('simulator'), **self.task.simulator}
        if e.integrator:
            files = {**files, 'integrator': e.integrator}
        if files.get('integrator') == 'lagged_euler' and self._actuator != 'voltage':
            files = {**files, 'integrator': CONTINUOUS}  # voltages alone have it
        return read_fields(plant_class(e.engine).Parameters, files)

    def _started(self, parameters: PlantParameters) -> PlantParameters:
        """Return the plant's parameters with the start of the task, where links touch others."""
        if not parameters.contacts:
            return parameters
        return replace(parameters, initial_positions=tuple(self.task.start.q.tolist()))

    def plants(self) -> tuple[Plant, Plant | None]:
        """Return the arm, and the arm once the task's payload has fallen off."""
        e, engine, task = self.experiment, plant_class(self.experiment.engine), self.task
        parameters = self._started(self.plant_parameters())
        arm = with_error(self.robot.model, e.error)
        loaded = with_error(arm, ModelError(payload=task.payload))
        later = None if task.drop_at is None else engine(arm, parameters)
        plant = engine(loaded, parameters)
        plant.devices.know(arm)
        return plant, later

    def run(self, model_error: ModelError | None = None) -> Record:
        """Return the record of a run in the loop; `model_error` is that of the law's model."""
        wrong = model_error not in (None, ModelError())
        model = with_error(self.arm, model_error or ModelError()) if wrong else None
        with seeded():
            return self.task.run(self.law(model), *self.plants())

    def track(self, record: Record) -> Tracking:
        """Return the errors of a run over time."""
        return track(self.robot.model, record, error=self.experiment.error)

    def batch(
        self,
        draws: Sequence[Draw],
        parameters: Sequence[Any] | None = None,
        make: Callable[..., Any] | None = None,
    ) -> tuple[Any, list[Event]]:
        """Return drawn arms as one batch, and the task's events for them.

        Args:
            draws: N arms.
            parameters: of the law on each arm, whose gains a servo's drives have; None: the same.
            make: builds the arms, see batch_of, which is the default.

        Raises:
            ArmError: what the batch refuses, for example voltages.
        """
        if make is None:
            from arm_sim.loop.batch_plant import batch_of  # a launch need not wait

            make = batch_of
        robot, engine = self.robot, self.experiment.engine
        if self.experiment.error.of_geometry:
            raise ArmError('length_scale: many arms at once are measured by the tip of one model')
        own = parameters or [None] * len(draws)
        drawn = [self.on(draw) for draw in draws]
        of_plants = [self._started(x.plant_parameters(p)) for x, p in zip(drawn, own, strict=True)]
        arms = [with_error(robot.model, one.experiment.error) for one in drawn]
        loaded = [with_error(arm, ModelError(payload=self.task.payload)) for arm in arms]
        later = None if self.task.drop_at is None else make(arms, of_plants, engine)
        return make(loaded, of_plants, engine), self.task.events(later)

    def batch_law(self, model: RobotModel | None, parameters: object = None) -> Law:
        """Return the law for the arms of a batch; `model` is a BatchModel.

        Raises:
            ArmError: the law commands one arm only.
        """
        if not self.law_class.many_arms:
            raise ArmError(f'law {self.experiment.law!r} commands one arm only (many_arms)')
        return self.law(model, parameters)
