"""The sinusoid as a trajectory goal, and the picture of how it was followed."""

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory, hermite
from arm_controllers.reference import Reference
from arm_controllers.sinusoid import Sinusoid
from arm_dynamics.checks import in_range, one_of
from arm_dynamics.model import Array, RobotModel

# Simulated time at which an arm at rest is set off: the goal is accepted before time runs.
START = 0.1


@dataclass(frozen=True)
class SinusoidTaskParameters:
    """Parameters of the task.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file.
        controller: whose goal it is: <controller>_controller; none: the simulator's own.
        gravity: in the base frame [m/s^2].
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        amplitude: one for all joints or one a joint [rad | m].
        frequency: [Hz].
        start: 'moving', on the sinusoid, as the simulator's initial_velocities let it; or 'rest',
            then half a cycle leads to it.
        cycles: measured cycles.
        sample_period: between points of the trajectory [s].
        limit: largest RMS error of any joint for exit code 0 [deg | mm]; 0: none.
        timeout: longest wait for another node [s].
        output_dir: folder for report.json and tracking.png.
    """

    robot: str = 'planar_3r'
    controller: str = 'computed_torque'
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    timestep: float = 0.002
    control_decimation: int = 1
    amplitude: tuple[float, ...] = (0.2,)
    frequency: float = 0.5
    start: str = 'rest'
    cycles: int = 1
    sample_period: float = 0.01
    limit: float = 0.0
    timeout: float = 20.0
    output_dir: str = 'sinusoid_output'

    def __post_init__(self):
        """Raises ArmError."""
        in_range('frequency', self.frequency, 0.001, 100.0)
        one_of('start', self.start, ('moving', 'rest'))
        in_range('cycles', self.cycles, 1, 1000)
        in_range('sample_period', self.sample_period, 1e-4, 1.0)
        in_range('limit', self.limit, 0.0)
        in_range('timeout', self.timeout, 0.1, 1000.0)


def goal_server(controller: str) -> str:
    """Return the node that takes the goals of a controller ('none': of the simulator)."""
    return 'simulator' if controller == 'none' else f'{controller}_controller'


def sinusoid_goal(
    model: RobotModel, p: SinusoidTaskParameters, amplitude: Array, center: Array
) -> tuple[Goal, int]:
    """Return the goal, and the stamp [ns] from which it is the sinusoid proper.

    It starts on the sinusoid, or rests at the center and reaches its velocity within half a cycle;
    it runs through the cycles, and comes to rest again within another half.
    """
    half = 0.5 / p.frequency
    count = max(4, round(p.cycles * 2.0 * half / p.sample_period))
    rest = np.ceil(half * 1e9 / 1e6) * 1e-3  # whole milliseconds
    start, lead = (0.0, 0.0) if p.start == 'moving' else (START, rest)
    phase = np.linspace(0.0, p.cycles / p.frequency, count + 1)
    sinusoid, reference = Sinusoid(amplitude, p.frequency, center), Reference(model.nv)
    rows = []
    for t in phase:
        sinusoid.evaluate(float(t), reference)
        rows.append(np.concatenate([reference.q, reference.v, reference.a]))
    q, v, a = np.split(np.array(rows), 3, axis=1)
    zero = np.zeros((1, model.nv))
    goal = Goal(
        model.joint_names,
        np.concatenate([lead + phase, [lead + phase[-1] + rest]]),
        np.vstack([q, center]),
        np.vstack([v, zero]),
        np.vstack([a, zero]),
        start_ns=round(start * 1e9),
    )
    return goal, round((start + lead) * 1e9)


def goal_trajectory_of(goal: Goal) -> Trajectory:
    """Return the quintics between the goal's points."""
    assert goal.velocities is not None
    assert goal.accelerations is not None
    states = (goal.positions, goal.velocities, goal.accelerations)
    return Trajectory(
        goal.times,
        hermite(np.diff(goal.times), tuple(x[:-1] for x in states), tuple(x[1:] for x in states)),
    )


def draw(t: Array, reference: Array, q: Array, error: Array, names: tuple[str, ...]) -> Figure:
    """Return the picture: positions with their reference, and errors below."""
    figure = Figure(figsize=(8, 5.5), layout='constrained')
    top, bottom = figure.subplots(2, 1, sharex=True)
    for i, name in enumerate(names):
        top.plot(t, q[:, i], color=f'C{i}', label=name)
        top.plot(t, reference[:, i], color=f'C{i}', linestyle=':', linewidth=2.5)
        bottom.plot(t, error[:, i], color=f'C{i}')
    top.set_ylabel('position [rad | m]\n(dotted: reference)')
    bottom.set_ylabel('error [deg | mm]')
    bottom.set_xlabel('time [s]')
    for axis in (top, bottom):
        axis.grid(alpha=0.3)
        axis.spines[['top', 'right']].set_visible(False)
    figure.legend(loc='outside upper center', ncols=3, frameon=False, fontsize=9)
    return figure
