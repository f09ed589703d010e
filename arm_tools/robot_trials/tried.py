"""Trials of an unmodified arm by name: its own file, the MJCF that MuJoCo writes, a picture.

A trial compares the dynamics with MuJoCo's, holds, follows a goal, and solves inverse kinematics.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

from arm_controllers.follower.trajectory import Trajectory, hermite
from arm_controllers.laws import Law
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, one_line
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import RobotArgument
from arm_dynamics.temporary_folder import own_folder
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.mujoco_inertias import refused_inertias
from arm_sim.simulation.mujoco_model import arm_spec
from arm_sim.simulation.plant import PlantParameters
from arm_tools.robot_doubts import weak_joints
from arm_tools.view.arm_picture import arm_picture
from arm_tools.view.offscreen import Picture

END_ERROR = 1e-3  # of holding and of a goal [rad | m]
REACHED = 0.99  # share of reachable poses that inverse kinematics must find

_HELD = 1.0  # [s]
_WAYS = (0.3, -0.3, 0.15, -0.15, 0.05, -0.05)  # of every joint to the goal [rad | m]
_SHORTEST, _LONGEST, _REST = 1.0, 16.0, 0.5  # of a goal and after it [s]
_SHARE = 0.9  # of the limits of speed and effort that a goal may ask for
_POINTS = 101  # of a goal at which that is looked at


@dataclass(frozen=True)
class RobotTrial:
    """One file of an arm, tried.

    Attributes:
        reason: why it is refused; '' where it is not, and then the others count.
        joints: number of those that move.
        tool: name of the frame.
        parity: largest relative difference between MuJoCo's dynamics and the model's.
        hold: largest error in one second of holding the start [rad | m].
        goal: error at the end of a goal [rad | m].
        reached: share of reachable poses that inverse kinematics finds.
        weak: a line for each joint that cannot carry the arm in some poses.
    """

    reason: str = ''
    joints: int = 0
    tool: str = ''
    parity: float = np.nan
    hold: float = np.nan
    goal: float = np.nan
    reached: float = np.nan
    weak: Sequence[str] = ()

    @property
    def faults(self) -> list[str]:
        """What is not as it should be, in words."""
        if self.reason:
            return [self.reason]
        ends = (('hold', self.hold), ('goal', self.goal))
        found = [
            f'{what}: error {1e3 * error:.3g} mrad, allowed {1e3 * END_ERROR:g}'
            for what, error in ends
            if not error < END_ERROR
        ]
        if not self.reached >= REACHED:
            found.append(f'IK: {self.reached:.1%} of the poses, at least {REACHED:.0%} is asked')
        return found


def trial_of(robot: Robot, poses: int) -> RobotTrial:
    """Try an arm under the servo law in MuJoCo; `poses`: number of poses for inverse kinematics.

    Raises:
        ArmError: the arm is refused.
    """
    plant = MujocoPlant(robot.model, drives_of(robot))
    parity = check_model(plant, robot.model)
    errors = _held(robot, plant), _gone(robot, plant)
    model = robot.model
    found = reached(robot, poses)
    return RobotTrial(
        '', model.nv, model.tip_frame, parity, *errors, found, [*weak_joints(model).values()]
    )


def drives_of(robot: Robot) -> PlantParameters:
    """Return the arm's servo drives. Raises ArmError where it has others."""
    drives = read_fields(PlantParameters, robot.parameters('simulator'))
    if drives.actuator != 'servo':
        raise ArmError(f'its drives take {drives.actuator}; arms are tried with servos only')
    return drives


def _law(robot: Robot) -> Law:
    return LoadedExperiment(Experiment.of_files(robot.name, 'step', 'servo'), robot).law()


