"""`ros2 run arm_sim rerun FILE`: the recorded goals again, with the recorded parameters.

Simulator and controller run in a loop in this process, which gives what they give over topics to
the last bit. So a recording is a bug report that shows the bug.
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.messages import goal_from_action
from arm_controllers.ros.serialized_messages import JointStateReader, stamp_ns
from arm_dynamics.checks import ArmError, Array
from arm_sim.loop.record import JointStates
from arm_sim.recording.ros.recorded_run import RecordedRun
from arm_sim.refusals import exit_code
from arm_sim.ros.prediction import KnownNodes
from arm_sim.ros.simulator_setup import SimulatorParameters
from arm_sim.simulation.simulation import Simulation

_FIELDS = {'position': 'q', 'velocity': 'v', 'effort': 'effort'}


class Rerun(NamedTuple):
    """A recorded run made again.

    Attributes:
        controller: name of the node whose commands were recorded.
        joints: names, in order.
        recorded: the states as they were recorded.
        again: position, velocity and effort of each state now (m, 3, n).
        goals: how many were followed.
    """

    controller: str
    joints: tuple[str, ...]
    recorded: JointStates
    again: Array
    goals: int

    def difference(self) -> str:
        """Return where the two differ first, and by how much at most; '' for nowhere."""
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


def rerun(recording: RecordedRun) -> Rerun:
    """Run what was recorded again.

    Raises:
        ArmError: it cannot be, because it was in real time, does not begin at 0, has a gap, or
            lacks commands or parameters.
    """
    if not recording.commands:
        raise recording.lacks('joint_commands')
    sender = JointStateReader((), ())
    sender.open(recording.commands[0])
    law = sender.sender.removesuffix('_controller')
    nodes = KnownNodes(law, lambda name, names: recording.parameters_of(name))
    simulation = nodes.simulation()
    joints = simulation.plant.joint_names
    recorded = recording.joint_states(joints)
    _check(recording, nodes, recorded, simulation)
    again = _run(recording, nodes, simulation, sender.sender, len(recorded.time_ns))
    return Rerun(sender.sender, joints, recorded, again, len(recording.goals))


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


def _run(
    recording: RecordedRun, nodes: KnownNodes, simulation: Simulation, controller: str, count: int
) -> Array:
    """Return position, velocity and effort of each state (count, 3, n)."""
    law, follower = nodes.controller()
    own = nodes.read(controller, ControllerParameters)
    dt = own.timestep * own.control_decimation
    goals = [(min(at, stamp_ns(raw)), raw) for at, raw in recording.goals]
    wrenches = list(recording.wrenches)
    again = np.empty((count, 3, len(simulation.plant.joint_names)))

    def future(periods: int) -> Reference:
        return follower.peek(simulation.time_ns + periods * simulation.period_ns)

    follower.reference.future = future
    for k in range(count):
        plant, now = simulation.plant, simulation.time_ns
        again[k] = plant.q, plant.v, plant.effort
        q, v = again[k, 0], again[k, 1]
        if not k:
            follower.activate(now, q, v)
        reference, measured = follower.update(now, q, v), Measurement(q, v)
        if not k:
            state = law.start(measured, reference)
        command, state = law(state, measured, reference, dt)
        while goals and goals[0][0] <= now:
            follower.set_goal(goal_from_action(goals.pop(0)[1], None), now)
        follower.results.clear()
        while wrenches and wrenches[0][0] <= now:
            _push(simulation, wrenches.pop(0)[1])
        if k + 1 < count:
            simulation.advance(command)
    return again


def _push(simulation: Simulation, message: Any) -> None:
    parts = message.wrench.force, message.wrench.torque
    stamp = message.header.stamp
    wrench = [getattr(part, axis) for part in parts for axis in 'xyz']
    simulation.push(message.header.frame_id, wrench, stamp.sec * 1_000_000_000 + stamp.nanosec)


@exit_code
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 where every bit is the same."""
    parser = argparse.ArgumentParser(prog='rerun', description=__doc__.splitlines()[0])
    parser.add_argument('file', metavar='FILE', help='MCAP file, or folder with one')
    parser.add_argument('--json', action='store_true', help='print JSON instead of lines')
    options = parser.parse_args(arguments)
    recording = RecordedRun.load(options.file)
    found = rerun(recording)
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
