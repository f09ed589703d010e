"""Simulation and live parameters of the simulator node."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from math import inf
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.parameter_values import ParameterField, parameter_fields
from arm_controllers.ros.parameters import on_change_of
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.robots import ArmParameters, find_urdf
from arm_sim.devices import live_fields
from arm_sim.pacings import PACINGS
from arm_sim.ros.state_output import StateOutput
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.pacing import Pacing
from arm_sim.simulation.plant import Plant, engine_classes, engine_names, plant_class
from arm_sim.simulation.simulation import Simulation

SCENE_OBJECTS = 'scene_objects'  # read-only parameter of the simulator


@dataclass(frozen=True)
class SimulatorParameters(ArmParameters, Limits):
    """Parameters of the simulator node, without those of the plant."""

    engine: str = parameter('mujoco', 'name of the physics engine')
    mode: str = parameter(
        'lockstep',
        "time base: 'lockstep' (waits for the command to each state) or 'realtime' (wall clock)",
        one_of=('lockstep', 'realtime'),
    )
    real_time_factor: float = parameter(
        1.0, 'simulated seconds per wall-clock second in realtime [1]', min=0.001, max=1000
    )
    initial_velocities: PerJoint = parameter((), 'velocities at reset [rad/s | m/s]; empty: rest')
    payload: float = parameter(0.0, 'mass at the tool frame, not in robot_description [kg]')
    payload_end: float = parameter(0.0, 'time at which the payload falls off [s]; 0: never', min=0)
    described: str = parameter('', 'robot whose URDF is published; empty: the simulated one')
    clock_rate: float = parameter(
        100.0, 'rate of /clock in simulated time [Hz]; 0: not published', min=0, max=10_000.0
    )
    tf_rate: float = parameter(
        50.0, 'rate of /tf in simulated time [Hz]; 0: not published', min=0, max=10_000.0
    )
    command_timeout: float = parameter(
        0.1, 'longest simulated time for which a command is used in realtime [s]', above=0
    )
    command_wait: float = parameter(
        1.0,
        'wall-clock time for which simulated time stands still in realtime for a command after '
        'command_timeout, until the arm brakes [s]; 0: it brakes at once',
        min=0,
    )
    command_stamp: str = parameter(
        'state',
        "meaning of a command's stamp: 'state' (that of the answered state) or "
        "'arrival' (ignored: a command holds until the next one; a lock-step is then one with a "
        'controller_manager)',
        one_of=('state', 'arrival'),
    )
    lockstep_timeout: float = parameter(
        30.0, 'wall-clock time without the awaited command until the arm brakes [s]', above=0
    )
    awaited_controllers: tuple[str, ...] = parameter(
        (), 'names of the controllers without whose commands a lock-step does not begin'
    )
    start_paused: bool = parameter(False, 'if true, the simulator starts paused')
    wait_for_camera: bool = parameter(
        False, 'if true, time in lock-step begins when the node camera has the initial state'
    )
    core: int = parameter(-1, 'CPU core to run on; -1: any core')


def description_of(parameters: SimulatorParameters, model: RobotModel) -> str:
    """Return the published URDF; raise ArmError if it is one of other joints."""
    name = parameters.described
    if not name:
        return model.description
    shown = RobotModel.from_urdf(find_urdf(name))
    if shown.joint_names != model.joint_names:
        raise ArmError(
            f'described is {name!r}, with joints {", ".join(shown.joint_names)}; the simulated '
            f'arm has {", ".join(model.joint_names)}'
        )
    return shown.urdf


def show_scene(node: Node, scene: str) -> None:
    """Declare a parameter with the objects of a YAML scene, from which `rerun` makes the scene."""
    if scene and not scene.endswith('.xml'):
        from arm_sim.simulation.scene import objects_text, read_scene  # imports SciPy

        text = objects_text(read_scene(scene))
        about = 'objects of the scene at the start, as a YAML list'
        node.declare_parameter(
            SCENE_OBJECTS, text, ParameterDescriptor(description=about, read_only=True)
        )


def set_up(parameters: SimulatorParameters, plant_parameters: Any) -> tuple[Simulation, float]:
    """Return the simulation and the largest relative difference of plant and model.

    A plant that differs is refused. The simulation's model is the arm without payload, which the
    controllers have too.
    """
    p, model = parameters, parameters.model()
    if p.awaited_controllers and p.mode != 'lockstep':
        raise ArmError(f"awaited_controllers is for mode 'lockstep', not {p.mode!r}")
    plant, agreement = make_plant(p, plant_parameters, model)
    swap = None
    if p.payload and p.payload_end:
        swap = (round(p.payload_end * 1e9), plant_class(p.engine)(model, plant_parameters))
    initial = plant_parameters.initial_positions or model.neutral()
    return Simulation(plant, model, initial, p.initial_velocities or None, swap, p), agreement


def make_plant(
    parameters: SimulatorParameters, plant_parameters: Any, model: RobotModel
) -> tuple[Plant, float]:
    """Return the plant of an arm with its payload, and how far it differs from its model."""
    p, engine = parameters, plant_class(parameters.engine)
    loaded = with_error(model, ModelError(payload=p.payload))
    plant = engine(loaded, plant_parameters)
    plant.devices.know(model)
    return plant, check_model(plant, loaded)


_OF_SERVOS, _OF_OBJECTS = {'servo_kp', 'servo_kd'}, {'scene', 'objects'}
_OF_PLANT = {'payload'} | _OF_SERVOS | _OF_OBJECTS
_OF_REAL_TIME = {'real_time_factor', 'command_timeout', 'command_wait'}
_OF_LOCKSTEP = {'lockstep_timeout'}
_OF_LIMITS = {each.name for each in fields(Limits)}
_OF_TIME = _OF_REAL_TIME | _OF_LOCKSTEP | {'clock_rate', 'tf_rate'}
LIVE = _OF_PLANT | _OF_TIME | _OF_LIMITS | live_fields()


def pacing_class(parameters: SimulatorParameters) -> type[Pacing]:
    """Return the kind of pacing, by mode and by the meaning of a command's stamp."""
    with_manager = parameters.mode == 'lockstep' and parameters.command_stamp == 'arrival'
    kind: type[Pacing] = PACINGS.load('manager' if with_manager else parameters.mode)
    return kind