def _held(robot: Robot, plant: MujocoPlant) -> float:
    """Return the largest error of the arm at rest where it starts."""

    def rest(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = robot.start

    record = run_closed_loop(plant, _law(robot), rest, _HELD)
    return _largest(record.q - robot.start) if record.completed else np.inf


def _gone(robot: Robot, plant: MujocoPlant) -> float:
    """Return the error at the end of a goal, half a second after it."""
    goal = _goal(robot)
    record = run_closed_loop(plant, _law(robot), goal.evaluate, goal.end + _REST)
    return _largest(record.q_end - goal.last) if record.completed else np.inf


def _rest_to_rest(q: Array, end: Array, duration: float) -> Trajectory:
    """Return the quintic from rest to rest, from q (n,) to end (n,)."""
    rest = np.zeros((1, len(q)))
    ends = (np.array([each]) for each in (q, end))
    curve = hermite(np.array([duration]), *((each, rest, rest) for each in ends))
    return Trajectory(np.array([0.0, duration]), curve, last=end)


def _goal(robot: Robot) -> Trajectory:
    """Return a goal from the start within the limits of the arm.

    Raises:
        ArmError: there is none, as the arm cannot carry itself.
    """
    model, start = robot.model, robot.start
    asked = np.inf, 0
    for length in _WAYS:
        ahead = np.clip(start + length, model.position_lower, model.position_upper)
        back = np.clip(start - length, model.position_lower, model.position_upper)
        end = np.where(np.abs(ahead - start) >= np.abs(back - start), ahead, back)
        duration = _SHORTEST
        while duration <= _LONGEST:
            goal = _rest_to_rest(start, end, duration)
            share = _share(model, goal)
            if share.max() <= _SHARE:
                return goal
            asked = min(asked, (float(share.max()), int(share.argmax())))
            duration *= 2.0
    raise ArmError(
        f'joint {model.joint_names[asked[1]]!r}: gravity near the start asks for {asked[0]:.0%} '
        f'of its effort limit, a goal may ask for {_SHARE:.0%}: give it a larger limit, or the '
        "arm's parameter file initial_positions that ask for less"
    )


def _share(model: RobotModel, goal: Trajectory) -> Array:
    """Return the largest share (n,) of the limits of speed and effort along a goal."""
    q, v, a = goal.states_in(np.zeros(_POINTS, int), np.linspace(0.0, goal.end, _POINTS))
    torque = model.torques_along(q, v, a)
    share = np.maximum(np.abs(torque) / model.effort_limit, np.abs(v) / model.velocity_limit)
    return np.asarray(share.max(axis=0))


def reached(robot: Robot, poses: int) -> float:
    """Return the share of poses, those of random configurations, that IK finds from the start."""
    model, rng = robot.model, np.random.default_rng(0)
    targets = (model.forward_kinematics(model.random_configuration(rng)) for _ in range(poses))
    return float(np.mean([solve_ik(model, pose, robot.start).success for pose in targets]))


def _largest(difference: Array) -> float:
    return float(np.abs(difference).max())


SIZE = 168  # of a picture among many, each way [pixels]


@dataclass(frozen=True)
class Tried:
    """One arm, tried.

    Attributes:
        name: as `robot:=` takes it.
        own: its file, or how it is refused.
        mjcf: the MJCF that MuJoCo writes of it; None: there is none.
        no_mjcf: why.
        picture: (size, size, 3) where it starts; None: there is none.
        no_picture: why.
    """

    name: str
    own: RobotTrial
    mjcf: RobotTrial | None = None
    no_mjcf: str = ''
    picture: Picture | None = None
    no_picture: str = ''

    @property
    def label(self) -> str:
        """What the arm is called in a table."""
        words = RobotArgument.of(self.name)
        return words.label + ' (chain)' * bool(words.joints)

    @property
    def faults(self) -> list[str]:
        """What is not as it should be; a file that is refused is named by `own.reason`."""
        of_mjcf = self.mjcf.faults if self.mjcf else []
        return [] if self.own.reason else [*self.own.faults, *(f'as MJCF: {x}' for x in of_mjcf)]


def try_robot(name: str, poses: int, size: int) -> Tried:
    """Try an arm with a number of poses and a size of its picture [pixels]; 0: no picture."""
    try:
        robot = Robot.load(name)
    except Exception as error:
        return Tried(name, _refused(error))
    picture, no_picture = None, ''
    if size:
        try:
            picture = arm_picture(robot.model, robot.start, size, size)
        except ArmError as error:
            no_picture = one_line(error)
    try:
        own, (mjcf, no_mjcf) = trial_of(robot, poses), _through_mjcf(robot, poses)
    except Exception as error:
        own, mjcf, no_mjcf = _refused(error), None, ''
    return Tried(name, own, mjcf, no_mjcf, picture, no_picture)


def _refused(error: Exception) -> RobotTrial:
    """Return the trial that ended so; one arm must not cost the results of all others."""
    of_library = '' if isinstance(error, ArmError) else f'{type(error).__name__}: '
    return RobotTrial(reason=f'{of_library}{one_line(error)}')


def _through_mjcf(robot: Robot, poses: int) -> tuple[RobotTrial | None, str]:
    """Return the trial of the MJCF that MuJoCo writes of an arm, or why there is none."""
    if robot.model.mjcf:
        return None, 'the robot is an MJCF already'
    with TemporaryDirectory(dir=own_folder()) as folder:
        file = Path(folder, 'written_by_mujoco.xml')  # notes name it
        try:
            write_mjcf(robot, drives_of(robot), file)
        except ArmError as error:
            return None, one_line(error)
        words = shlex.join([str(file), f'tip_frame:={robot.model.tip_frame}'])
        try:
            return trial_of(Robot.load(words), poses), ''
        except ArmError as error:
            return RobotTrial(reason=one_line(error)), ''


def write_mjcf(robot: Robot, drives: PlantParameters, file: Path) -> None:
    """Write an arm, without shapes, with its start as the key frame `home`.

    Raises:
        ArmError: no MJCF can say what the arm is.
    """
    model = robot.model
    for link, (moments, _) in refused_inertias(model).items():
        numbers = ', '.join(f'{moment:.3g}' for moment in moments)
        raise ArmError(f'MuJoCo writes no inertia like that of link {link!r}: {numbers} kg m^2')
    spec = arm_spec(model, drives, shapes=False)
    spec.add_key(name='home', qpos=model.all_positions(robot.start).tolist())
    try:
        spec.compile()
        file.write_text(spec.to_xml())
        mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        reason = one_line(error).removeprefix('Error: ').partition(' Element name')[0]
        raise ArmError(f'MuJoCo writes none that it reads: {reason}') from None
