"""`ros2 run arm_sim rerun FILE`: the recorded goals again, with the recorded parameters.

The loop of task runs and comparisons, `Loop`, advances time in this process. The result equals
the run over topics to the last bit: a recording attached to a bug report reproduces the bug.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, replace
from functools import partial
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import ArrayLike
from sensor_msgs.msg import JointState
from tyro.conf import Positional

from arm_controllers.reference import Reference
from arm_controllers.ros.cdr import stamp_ns, starts_now
from arm_controllers.ros.command_messages import CommandReader
from arm_controllers.ros.messages import MOST_POINTS_LOCKSTEP, components, goal_from_action, to_ns
from arm_controllers.ros.object_messages import shapes_of
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import parameter
from arm_lab.command_line import CommandOptions, File, command
from arm_sim.loop.events import Event
from arm_sim.loop.loop import Loop
from arm_sim.loop.record import JointStates
from arm_sim.ros.prediction import KnownNodes
from arm_sim.ros.simulator_services.actuator_commands import controls_of
from arm_sim.ros.simulator_setup import SimulatorParameters, make_plant
from arm_sim.simulation.plant import Plant, PlantParameters, plant_class
from arm_sim.simulation.scene import read_objects, read_scene
from arm_sim.simulation.simulation import Simulation
from arm_tools.readers.findings import Doubt, print_doubts
from arm_tools.readers.read_options import ReadRun
from arm_tools.recording.ros.recorded_run import RecordedRun

_FIELDS = {'position': 'q', 'velocity': 'v', 'effort': 'effort'}


class Rerun(NamedTuple):
    """The result of running a recording again.

    Attributes:
        controller: name of the node whose commands were recorded.
        joints: names, in order.
        recorded: the recorded states.
        again: position, velocity and effort of each state of the second run (m, 3, n).
        goals: number of recorded goals.
    """

    controller: str
    joints: tuple[str, ...]
    recorded: JointStates
    again: Array
    goals: int

    def difference(self) -> str:
        """Return the first difference of both runs and the largest ones; '' if there is none."""
        fields = [getattr(self.recorded, name) for name in _FIELDS.values()]
        before = np.stack(fields, axis=1)
        same = (before == self.again) | (np.isnan(before) & np.isnan(self.again))
        if same.all():
            return ''
        row, part, joint = (int(each) for each in np.argwhere(~same)[0])
        name = list(_FIELDS)[part]
        largest = np.abs(before - self.again).max(axis=(0, 2))
        each_field = ', '.join(
            f'{x:.3g} ({each})' for each, x in zip(_FIELDS, largest, strict=True)
        )
        return (
            f't = {self.recorded.time_ns[row] * 1e-9:.4f} s, joint {self.joints[joint]!r}: '
            f'{name} was {before[row, part, joint]:.17g}, is {self.again[row, part, joint]:.17g}; '
            f'at most {each_field}'
        )


def rerun(recording: RecordedRun, commands: bool = False) -> Rerun:
    """Run simulator and controller of a recording again.

    Args:
        recording: of a run in lock-step.
        commands: whether the recorded commands drive the arm instead of the recorded controller.

    Raises:
        ArmError: the recording is of real time, does not begin at t = 0, has a gap, or has no
            commands or parameters; several controllers; a command is not finite.
    """
    if not recording.commands:
        raise recording.lacks('joint_commands')
    controller, *others = _senders(recording.commands)
    if others:
        raise ArmError(
            f'{" and ".join(sorted([controller, *others]))} command the arm; a rerun repeats one '
            'controller of all joints'
        )
    nodes = KnownNodes(
        controller.removesuffix('_controller'), lambda name, names: recording.parameters_of(name)
    )
    simulation = nodes.simulation()
    joints = simulation.plant.joint_names
    recorded = recording.joint_states(joints)
    _check(recording, nodes, recorded, simulation)
    if commands:
        loop, sent = _with_recorded_commands(recording, nodes, simulation)
    else:
        loop = _with_controller(recording, nodes, simulation)
        sent = [None] * len(recording.states)
    again = np.empty((len(recorded.time_ns), 3, len(joints)))
    for k, row in enumerate(again):
        if k:
            loop.step(sent[k - 1])
        if not loop.alive:
            raise ArmError(f'the command at t = {(k - 1) * loop.period:.4f} s is not finite')
        q, v, effort, *_ = loop.plant.measured
        row[:] = q, v, loop.plant.effort if effort is None else effort
    return Rerun(controller, joints, recorded, again, len(recording.goals))


def newer_policies(recording: RecordedRun) -> list[str]:
    """Return a line for each file of a policy that was written after the recording."""
    written = recording.path.stat().st_mtime
    found = {str(known.get('policy') or '') for known in recording.parameters.values()} - {''}
    newer = (each for each in sorted(found) if Path(each).is_file())
    return [
        Doubt(f'policy {each!r} was written after the recording: it may not be the recorded one')
        for each in newer
        if Path(each).stat().st_mtime > written
    ]


def _senders(commands: Iterable[bytes]) -> list[str]:
    """Return the controllers that have sent these commands, the first one first."""
    reader, senders = JointStateReader((), ()), dict[str, None]()
    for raw in commands:
        reader.open(raw)
        senders[reader.sender] = None
    return list(senders)


class _BrakedPlant(Plant):
    """The recorded simulator as the plant of a loop: an arm with brake, speed limit and payload.

    It begins only at the recorded start. Without a command for a period the brake acts.
    """

    def __init__(self, simulation: Simulation, unanswered: Container[int] = ()):
        """Read the start; `unanswered` are the stamps [ns] of the states without a command."""
        self.simulation, self._unanswered = simulation, unanswered
        self.parameters = simulation.plant.parameters
        self.joint_names = simulation.plant.joint_names
        self.command_interfaces = simulation.plant.command_interfaces
        self.command_interface = simulation.plant.command_interface
        self.read()

    def reset(self, q: ArrayLike = (), v: ArrayLike | None = None) -> None:
        """Return to the recorded start, whatever q and v are."""
        self.simulation.reset()
        self.read()

    def step(self, command: Array) -> None:
        """Advance by one control period."""
        braked = self.simulation.time_ns in self._unanswered
        self.simulation.advance(None if braked else command)
        self.read()

    def read(self) -> None:
        """Show the state of the simulator's present plant."""
        plant = self.simulation.plant  # another one when a payload has fallen off
        self.q, self.v, self.effort, self.measured = plant.q, plant.v, plant.effort, plant.measured


