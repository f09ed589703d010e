"""Robots by name: shipped ones, files of several formats, models of other packages."""

import re
import shlex
from dataclasses import dataclass
from difflib import get_close_matches
from os.path import isfile  # also of names that are too long for a path
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from arm_dynamics.checks import ArmError, one_of, say_once
from arm_dynamics.descriptions.conversion import is_mjcf, runs_code, urdf_file
from arm_dynamics.descriptions.joined import JOINED
from arm_dynamics.descriptions.reduced_model import reduced_model
from arm_dynamics.descriptions.sources import SOURCES
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.shapes import candidates

if TYPE_CHECKING:
    from arm_dynamics.descriptions.estimated_inertia import Estimate

# The values of `mjcf`: what engine mujoco simulates of an MJCF, the file itself or its URDF.
MJCF_VALUES = ('native', 'converted')


def share_folder() -> Path:
    """Return the folder that holds urdf/, config/ and launch/.

    That is the source tree when the package runs from one (also through a symlink install), else
    share/arm_sim of the installation prefix that holds this file.
    """
    here = Path(__file__).resolve()
    for folder in (here.parents[1], *(parent / 'share' / 'arm_sim' for parent in here.parents)):
        if (folder / 'urdf').is_dir():
            return folder
    raise ArmError(f'no urdf/ folder above {here}: is arm_sim installed completely?')


def robot_names() -> list[str]:
    """Return the names of the shipped robots, sorted."""
    return sorted(path.stem for path in (share_folder() / 'urdf').glob('*.urdf'))


def gripper_names() -> list[str]:
    """Return the names of the shipped grippers, sorted."""
    return sorted(path.stem for path in (share_folder() / 'urdf' / 'grippers').glob('*.urdf'))


class RobotArgument(NamedTuple):
    """The argument that names a robot: `panda tip_frame:=panda_link8 joints:=chain`.

    Attributes:
        name: a shipped robot's name; the path or `package://` of a URDF, a xacro or an MJCF; or
            the name of a model of example-robot-data or robot_descriptions, where installed.
        joints: names of the moving joints, or 'chain': those between the base and the tip frame;
            other joints are held. Empty: all joints; those with <mimic> follow their leaders.
        tip_frame: the link that is the tool; '': the last link.
        xacro_args: 'name:=value other:=value'.
        estimate: how masses of links without mass are estimated; None: they are not.
        gripper: a shipped gripper's name, or its file as for `name`; '': none.
        gripper_frame: the link of the arm that carries the gripper, see `with_gripper`.
        mjcf: 'native': engine mujoco simulates an MJCF itself; 'converted': its URDF.
    """

    name: str
    joints: tuple[str, ...] = ()
    tip_frame: str = ''
    xacro_args: str = ''
    estimate: 'Estimate | None' = None
    gripper: str = ''
    gripper_frame: str = ''
    mjcf: str = MJCF_VALUES[0]

    @property
    def is_shipped(self) -> bool:
        """Whether this is a shipped robot with all its joints, and without a gripper."""
        changed = self.joints or self.xacro_args or self.estimate or self.gripper
        return self.name in robot_names() and not changed

    @property
    def arm(self) -> 'RobotArgument':
        """The arm without its gripper; the chain of its joints ends at the gripper."""
        if not self.gripper:
            return self
        return self._replace(gripper='', gripper_frame='', tip_frame=self.gripper_frame)

    @property
    def joined(self) -> 'RobotArgument':
        """The robot without a gripper whose MJCF is that of the arm and the gripper, if both are.

        Others are returned as they are: their URDFs are joined.
        """
        arm, gripper = (Path(name).expanduser() for name in (self.name, self.gripper))
        native = self.mjcf == MJCF_VALUES[0] and self.gripper
        if not (native and is_mjcf(arm) and is_mjcf(gripper)):
            return self
        file = JOINED.load('with_mjcf_gripper')(arm, gripper, self.gripper_frame)
        return self._replace(name=str(file), gripper='', gripper_frame='')

    @property
    def label(self) -> str:
        """The name for a title: that of a file without its folder and suffix."""
        names = (Path(name).name for name in (self.name, self.gripper) if name)
        return ' with '.join(re.sub(r'(\.(urdf|xacro|xml|mjcf))+$', '', name) for name in names)

    @classmethod
    def of(cls, robot: str) -> 'RobotArgument':
        """Parse an argument; a word name:=value that this class does not know is for xacro."""
        if len(robot) > _LONGEST:
            raise ArmError(
                f'robot {robot[:60]!r}... has {len(robot)} characters; allowed: {_LONGEST}'
            )
        if ':=' not in robot or isfile(Path(robot).expanduser()):
            return cls(robot.strip(' \t\n\'"'))
        try:
            name, *words = shlex.split(robot)
        except ValueError as error:
            raise ArmError(f'robot {robot!r}: {error}') from None
        options = dict.fromkeys(('joints', 'tip_frame', 'xacro_args', *_OF_ESTIMATE), '')
        options |= {'gripper': '', 'gripper_frame': '', 'mjcf': MJCF_VALUES[0]}
        for_xacro = []
        for word in words:
            key, separator, value = word.partition(':=')
            if not separator or not key:
                raise ArmError(f'robot {robot!r}: {word!r} is not name:=value; quote spaces')
            if key in options:
                options[key] = value
            else:
                for_xacro.append(word)
        joints = tuple(filter(None, re.split(r'[,\s]+', options['joints'])))
        xacro_args = ' '.join(filter(None, (options['xacro_args'], shlex.join(for_xacro))))
        one_of('mjcf', options['mjcf'], MJCF_VALUES)
        if options['gripper_frame'] and not options['gripper']:
            raise ArmError('gripper_frame needs gripper:=')
        estimate = None
        if any(options[name] for name in _OF_ESTIMATE):
            from arm_dynamics.descriptions.estimated_inertia import estimate_of

            estimate = estimate_of(options)
        others = (options[key] for key in ('gripper', 'gripper_frame', 'mjcf'))
        return cls(name, joints, options['tip_frame'], xacro_args, estimate, *others)


