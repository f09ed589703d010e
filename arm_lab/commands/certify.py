"""`python -m arm_sim certify`: whether a goal is within limits at every instant, for all arms."""

from dataclasses import MISSING, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
from matplotlib.figure import Figure
from tyro.conf import Positional

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory
from arm_controllers.parameter_file import sections_text
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import typed
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import changed, like, parameter
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_lab.certificate.certificate import Certificate, Certifier
from arm_lab.command_line import File, Folder, Name, RobotOptions, command
from arm_lab.commands import run
from arm_lab.commands.call import call
from arm_lab.experiments.ranges import Ranges
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.robot_files import load_robot
from arm_sim import pictures
from arm_sim.loop.goal_file import read_goal, write_goal
from arm_sim.loop.goals import sampled
from arm_sim.output_folder import writable_folder
from arm_sim.simulation.scene_shapes import scene_shapes

_INSTANTS = 400  # of the picture
_RANGES = 'mass', 'friction', 'effort', 'payload'
_BETWEEN = 0.01  # points of the goal of a counterexample [s]


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Certify a goal: safe for every arm within the model error, at every instant.

    Position, velocity, acceleration, jerk and torque have limits; links keep a distance from each
    other, the floor and the scene. The answer is 'safe', or the time, joint, value and limit of a
    counterexample, with the command that runs it. The exit code is 0 only for 'safe'.
    """

    goal: Positional[Annotated[str, 'GOAL']] = parameter(
        MISSING, 'path of a goal file in YAML, as `ros2 action send_goal` takes it'
    )
    mass: float = like(Ranges, 'mass')
    friction: float = like(Ranges, 'friction')
    effort: float = like(Ranges, 'effort')
    payload: float = like(Ranges, 'payload')
    max_acceleration: float = parameter(
        0.0, 'acceleration limit of each joint [rad/s^2 | m/s^2]; 0: none', min=0
    )
    max_jerk: float = parameter(0.0, 'jerk limit of each joint [rad/s^3 | m/s^3]; 0: none', min=0)
    clearance: float = parameter(
        0.0, 'distance that links keep from each other, the floor and objects [m]', min=0
    )
    scene: Name = parameter('', 'objects around the arm: a shipped scene, a YAML file or an MJCF')
    picture: File = parameter('', 'path of a picture of the torques; empty: none')
    counterexample: Folder = parameter(
        '', 'folder for the goal of a counterexample, as runs and launches take it; empty: none'
    )


@command(Options)
def main(options: Options) -> int:
    """Run the command; 0 where the goal is safe."""
    report = certified(options)
    print(report.words)
    if report.demonstration:
        print(f'this run shows it: {typed(report.demonstration)}')
    if report.recording:
        print('with a recording for rerun, report and render:')
        print('\n'.join(map(typed, report.recording)))
    if options.picture:
        pictures.save(report.figure, options.picture)
    return 0 if report.safe else 1


class CertifyReport(Report):
    """The answer for a goal.

    Attributes:
        words: the answer, in one line.
        certificate: the Certificate.
        demonstration: command line of a run of the arm that needs too much torque, or that comes
            too near to something; '' without.
        recording: command lines that record this run over topics, and run the recording again;
            empty without `counterexample`.
    """

    words: str
    certificate: Certificate
    demonstration = ''
    recording: tuple[str, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether the goal is proven to be within all limits."""
        return self.certificate.safe


def certified(options: Options) -> CertifyReport:
    """Return the report of the options."""
    robot = load_robot(options.robot, options.config)
    around = read_fields(Surroundings, robot.parameters())
    shapes = scene_shapes(options.scene) if options.scene else ()
    clearance = scene_clearance(robot.model, shapes, around)
    clearance.leave_out_always_near(options.clearance)
    certifier = Certifier(
        robot.model,
        Ranges(**{name: getattr(options, name) for name in _RANGES}),
        options.max_acceleration, options.max_jerk, clearance, options.clearance,
    )  # fmt: skip
    goal = read_goal(options.goal, robot.model, ('positions',))
    trajectory = certifier.trajectory(goal, robot.start)
    certificate = certifier.of_trajectory(trajectory)
    words = certificate.words(robot.model)
    note = f' ({clearance.note})' if clearance.note else ''
    facts: dict[str, object] = {'safe': certificate.safe, 'answer': words}
    arms = (
        f'masses within {options.mass:.0%}, friction up to {options.friction:.1%} of the effort '
        f'limits, payload up to {options.payload:g} kg, motors of at least {options.effort:.0%}'
    )
    rows = [['answer', words], ['arms', arms], ['shapes', clearance.note or 'of the URDF']]
    listing = Listing(options.goal, ['', 'found'], rows, texts=['found'])
    draw = partial(_figure, words, trajectory, certifier)
    report = CertifyReport('certificate', [listing], [facts], draw, found=certificate)
    report.words, report.certificate = f'{options.goal}: {words}{note}', certificate
    finding = certificate.finding
    if finding is not None and finding.quantity in ('torque', 'clearance'):
        sampled_goal = _with_all_states(trajectory, robot.model)
        whole = goal.accelerations is not None
        _demonstrate(report, options, sampled_goal, whole, finding.error)
    return report