def pacing_of(parameters: SimulatorParameters) -> Callable[[Clock], Pacing]:
    """Return what makes the pacing of a clock."""
    kind: Callable[..., Pacing] = pacing_class(parameters)
    values = timing(parameters)
    if parameters.mode == 'realtime':
        return partial(kind, holds=parameters.command_stamp == 'arrival', **values)
    return partial(kind, **values)


def timing(parameters: SimulatorParameters) -> dict[str, float]:
    """Return the timing of the clock's pacing in this mode."""
    p = parameters
    if p.mode == 'lockstep':
        return {'timeout': p.lockstep_timeout}
    timeout = p.command_timeout if p.command_stamp == 'state' else inf
    return {'timeout': timeout, 'factor': p.real_time_factor, 'wait': p.command_wait}


class LiveSimulator:
    """Takes parameters into use that are set while the simulator runs.

    The arm goes on from its state; another payload or other gains are another plant.
    """

    def __init__(
        self,
        node: Node,
        parameters: SimulatorParameters,
        plant_parameters: Any,
        clock: Clock,
        shown: StateOutput,
    ):
        """Watch the parameters that are LIVE on the node."""
        self._now = (parameters, plant_parameters)
        self._clock, self._shown = clock, shown
        kinds = [type(each) for each in self._now]
        on_change_of(node, kinds, self._check, self._apply)

    def _check(self, *wanted: Any) -> tuple[tuple[Any, ...], Plant | None]:
        """Return the parameters and, where they are another plant's, that; refuse the rest."""
        changed = _changed(self._now, wanted)
        p, of_plant = wanted
        idle = _OF_REAL_TIME if p.mode == 'lockstep' else _OF_LOCKSTEP
        for name in sorted(changed & idle):
            raise ArmError(f'{name} has no effect in mode {p.mode!r}')
        if p.command_stamp == 'arrival':
            for name in sorted(changed & {'command_timeout', 'command_wait'}):
                raise ArmError(f"{name} has no effect with command_stamp 'arrival'")
        self._clock.simulation.plant.devices.check_change(changed, of_plant)
        if not changed & _OF_PLANT:
            return wanted, None
        names = ' and '.join(sorted(changed & _OF_PLANT))
        kinds = of_plant.actuators(self._clock.simulation.plant.joint_names)
        servos = not {'servo', 'velocity'}.isdisjoint(kinds)
        servo = servos and getattr(of_plant, 'motion_type', 'pd') == 'pd'
        if not servo and changed & _OF_SERVOS:
            raise ArmError(f'{names} has no effect: the arm has no servos')
        if p.payload_end:
            raise ArmError(f'{names} cannot change while payload_end is set')
        if 'payload' in changed and p.engine == 'analytical':
            raise ArmError("payload cannot change with engine 'analytical', which compiles it")
        if changed & _OF_OBJECTS:
            self._clock.check_rest()
        return wanted, make_plant(p, of_plant, self._clock.simulation.model)[0]

    def _apply(self, change: tuple[tuple[Any, ...], Plant | None]) -> None:
        old, (self._now, plant) = self._now, change
        (before, _), (p, of_plant), simulation = old, self._now, self._clock.simulation
        if plant is not None:
            simulation.replace(plant)
            self._shown.show_objects()
        simulation.change_devices(_changed(old, self._now), of_plant)
        simulation.set_limits(p)
        if timing(p) != timing(before):
            self._clock.pacing.set_timing(**timing(p))
        self._shown.set_clock_rate(p.clock_rate)
        self._shown.displays.set_rate(p.tf_rate)


def _changed(before: Sequence[Any], after: Sequence[Any]) -> frozenset[str]:
    """Return the names of fields that differ."""
    return frozenset(
        each.name
        for now, then in zip(before, after, strict=True)
        for each in fields(now)
        if getattr(now, each.name) != getattr(then, each.name)
    )


def simulator_fields(name: str, joint_names: Sequence[str]) -> Iterator[ParameterField]:
    """Yield the parameters, also those of engines that follow goals themselves."""
    yield from parameter_fields(SimulatorParameters)
    for engine in engine_classes(engine_names()).values():
        yield from parameter_fields(engine.Parameters)
    yield from parameter_fields(FollowerParameters, joint_names=joint_names)