_LONGEST = 10_000  # characters of a robot with all its words
_OF_ESTIMATE = ('inertia', 'density', 'total_mass')


def find_urdf(robot: str) -> Path:
    """Return the URDF file of a robot; `robot` is parsed by `RobotArgument`.

    A file that is converted from another format is removed when this process ends.

    Raises:
        ArmError: no such robot, or a file that cannot be used, with the remedy.
    """
    return urdf_of(RobotArgument.of(robot))


def urdf_of(argument: RobotArgument) -> Path:
    """Return the URDF file of a robot, as `find_urdf`."""
    argument = argument.joined
    file, xacro_args = _file_of(argument.name)
    if argument.mjcf == MJCF_VALUES[1] and not is_mjcf(file):
        raise ArmError(
            f'mjcf:={argument.mjcf} is for an MJCF; {argument.name!r} is none: leave it out'
        )
    if argument.gripper:
        frame = argument.gripper_frame
        arm = argument.arm._replace(mjcf='')
        gripper = gripper_urdf(argument.gripper, Path(argument.name).suffix == '.xacro')
        joined: Path = JOINED.load('with_gripper')(urdf_of(arm), gripper, frame)
        return joined
    xacro_args, native = argument.xacro_args or xacro_args, argument.mjcf == MJCF_VALUES[0]
    chosen = argument.joints, argument.tip_frame
    return urdf_file(file, xacro_args, *chosen, argument.estimate, native)


def gripper_urdf(gripper: str, on_xacro: bool = False) -> Path:
    """Return the URDF file of a gripper, for an arm that may be xacro; raises as `find_urdf`."""
    try:
        return urdf_file(*_file_of(gripper, 'urdf/grippers'), (), '')
    except ArmError as error:
        own = f"; for an argument of the xacro itself, write xacro_args:='gripper:={gripper}'"
        raise ArmError(f'gripper:={gripper}: {error}{own * on_xacro}') from None


def check_data_only(robot: str) -> None:
    """Raise ArmError if a robot's name, which came over the graph, would run code when loaded.

    Allowed are shipped robots and files that are a URDF or an MJCF: xacro is code, and a model of
    robot_descriptions is a module.
    """
    argument = RobotArgument.of(robot)
    for name, shipped in ((argument.name, robot_names()), (argument.gripper, gripper_names())):
        file = Path(name).expanduser()
        if name and name not in shipped and not (isfile(file) and not runs_code(file)):
            raise ArmError(
                f'robot {robot!r} came over the graph; allowed: a shipped robot, a URDF or an MJCF'
            )


def _file_of(robot: str, folder: str = 'urdf') -> tuple[Path, str]:
    """Return the file of a robot, and the arguments that its xacro needs."""
    shipped = share_folder() / folder / f'{robot}.urdf'
    if isfile(shipped) and '/' not in robot:
        return shipped, ''
    path = Path(robot).expanduser()
    if isfile(path):
        return path, ''
    for file in candidates(robot, Path.cwd() / 'here') if '://' in robot else ():
        if isfile(file):
            return file, ''
    for source in SOURCES.names() if '/' not in robot else ():
        named: tuple[Path, str] | None = SOURCES.load(source)(robot)
        if named:
            for near in get_close_matches(robot, robot_names(), 1, 0.8):
                say_once(f'{robot!r} is {named[0]} of another package; did you mean {near}?')
            return named
    kind, names = ('robot', robot_names()) if folder == 'urdf' else ('gripper', gripper_names())
    from arm_dynamics.robot_words import meant

    raise ArmError(meant(robot, kind, names))


@dataclass(frozen=True)
class ArmParameters(Parameters):
    """Parameters of the arm, which plant and controllers share."""

    robot: str = parameter('ur5e', 'robot name, or path of a URDF, xacro or MJCF')
    tool_frame: str = parameter(
        '', 'tool link; empty: named in the SRDF, tool0 or alike, else the flange'
    )
    gravity: tuple[float, ...] = parameter((0.0, 0.0, -9.81), 'gravity in the base frame [m/s^2]')
    armature: PerJoint = parameter(
        (), "rotor inertia seen at the joint [kg m^2 | kg]; empty: the URDF's", min=0
    )
    damping: PerJoint = parameter(
        (), "viscous joint friction [N.m.s/rad | N.s/m]; empty: the URDF's", min=0
    )
    friction: PerJoint = parameter(
        (), "Coulomb joint friction [N.m | N]; empty: the URDF's", min=0
    )

    def model(self) -> RobotModel:
        """Return the model; raises ArmError as `RobotModel` and `find_urdf` do."""
        joints = (self.armature, self.damping, self.friction)
        argument, file = RobotArgument.of(self.robot), find_urdf(self.robot)
        try:
            tip_frame = self.tool_frame or argument.tip_frame or None
            return RobotModel(file, tip_frame, self.gravity, *joints)
        except ArmError as error:  # a converted file is in a temporary folder
            raise ArmError(str(error).replace(str(file), argument.name)) from None


@dataclass(frozen=True)
class PartParameters(ArmParameters):
    """An arm, and which of its joints a controller commands."""

    joints: tuple[str, ...] = parameter(
        (), 'names of the joints that the controller commands; empty: all of the robot'
    )

    def model(self) -> RobotModel:
        """Return the model of the joints that the controller commands; the others are fixed."""
        arm = super().model()
        return reduced_model(arm, self.joints) if self.joints else arm