def _demonstrate(
    report: CertifyReport,
    options: Options,
    goal: Goal,
    whole: bool,
    error: ModelError | None,
) -> None:
    """Give the report the command lines of a counterexample; write its goal where asked.

    `goal` has all states at its points; `whole`: that of the user has them as well.
    """
    file = Path(options.goal).expanduser().resolve()
    if options.counterexample:
        folder = writable_folder(options.counterexample).resolve()
        file = folder / 'goal.yaml'
        write_goal(file, goal)
        task = sections_text({'excite_task': {'file': str(file)}})
        (folder / 'parameters.yaml').write_text(task)
        words = [
            f'robot:={options.robot}', 'task:=excite', f'config:={folder / "parameters.yaml"}',
            'natural_frequency:=20', f'output_dir:={folder}',
        ]  # fmt: skip
        words += [f'scene:={options.scene}'] * bool(options.scene)
        words += [f"plant_error:='{_yaml(error)}'"] if error else []
        report.recording = (
            f'ros2 launch arm_sim task.launch.py {" ".join(words)}',
            f'ros2 run arm_sim rerun {folder / "recording.mcap"}',
        )
    elif not whole:  # the task does not take the file of the user
        return
    report.demonstration = run.Options(
        robot=options.robot, task='excite', parameters=f'{{file: {file}}}', scene=options.scene,
        plant_error=_yaml(error) if error else '{}',
    ).line()  # fmt: skip


def _with_all_states(trajectory: Trajectory, model: RobotModel) -> Goal:
    """Return a trajectory as a goal with all states at its knots and every 10 ms.

    Quintics through them are the same motion, but for 10 ms before a step of the acceleration.
    """
    between = np.arange(trajectory.start, trajectory.end, _BETWEEN)
    times = np.union1d(np.round(between, 9), np.round(trajectory.times, 9))
    q, v, a = sampled(trajectory.evaluate, times, model.nv)
    return Goal(tuple(model.joint_names), times, q, v, a)


certify = call(
    Options, certified, 'Certify a goal: safe at every instant for all arms, or where it is not.',
    goal='',
)  # fmt: skip


def _yaml(error: ModelError) -> str:
    """Return what differs from no error, as `--plant-error` takes it."""
    parts = []
    for name, value in changed(error).items():
        numbers = [f'{x:.6g}' for x in np.atleast_1d(value)]
        text = f'[{", ".join(numbers)}]' if isinstance(value, tuple) else numbers[0]
        parts.append(f'{name}: {text}')
    return f'{{{", ".join(parts)}}}'


def _figure(words: str, trajectory: Trajectory, certifier: Certifier) -> Figure:
    """Return a picture of the arms' torques, as shares of the weakest arm's limits."""
    times = np.linspace(trajectory.start, trajectory.end, _INSTANTS)
    model, arm = certifier.model, certifier.arm
    low, high = arm.torque_range(*sampled(trajectory.evaluate, times, model.nv))
    figure = pictures.new_figure(10.0, 2.6 * -(-model.nv // 3) + 0.6, words)
    for k, axis in enumerate(pictures.panels(figure, model.nv, sharex=True)):
        limit = arm.effort_limit[k]
        share = 1.0 / limit if np.isfinite(limit) else 1.0
        axis.fill_between(times, share * low[:, k], share * high[:, k], color=pictures.BLUE, lw=0)
        if np.isfinite(limit):
            for side in (-1.0, 1.0):
                axis.axhline(side, color=pictures.ORANGE, lw=1.2)
        label = 'torque / limit' if np.isfinite(limit) else 'torque'
        pictures.style(axis, model.joint_names[k], 'time [s]', label)
    return figure
