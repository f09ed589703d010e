"""The tasks that laws are compared on: what to follow, and what disturbs it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.trajectory import Trajectory, hermite
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_controllers.sinusoid import Sinusoid
from arm_dynamics.arm_parameters import ArmParameters
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.model import Array, RobotModel
from arm_dynamics.paths.cartesian_path import joint_path_derivatives, polyline
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import SHARED, files_of, merged, parameters_of
from arm_sim.tasks.closed_loop import Push, ReferenceFunction
from arm_sim.tasks.cube import Cube

TASKS = ('sinusoid', 'step', 'push', 'payload_drop', 'cube')


@dataclass(frozen=True)
class Robot:
    """An arm and the facts about it that stand in its parameter file.

    Attributes:
        name: of the robot.
        model: from its URDF, with what the file says of gravity, rotors and friction.
        start: (n,) where tasks start [rad | m].
        amplitude, frequency: of the sinusoid [rad | m], [Hz].
    """

    name: str
    model: RobotModel
    start: Array
    amplitude: tuple[float, ...]
    frequency: float

    @classmethod
    def load(cls, name: str) -> 'Robot':
        """Read a shipped robot or a path of a URDF, and its parameter files.

        Raises:
            ArmError: no such robot, or a file that does not hold what it should.
        """
        sections = merged(files_of(name))
        task = parameters_of(sections, 'sinusoid_task')
        model = read_fields(ArmParameters, {**sections[SHARED], 'robot': name}).model()
        start = parameters_of(sections, 'simulator').get('initial_positions', model.neutral())
        return cls(
            find_urdf(name).stem,
            model,
            model.check_configuration(start, f'initial_positions of {name}'),
            tuple(per_joint('amplitude', task.get('amplitude', 0.2), model.joint_names)),
            float(task.get('frequency', 0.5)),
        )


@dataclass(frozen=True)
class Task:
    """One thing to follow.

    Attributes:
        name: of the task.
        reference: writes the reference of a time.
        duration: [s].
        push: external wrench, if any.
        payload: mass at the tool that the law does not know [kg].
        drop_at: when it falls off [s]; never by default.
        event: from when recovery is counted [s]; none: there is nothing to recover from.
        knots: where a trajectory goal has its points [s]; none: every 10 ms.
    """

    name: str
    reference: ReferenceFunction
    duration: float
    push: Push | None = None
    payload: float = 0.0
    drop_at: float | None = None
    event: float | None = None
    knots: tuple[float, ...] = ()


def make_task(name: str, robot: Robot, frequency: float = 0.0) -> Task:
    """Return a task by name for this robot.

    Args:
        name: one of TASKS.
        robot: who is to do it.
        frequency: of the sinusoid [Hz], followed for a second at least; 0: the robot's own, once.

    Raises:
        ArmError: no such task, or the robot cannot do it.
    """
    one_of('task', name, TASKS)
    in_range('frequency', frequency, 0.0, 100.0)
    if name == 'sinusoid' and frequency > 0.0:
        return sinusoid_task(robot, frequency, periods=max(1.0, 2.0 * frequency))
    makers: dict[str, Callable[[Robot], Task]] = {
        'sinusoid': _sinusoid,
        'step': _step,
        'push': _push,
        'payload_drop': _payload_drop,
        'cube': _cube,
    }
    return makers[name](robot)


def sinusoid_task(robot: Robot, frequency: float, periods: float = 1.0) -> Task:
    """Return the sinusoid at a frequency [Hz], for so many periods.

    Above the robot's own frequency the amplitude shrinks with its square: the peak acceleration
    stays, so that laws are compared and not torque limits.
    """
    scale = min(1.0, (robot.frequency / frequency) ** 2)
    sinusoid = Sinusoid(scale * np.array(robot.amplitude), frequency, robot.start)
    return Task('sinusoid', sinusoid.evaluate, periods / frequency)


def _sinusoid(robot: Robot) -> Task:
    return sinusoid_task(robot, robot.frequency)


def start_of(task: Task, robot: Robot) -> Reference:
    """Return the reference at time zero."""
    reference = Reference(robot.model.nv)
    task.reference(0.0, reference)
    return reference


def task_goal(task: Task, robot: Robot) -> Goal:
    """Return the task as a trajectory goal of quintics, which rests a second after the task."""
    knots = task.knots or np.linspace(0.0, task.duration, round(task.duration * 100) + 1)
    times = np.round(np.array(knots) * 1e9) * 1e-9  # as a message has them
    reference, rows = Reference(robot.model.nv), []
    for t in times:
        task.reference(float(t), reference)
        rows.append(reference.row.copy())
    q, v, a, _ = np.split(np.array(rows), 4, axis=1)
    times = np.append(times, times[-1] + 1.0)
    q, v, a = (np.vstack([x, x[-1] if x is q else 0.0 * x[-1]]) for x in (q, v, a))
    return Goal(robot.model.joint_names, times, q, v, a)


def goal_reference(goal: Goal, robot: Robot, q: Array, v: Array) -> ReferenceFunction:
    """Return what a controller makes of a goal that it gets when it takes over at q, v (n,)."""
    follower = TrajectoryFollower(robot.model, FollowerParameters())
    follower.activate(0, q, v)
    follower.set_goal(goal, 0)

    def reference(t: float, reference: Reference) -> None:
        reference.row[:] = follower.peek(round(t * 1e9)).row

    return reference


def _step(robot: Robot, size: float = 0.1, at: float = 0.1) -> Task:
    """All joints jump by `size`, within the limits; as a goal, within 0.4 s."""
    before = robot.start
    after = np.clip(before + size, robot.model.position_lower, robot.model.position_upper)

    def reference(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = after if t >= at else before

    return Task('step', reference, 1.6, event=at, knots=(0.0, at - 1e-3, at + 0.4, 1.6))


def _hold(robot: Robot) -> ReferenceFunction:
    def reference(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = robot.start

    return reference


def _push(robot: Robot) -> Task:
    """The tool is pushed sideways with 20 N for 0.2 s."""
    push = Push(robot.model.tip_frame, (0.0, 20.0, 0.0, 0.0, 0.0, 0.0), 0.3, 0.5)
    return Task('push', _hold(robot), 2.0, push=push, event=push.end)


def _payload_drop(robot: Robot) -> Task:
    """An unknown 2 kg is carried along the sinusoid and falls off half-way."""
    task = _sinusoid(robot)
    half = 0.5 * task.duration
    return replace(task, name='payload_drop', payload=2.0, drop_at=half, event=half)


def _cube(robot: Robot) -> Task:
    """The cube's twelve edges in straight lines, as the main job draws them."""
    model, cube = robot.model, Cube()
    if model.nv != 6:
        raise ArmError(f"task 'cube' needs a six-joint arm; {robot.name!r} has {model.nv} joints")
    rotation = model.forward_kinematics(robot.start).rotation
    times = cube.sample_times(0.02)
    samples = polyline(cube.waypoints, rotation, cube.edge_time).sample(times)
    path = solve_path_ik(model, samples.poses, robot.start)
    if not path.success:
        raise ArmError(f"task 'cube': {robot.name!r} cannot draw it: {path.reason}")
    v, a = joint_path_derivatives(model, path.q, samples.twists, samples.twist_rates)
    knots = (path.q, v, a)
    coefficients = hermite(
        np.diff(times), tuple(x[:-1] for x in knots), tuple(x[1:] for x in knots)
    )
    reference = Trajectory(times, coefficients).evaluate
    return Task('cube', reference, cube.duration, knots=tuple(times))
