"""`ros2 run arm_sim inspect_robot FILE`: what a robot's file says, and what others read there."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np
from tyro.conf import Positional

from arm_dynamics.checks import ArmError, some_of, units
from arm_dynamics.descriptions.conversion import said_of
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import find_urdf
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.shapes import mesh_finder
from arm_dynamics.surroundings import Surroundings
from arm_lab.command_line import CommandOptions, Folder, command
from arm_lab.commands.call import call
from arm_lab.experiments.report import Listing, Report
from arm_lab.progress import writing
from arm_sim.loop.report import plain
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import new_figure
from arm_sim.robot import Robot
from arm_tools.robot_doubts import doubts, weak_joints, weight_of
from arm_tools.robot_readers import Reading, reach, readings
from arm_tools.view.arm_picture import arm_picture

_SIZE = 480  # of the picture, each way [pixels]


@dataclass(frozen=True)
class Options(CommandOptions):
    """Show joints, limits, tool, masses and reach of a robot, and what of its file is not used.

    The table of other readers shows how far MuJoCo's importer, yourdfpy and Drake are from this
    package for the same URDF, and what check_urdf says of it, where they are installed.
    """

    robot: Positional[str] = parameter('ur5e', 'robot as in robot:= of launch files, as one word')
    json: bool = parameter(False, 'print JSON instead of the tables, and write no file')
    output_dir: Folder = parameter('inspect_robot', 'folder for table, JSON and picture')


class RobotReport(Report):
    """What a robot's file says.

    Attributes:
        found: the RobotModel.
    """

    found: RobotModel

    def __init__(self, options: Options):
        """Read the robot of the options; raises ArmError where it is refused."""
        robot = Robot.load(options.robot)
        self._robot, model = robot, robot.model
        urdf = find_urdf(options.robot)
        others = list(readings(model, urdf))
        heaviest = weight_of(model)
        facts = {
            'robot': model.name,
            'file': model.file or 'text',
            'tool_frame': model.tip_frame,
            'reach_m': reach(model),
            'mass_kg': float(sum(each.mass for each in model.pin_model.inertias[1:])),
        }
        joints = [_joint(model, i, float(heaviest[i])) for i in range(model.nv)]
        notes = [
            *said_of(urdf),
            *model.notes,
            *doubts(model),
            *_for_simulation(model),
            *_not_drawn(model),
        ]
        weak = weak_joints(model)
        notes += weak.values()
        of = units('N.m | N', model.prismatic)
        listings = [
            Listing(
                f'{model.name}: tool {model.tip_frame}, reach from the first joint '
                f'{facts["reach_m"]:.3f} m, moving mass {facts["mass_kg"]:.3f} kg',
                ('joint', 'lower', 'upper', 'speed', 'effort', 'gravity at most', 'unit'),
                [_cells(each) for each in joints],
                texts=('unit',),
                bad=[i for i, each in enumerate(joints) if each['joint'] in weak],
            ),
            Listing(
                'the same URDF in other readers: differences',
                ('reader', 'tool [mm]', 'mass [kg]', f'gravity [{of}]', 'not read, because'),
                [_other(each) for each in others],
                texts=('not read, because',),
            ),
        ]
        rows = [{**each} for each in joints]
        numbers = {
            **facts, 'joints': joints, 'notes': notes, 'readers': [x._asdict() for x in others]
        }  # fmt: skip
        super().__init__(
            'inspect_robot', listings, rows, self._draw, found=model, notes=notes, numbers=numbers
        )

    def _draw(self) -> Any:
        figure = new_figure(4.0, 4.0, self.found.name)
        axis = figure.add_subplot()
        axis.imshow(arm_picture(self.found, self._robot.start, _SIZE, _SIZE))
        axis.set_axis_off()
        return figure


def _for_simulation(model: RobotModel) -> Iterator[str]:
    """Yield what the simulator and the clearance check would say."""
    clearance = partial(scene_clearance, model, surroundings=Surroundings(floor=False))
    for check in (lambda: clearance().note, model.check_inertia):
        try:
            yield from filter(None, [check()])
        except ArmError as error:
            yield str(error)


def _not_drawn(model: RobotModel) -> Iterator[str]:
    """Yield a line on meshes that are looks alone, and that no viewer shows."""
    tree, find = ElementTree.fromstring(model.urdf), mesh_finder(model.file)
    why: dict[str, str] = {}
    for link in tree.iterfind('link') if tree.find('link/collision') is not None else ():
        for mesh in link.iterfind('visual/geometry/mesh'):
            found = find(mesh.get('filename', ''))
            if isinstance(found, str):
                why.setdefault(link.get('name', ''), found)
    if why:
        yield f'not drawn are visual meshes of {some_of([*why])}: {next(iter(why.values()))}'


def _joint(model: RobotModel, i: int, gravity: float) -> dict[str, object]:
    """Return what is known of a joint; `gravity`: the largest torque of the weight [N.m | N]."""
    slide = bool(model.prismatic[i])
    return {
        'joint': model.joint_names[i],
        'kind': 'prismatic' if slide else 'continuous' if model.continuous[i] else 'revolute',
        'lower': float(model.position_lower[i]),
        'upper': float(model.position_upper[i]),
        'velocity': float(model.velocity_limit[i]),
        'effort': float(model.effort_limit[i]),
        'gravity': gravity,
        'gravity_share': gravity / float(model.effort_limit[i]),
        'unit': 'm, m/s, N' if slide else 'rad, rad/s, N.m',
    }


def _cells(joint: dict[str, Any]) -> list[str]:
    names = ('lower', 'upper', 'velocity', 'effort', 'gravity')
    numbers = (joint[name] for name in names)
    texts = [f'{x:.4g}' if np.isfinite(x) else 'none' for x in numbers]
    return [joint['joint'], *texts, joint['unit']]


def _other(reading: Reading) -> list[str]:
    numbers = (1e3 * reading.tool, reading.mass, reading.torque)
    texts = ['-' if np.isnan(x) else f'{x:.3g}' for x in numbers]
    return [reading.reader, *texts, reading.reason]


inspect_robot = call(
    Options, RobotReport, 'Show what the file of a robot says, and what other readers read there.',
    robot='ur5e',
)  # fmt: skip


@command(Options)
def main(options: Options) -> int:
    """Print the tables and write the files; with --json, print JSON and write none."""
    report = RobotReport(options)
    report.line = options.line()
    if options.json:
        print(json.dumps(plain(report.numbers), indent=2))
        return 0
    report.table()
    folder = writable_folder(options.output_dir)
    with writing():
        print(f'wrote {", ".join(report.write(folder, options.command))} to {folder}')
    return 0
