"""`ros2 run arm_sim rerun FILE`: the recorded goals again, with the recorded parameters.

Simulator and controller run in a loop in this process, which is equal to the run over topics to
the last bit. So a recording attached to a bug report reproduces the bug.
"""

import json
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from typing import Any, NamedTuple

import numpy as np
from tyro.conf import Positional

from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.messages import MOST_POINTS_AT_LEISURE, goal_from_action
from arm_controllers.ros.serialized_messages import JointStateReader, stamp_ns
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import parameter
from arm_sim.command_line import CommandOptions, command
from arm_sim.loop.record import JointStates
from arm_sim.options import File
from arm_sim.recording.ros.recorded_run import RecordedRun
from arm_sim.ros.prediction import KnownNodes
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.simulation.simulation import Simulation

Answer = Callable[[int, Measurement], Array | None]  # stamp [ns], state -> command
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
        told = ', '.join(f'{x:.3g} ({each})' for each, x in zip(_FIELDS, largest, strict=True))
        return (
            f't = {self.recorded.time_ns[row] * 1e-9:.4f} s, joint {self.joints[joint]!r}: '
            f'{name} was {before[row, part, joint]:.17g}, is {self.again[row, part, joint]:.17g}; '
            f'at most {told}'
        )


def rerun(recording: RecordedRun, commands: bool = False) -> Rerun:
    """Run simulator and controller of a recording again.

    Args:
        recording: of a run in lock-step.
        commands: whether the recorded commands drive the arm instead of the recorded controller.

    Raises:
        ArmError: the recording is of real time, does not begin at t = 0, has a gap, or has no
            commands or parameters.
    """
    if not recording.commands:
        raise recording.lacks('joint_commands')
    reader = JointStateReader((), ())
    reader.open(recording.commands[0])
    controller = reader.sender
    nodes = KnownNodes(
        controller.removesuffix('_controller'), lambda name, names: recording.parameters_of(name)
    )
    simulation = nodes.simulation()
    joints = simulation.plant.joint_names
    recorded = recording.joint_states(joints)
    _check(recording, nodes, recorded, simulation)
    if commands:
        answer = _recorded_commands(recording, simulation)
    else:
        answer = _Controller(recording, nodes, controller, simulation.period_ns).answer
    wrenches = list(recording.wrenches)
    again = np.empty((len(recorded.time_ns), 3, len(joints)))
    for k, row in enumerate(again):
        plant, now = simulation.plant, simulation.time_ns
        row[:] = plant.measured.q, plant.measured.v, plant.effort
        command = answer(now, Measurement(row[0], row[1]))
        while wrenches and wrenches[0][0] <= now:
            _push(simulation, wrenches.pop(0)[1])
        if k + 1 < len(again):
            simulation.advance(command)
    return Rerun(controller, joints, recorded, again, len(recording.goals))


def _recorded_commands(recording: RecordedRun, simulation: Simulation) -> Answer:
    """Return a function that answers each state with the recorded command of its stamp."""
    plant = simulation.plant
    field = 'position' if plant.command_interface == 'position' else 'effort'
    reader = JointStateReader(plant.joint_names, (field,))
    by_stamp: dict[int, Array | None] = {}
    for raw in recording.commands:
        reader.open(raw)
        by_stamp[reader.time_ns] = None if reader.empty else reader.values(field).copy()
    return lambda now, measured: by_stamp.get(now)


class _Controller:
    """The recorded controller: its law and follower, and the goals that it accepted."""

    def __init__(self, recording: RecordedRun, nodes: KnownNodes, name: str, period_ns: int):
        self._law, self._follower = nodes.controller()
        own = nodes.read(name, ControllerParameters)
        self._dt = own.timestep * own.control_decimation
        self._goals = [(min(at, stamp_ns(raw)), raw) for at, raw in recording.goals]
        self._state: Any = None

        def future(periods: int) -> Reference:
            return self._follower.peek(self._now + periods * period_ns)

        self._follower.reference.future = future

    def answer(self, now: int, measured: Measurement) -> Array:
        """Return the command to a state of a stamp [ns]."""
        self._now, follower = now, self._follower
        if self._state is None:
            follower.activate(now, measured.q, measured.v)
        reference = follower.update(now, measured.q, measured.v)
        if self._state is None:
            self._state = self._law.start(measured, reference)
        command, self._state = self._law(self._state, measured, reference, self._dt)
        while self._goals and self._goals[0][0] <= now:
            follower.set_goal(
                goal_from_action(self._goals.pop(0)[1], None, MOST_POINTS_AT_LEISURE), now
            )
        follower.results.clear()
        return command


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


def _push(simulation: Simulation, message: Any) -> None:
    parts = message.wrench.force, message.wrench.torque
    stamp = message.header.stamp
    wrench = [getattr(part, axis) for part in parts for axis in 'xyz']
    simulation.push(message.header.frame_id, wrench, stamp.sec * 1_000_000_000 + stamp.nanosec)


@dataclass(frozen=True)
class Options(CommandOptions):
    """Run recorded goals again with the recorded parameters, and compare every state.

    The exit code is 0 if every bit is the same.
    """

    file: Positional[File] = parameter(MISSING, 'MCAP file, or folder with one')
    commands: bool = parameter(
        False, 'drive the arm by the recorded commands, not by the recorded controller'
    )
    json: bool = parameter(False, 'print JSON instead of lines')


@command(Options)
def main(options: Options) -> int:
    """Run the command; return 0 if every bit is the same."""
    recording = RecordedRun.load(options.file)
    found = rerun(recording, options.commands)
    difference = found.difference()
    told = {
        'controller': found.controller,
        'states': len(found.recorded.time_ns),
        'goals': found.goals,
        'same': not difference,
        'difference': difference,
        'recorded_with': recording.facts.get('arm_sim', {}),
    }
    if options.json:
        print(json.dumps(told, indent=2))
    else:
        goals = f'{found.goals} goal{"s" * (found.goals != 1)}'
        print(f'rerun: {told["states"]} states, {goals} under {found.controller}')
        first = f'they differ first at {difference}'
        print(f'rerun: {first if difference else "every bit is the same"}')
    return 1 if difference else 0
