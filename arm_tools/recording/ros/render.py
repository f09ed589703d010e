"""`ros2 run arm_sim render FILE`: a picture or a film of what was recorded."""

from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import MISSING, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Annotated

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.serialization import deserialize_message
from rich.console import Console
from tyro.conf import Positional

from arm_controllers.parameter_values import read_fields
from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.object_messages import shapes_of
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import RobotArgument, find_urdf, robot_names
from arm_dynamics.surroundings import Surroundings
from arm_lab.command_line import CommandOptions, File, command
from arm_sim.loop.report import law_of
from arm_tools.recording.ros.recorded_run import RecordedRun
from arm_tools.view.camera import View
from arm_tools.view.error_scale import ErrorScale
from arm_tools.view.film import Film, film_times, write_film
from arm_tools.view.film_files import (
    KINDS,
    check_file,
    usual_speed,
)
from arm_tools.view.recorded_motion import RecordedMotion
from arm_tools.view.shown_objects import RecordedObjects


def recorded_arm(recording: RecordedRun) -> tuple[RobotModel, Surroundings]:
    """Return the recorded arm, and what stood around it as far as that was recorded.

    Raises:
        ArmError: there is no description of the arm.
    """
    if not recording.urdf:
        raise recording.lacks('robot_description')
    known = recording.parameters.get(f'{recording.namespace}/simulator', {})
    tool = known.get('tool_frame') or RobotArgument.of(known.get('robot', '')).tip_frame
    model = RobotModel.from_description(recording.urdf, tool or None)
    robot = known.get('robot', '')  # its folder, if it exists here too, has the meshes
    if robot in robot_names():
        model.file = str(find_urdf(robot))
    elif Path(robot).is_file():
        model.file = robot
    return model, read_fields(Surroundings, known)


def recorded_motion(
    recording: RecordedRun, model: RobotModel, exaggerate: float = 1.0
) -> RecordedMotion:
    """Return the recorded states, and the reference where a controller published one.

    Raises:
        ArmError: errors shall be shown `exaggerate` times as large, and there is no reference.
    """
    states = recording.joint_states(model.joint_names)
    rows, reader = [], JointReader(model.joint_names)
    for data in recording.reports:
        report = deserialize_message(data, JointTrajectoryControllerState)
        names = list(report.joint_names)
        with suppress(ArmError):  # the report lacks some
            both = (
                reader.read(names, point.positions, 'positions').copy()
                for point in (report.reference, report.feedback)
            )
            rows.append((to_ns(report.header.stamp) * 1e-9, *both))
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    at, reference, measured = (np.array(column, dtype=float) for column in columns)
    order = np.argsort(states.time_ns, kind='stable')
    t = states.time_ns[order].astype(float) * 1e-9
    return RecordedMotion.of(model, t, states.q[order], at, reference, measured, exaggerate)


def title_of(recording: RecordedRun, model: RobotModel) -> str:
    """Return what was recorded, in a few words."""
    facts = recording.of_task()['facts'] if 'task' in recording.facts else {}
    if not facts:
        return model.name
    law = law_of(facts)
    by = f'engine {facts["engine"]}' if law == 'none' else law
    return f'{facts["task"]}: {RobotArgument.of(facts["robot"]).label}, {by}'


def span(
    recording: RecordedRun, motion: RecordedMotion, begin: float | None, end: float | None
) -> tuple[float, float]:
    """Return the time span [s] to show: the requested one, else the task's own, else all."""
    first, last = motion.t[0], motion.t[-1]
    if 'task' in recording.facts:
        task = recording.of_task()
        first, last = max(first, task['start_ns'] * 1e-9), min(last, task['end_ns'] * 1e-9)
    return float(first if begin is None else begin), float(last if end is None else end)