def _with_recorded_commands(
    recording: RecordedRun, nodes: KnownNodes, simulation: Simulation
) -> tuple[Loop, list[Array | None]]:
    """Return the loop, and the recorded command (n,) of each control period."""
    plant, period_ns = simulation.plant, simulation.period_ns
    reader = CommandReader(plant.joint_names, plant.command_interfaces)
    by_stamp: dict[int, Array] = {}
    for raw in recording.commands:
        reader.open(raw)
        by_stamp.pop(reader.time_ns, None)
        if not reader.empty:
            by_stamp[reader.time_ns] = reader.command().copy()
    stamps = range(0, len(recording.states) * period_ns, period_ns)
    braked = _BrakedPlant(simulation, set(stamps).difference(by_stamp))
    law: Any = SimpleNamespace(command_interface=plant.command_interface, needs=())  # not called
    loop = Loop(braked, law, lambda t, reference: None, _inputs(recording, nodes, simulation))
    rest = np.zeros(len(plant.joint_names))
    return loop, [by_stamp.get(k, rest) for k in stamps]


def _with_controller(recording: RecordedRun, nodes: KnownNodes, simulation: Simulation) -> Loop:
    """Return the loop of the recorded controller: its law, and what follows the accepted goals."""
    law, follower = nodes.controller()
    plant, period_ns = _BrakedPlant(simulation), simulation.period_ns
    if follower.joint_names != plant.joint_names:
        raise ArmError(
            f'the recorded controller commands {", ".join(follower.joint_names)} alone; a rerun '
            'repeats a controller of all joints'
        )
    follower.activate(0, plant.measured.q, plant.measured.v)

    def reference_function(t: float, reference: Reference) -> None:
        now, measured = round(t * 1e9), plant.measured
        if now == simulation.time_ns:
            reference.row[:] = follower.update(now, measured.q, measured.v).row
            follower.results.clear()
        else:  # for a law with a horizon
            reference.row[:] = follower.peek(now).row

    def set_goal(raw: bytes, plant: Plant) -> Plant:
        goal = goal_from_action(raw, None, MOST_POINTS_LOCKSTEP)
        follower.set_goal(goal, follower.time_ns)
        return plant

    goals = [(accepted_ns(at, raw), partial(set_goal, raw)) for at, raw in recording.goals]
    # The controller answers a state before it takes a goal.
    events = [*_events(goals, period_ns, 1), *_inputs(recording, nodes, simulation)]
    return Loop(plant, law, reference_function, events)


def accepted_ns(recorded_ns: int, raw: bytes) -> int:
    """Return when a recorded goal was accepted [ns]; exact where its sender gave no stamp.

    A recorder in lock-step may be some states late: its newest one gives the time of the record.
    """
    return stamp_ns(raw) if starts_now(raw) else min(recorded_ns, stamp_ns(raw))


