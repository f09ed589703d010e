"""One arm by name, tried in every form: its own file, the MJCF that MuJoCo writes, a picture."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco

from arm_dynamics.checks import ArmError, one_line
from arm_dynamics.robots import RobotArgument
from arm_dynamics.temporary_folder import own_folder
from arm_sim.engines.mujoco import arm_spec
from arm_sim.robot import Robot
from arm_sim.robot_trials.trial import Trial, drives_of, trial_of
from arm_sim.simulation.mujoco_inertias import refused_inertias
from arm_sim.simulation.plant import PlantParameters
from arm_sim.view.arm_picture import arm_picture
from arm_sim.view.offscreen import Picture

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
    own: Trial
    mjcf: Trial | None = None
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
    except ArmError as error:
        return Tried(name, Trial(reason=one_line(error)))
    picture, no_picture = None, ''
    if size:
        try:
            picture = arm_picture(robot.model, robot.start, size, size)
        except ArmError as error:
            no_picture = one_line(error)
    try:
        own, (mjcf, no_mjcf) = trial_of(robot, poses), _through_mjcf(robot, poses)
    except ArmError as error:
        own, mjcf, no_mjcf = Trial(reason=one_line(error)), None, ''
    return Tried(name, own, mjcf, no_mjcf, picture, no_picture)


def _through_mjcf(robot: Robot, poses: int) -> tuple[Trial | None, str]:
    """Return the trial of the MJCF that MuJoCo writes of an arm, or why there is none."""
    if robot.model.mjcf:
        return None, 'the robot is an MJCF already'
    with TemporaryDirectory(dir=own_folder()) as folder:
        file = Path(folder, 'arm.xml')
        try:
            write_mjcf(robot, drives_of(robot), file)
        except ArmError as error:
            return None, one_line(error)
        words = shlex.join([str(file), f'tip_frame:={robot.model.tip_frame}'])
        try:
            return trial_of(Robot.load(words), poses), ''
        except ArmError as error:
            return Trial(reason=one_line(error)), ''


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