@dataclass(frozen=True)
class Options(CommandOptions):
    """Draw a recording: the arm, the path of its tool coloured by error, the reference in grey."""

    files: Positional[Annotated[tuple[str, ...], 'FILE ...']] = parameter(
        MISSING, 'paths of MCAP files, or of folders with one; several are drawn side by side'
    )
    output: File = parameter(
        'film.gif', f'path of the picture or film; ends in {", ".join(KINDS)}'
    )
    size: Annotated[str, 'WIDTHxHEIGHT'] = parameter(
        '960x720', 'width and height of the picture or film of each recording [pixels]'
    )
    camera: Annotated[tuple[float, ...], 'AZIMUTH,ELEVATION'] = parameter(
        (View().azimuth, View().elevation),
        'azimuth and elevation of the view [deg]; 90,0: along y; 0,-90: down',
        length=2,
    )
    orbit: Annotated[float, 'DEG/S'] = parameter(
        0.0, 'speed of the camera around the arm [deg per second of the film]', min=-1e6, max=1e6
    )
    zoom: float = parameter(
        1.0, 'magnification around the middle of the path of the tool [1]', min=1, max=100
    )
    exaggerate: float = parameter(
        1.0, 'factor by which errors of the joints are drawn larger [1]', min=1, max=1e6
    )
    speed: float | None = parameter(
        None,
        'recorded seconds per second of the film [1]; none: 1, for a long GIF more',
        above=0,
        max=1e6,
    )
    begin: Annotated[float | None, 'S'] = parameter(
        None, 'begin of the film [s]; none: that of the task or the recording', name='from'
    )
    end: Annotated[float | None, 'S'] = parameter(
        None, 'end of the film, or time of the picture [s]', name='to'
    )


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    size, (azimuth, elevation) = _size(options.size), options.camera
    in_range('azimuth of --camera', azimuth, -360.0, 360.0)
    in_range('elevation of --camera', elevation, -90.0, 90.0)
    output = Path(options.output)
    check_file(output, 0)  # before a recording is read
    shown = [_shown(file, options) for file in options.files]
    seconds = min(each for _, each, _ in shown)
    speed = options.speed or usual_speed(output, seconds)
    view = View(azimuth, elevation, options.orbit / speed, options.zoom)
    times = film_times(output, 0.0, seconds, speed)
    errors = np.concatenate([each.error for each, _, _ in shown])
    scale = ErrorScale(errors) if len(errors) else None
    with ExitStack() as stack:
        films = [
            stack.enter_context(closing(make(times, view, size, scale))) for _, _, make in shown
        ]
        write_film(output, films, size, Console())
    summary = f'{len(times)} picture{"s" if len(times) > 1 else ""}'
    if options.speed is None and speed > 1:
        summary += f' at --speed {speed}'
    print(f'{output}: {summary}, {output.stat().st_size / 1e6:.2f} MB')


def _shown(file: str, options: Options) -> tuple[RecordedMotion, float, Callable[..., Film]]:
    """Return what is drawn of a recording, its duration [s], and a function that makes its film.

    The function is called with times [s] since the begin, view, size [pixels] and colours.
    """
    recording = RecordedRun.load(file)
    model, surroundings = recorded_arm(recording)
    motion = recorded_motion(recording, model, options.exaggerate)
    begin, end = span(recording, motion, options.begin, options.end)
    part = motion.between(begin, end)
    of_objects = sorted(recording.objects, key=itemgetter(0))
    objects = RecordedObjects(
        [time_ns * 1e-9 for time_ns, _ in of_objects], [shapes_of(raw) for _, raw in of_objects]
    )
    title = title_of(recording, model)
    if options.exaggerate != 1.0:
        title += f', errors x {options.exaggerate:g}'

    def film(times: Array, view: View, size: tuple[int, int], scale: ErrorScale | None) -> Film:
        given = model, surroundings, part, begin + times
        return Film(*given, view, size, title, objects, scale)

    return part, end - begin, film


def _size(text: str) -> tuple[int, int]:
    """Return width and height [pixels] of the argument --size."""
    width, _, height = text.partition('x')
    try:
        size = int(width), int(height)
    except ValueError:
        raise ArmError(f'--size is {text!r}; it must be WIDTHxHEIGHT, as 960x720') from None
    for name, value in zip(('width', 'height'), size, strict=True):
        in_range(f'{name} of --size', value, 64, 3840)
        if value % 2:
            raise ArmError(f'{name} of --size is {value}; it must be even')
    return size