def _inputs(recording: RecordedRun, nodes: KnownNodes, simulation: Simulation) -> Iterator[Event]:
    """Yield wrenches, commands to actuators of an MJCF and changes of the objects as events."""

    def push(message: WrenchStamped, plant: Plant) -> Plant:
        wrench = components(message.wrench.force, message.wrench.torque)
        with suppress(ArmError):  # refused as in the recorded run
            simulation.push(message.header.frame_id, wrench, to_ns(message.header.stamp))
        return plant

    def control(message: JointState, plant: Plant) -> Plant:
        with suppress(ArmError):
            simulation.set_actuators(controls_of(message), to_ns(message.header.stamp))
        return plant

    stamped: list[tuple[int, Callable[[Plant], Plant]]] = []
    stamped += [(at, partial(push, message)) for at, message in recording.wrenches]
    stamped += [(at, partial(control, message)) for at, message in recording.actuators]
    stamped += _object_changes(recording, nodes, simulation)
    stamped.sort(key=itemgetter(0))
    return _events(stamped, simulation.period_ns)


def _object_changes(
    recording: RecordedRun, nodes: KnownNodes, simulation: Simulation
) -> Iterator[tuple[int, Callable[[Plant], Plant]]]:
    """Yield the changes of the objects, with the stamps [ns] of the first states that show them.

    A change that was never shown is left out, with those behind it.
    """
    if not recording.object_changes:
        return
    p = nodes.read('simulator', SimulatorParameters)
    start = nodes.read('simulator', plant_class(p.engine).Parameters)
    # The scene of the start is in the recording.
    scene = recording.parameters[f'{recording.namespace}/simulator'].get('scene')
    own = {'scene': start.scene}
    rows = [start]
    for each in recording.object_changes:
        rows.append(replace(rows[-1], **each | (own if each.get('scene') == scene else {})))
    names = [_names_of_objects(each) for each in rows]
    known = set().union(*names)
    shown = [(at, {x.name for x in shapes_of(raw)} & known) for at, raw in recording.objects]

    def change(parameters: PlantParameters, plant: Plant) -> Plant:
        assert isinstance(plant, _BrakedPlant)
        simulation.replace(make_plant(p, parameters, simulation.model)[0])
        plant.read()
        return plant

    k = 0
    for parameters, expected in zip(rows[1:], names[1:], strict=True):
        while k < len(shown) and shown[k][1] != expected:
            k += 1
        if k == len(shown):
            return
        yield shown[k][0], partial(change, parameters)


def _names_of_objects(parameters: PlantParameters) -> set[str]:
    """Return the names of all objects but those of an MJCF scene."""
    scene = '' if parameters.scene.endswith('.xml') else parameters.scene
    return {each.name for each in (*read_scene(scene), *read_objects(parameters.objects))}


def _events(
    stamped: Iterable[tuple[int, Callable[[Plant], Plant]]], period_ns: int, later: int = 0
) -> Iterator[Event]:
    """Yield events at the first state from their stamp [ns] on, a number of periods later."""
    period = 0
    for stamp, action in stamped:
        period = max(period, -(-stamp // period_ns))  # in the recorded order
        yield (period + later) * period_ns * 1e-9, action


def _check(
    recording: RecordedRun, nodes: KnownNodes, recorded: JointStates, simulation: Simulation
) -> None:
    if nodes.read('simulator', SimulatorParameters).mode != 'lockstep':
        raise ArmError(f'recording {str(recording.path)!r} is of real time; rerun needs lockstep')
    expected = np.arange(len(recorded.time_ns)) * simulation.period_ns
    wrong = np.flatnonzero(recorded.time_ns != expected)
    if wrong.size:
        t = recorded.time_ns[wrong[0]] * 1e-9
        raise ArmError(
            f'recording {str(recording.path)!r} has no state {wrong[0]} '
            f'(t = {expected[wrong[0]] * 1e-9:.4f} s), but one of t = {t:.4f} s; '
            'rerun needs all from t = 0 on: reset the simulator while the recorder runs'
        )


@dataclass(frozen=True)
class Options(CommandOptions):
    """Run recorded goals again with the recorded parameters, and compare every state.

    The exit code is 0 if every bit is the same.
    """

    file: Positional[File] = parameter(MISSING, 'path of an MCAP file, or of a folder with one')
    commands: bool = parameter(
        False, 'drive the arm by the recorded commands, not by the recorded controller'
    )
    json: bool = parameter(False, 'print JSON instead of lines')
    reading: ReadRun = field(default_factory=ReadRun)


@command(Options)
def main(options: Options) -> int:
    """Run the command; return 0 if every bit is the same."""
    recording = RecordedRun.load(options.file, options.reading)
    print_doubts([*recording.findings, *newer_policies(recording)])
    found = rerun(recording, options.commands)
    difference = found.difference()
    summary = {
        'controller': found.controller,
        'states': len(found.recorded.time_ns),
        'goals': found.goals,
        'same': not difference,
        'difference': difference,
        'recorded_with': recording.facts.get('arm_sim', {}),
    }
    if options.json:
        print(json.dumps(summary, indent=2))
    else:
        goals = f'{found.goals} goal{"s" * (found.goals != 1)}'
        print(f'rerun: {summary["states"]} states, {goals} under {found.controller}')
        first = f'they differ first at {difference}'
        print(f'rerun: {first if difference else "every bit is the same"}')
    return 1 if difference else 0
