"""`python -m arm_sim plan`: a motion around the objects of a scene, without ROS."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import parameter
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_lab.command_line import Folder, Name, RobotOptions
from arm_lab.commands.call import call, program
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.robot_files import load_robot
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.simulation.plant import Plant, plant_class
from arm_sim.simulation.scene_shapes import scene_shapes
from arm_tools.planning.planner import (
    Plan,
    PlanParameters,
    goals_of_poses,
    plan_motion,
    poses_before,
)

_REST = 0.3  # after the motion in a run [s]


@dataclass(frozen=True)
class Options(RobotOptions):
    """Plan a motion around the objects of a scene, as fast as the limits of the joints allow.

    The motion ends at joint positions (--to), at a pose of the tool (--pose), or in front of an
    object, pointing at it (--grasp). It needs PyPI's ompl and toppra.
    """

    scene: Name = parameter('', 'objects around the arm: a shipped scene, a YAML file or an MJCF')
    start: Annotated[tuple[float, ...], 'RAD,RAD,..'] = parameter(
        (), 'joint positions at the start [rad | m]; empty: the start of the robot'
    )
    to: Annotated[tuple[float, ...], 'RAD,RAD,..'] = parameter(
        (), 'joint positions at the end [rad | m]'
    )
    pose: Annotated[tuple[float, ...], 'X,Y,Z,ROLL,PITCH,YAW'] = parameter(
        (), 'pose of the tool at the end in the base frame: x, y, z [m], roll, pitch, yaw [rad]'
    )
    grasp: str = parameter('', 'object of the scene in front of which the motion ends')
    approach: float = parameter(
        0.05, 'distance of the tool from the object of --grasp at the end [m]', min=0, max=1
    )
    srdf: str = parameter('', 'file that disables collisions of links; empty: arm.srdf, if any')
    limits: PlanParameters = field(default_factory=PlanParameters)
    output_dir: Folder = parameter('plan', 'folder for JSON, table and picture')


class PlanReport(Report):
    """A planned motion.

    Attributes:
        found: the Plan, with its motion.
        joint_names: of the columns of the motion.
    """

    found: Plan

    def __init__(self, options: Options):
        """Plan the motion of the options.

        Raises:
            ArmError: no such motion; names link and object.
        """
        self._options, self._robot = options, load_robot(options.robot, options.config)
        model, p = self._robot.model, options.limits
        self.joint_names = tuple(model.joint_names)
        given = [name for name in ('to', 'pose', 'grasp') if getattr(options, name)]
        if len(given) != 1:
            named = ' and '.join(given) or 'none of them'
            raise ArmError(f'the end of the plan is one of to, pose and grasp; given: {named}')
        start = np.array(options.start or self._robot.start)
        start = model.check_configuration(start, 'start of the plan')
        objects = scene_shapes(options.scene)
        clearance = scene_clearance(model, objects, srdf=options.srdf)
        if options.to:
            goals = model.check_configuration(options.to, 'to')[None]
        else:
            poses = _pose(options.pose) if options.pose else None
            if poses is None:
                poses = poses_before(objects, options.grasp, options.approach)
            goals = goals_of_poses(clearance, start, poses, None, p.clearance, p.seed)
        plan = plan_motion(clearance, start, goals, p)
        rows = [('duration [s]', f'{plan.motion.duration:.3f}')]
        rows += [
            (f'{name} [% of the limit]', f'{100.0 * getattr(plan.motion, f"{name}_share"):.1f}')
            for name in ('velocity', 'acceleration', 'effort', 'jerk')
        ]
        near = f'{plan.nearest}, t = {plan.nearest_time:.2f} s' if plan.nearest.link else 'nothing'
        rows += [('checked configurations', str(plan.checks)), ('nearest', near)]
        listing = Listing(self._title, ('', ''), rows)
        numbers = {
            'duration_s': plan.motion.duration,
            'clearance_m': plan.nearest.distance,
            'link': plan.nearest.link,
            'other': plan.nearest.other,
            'checks': plan.checks,
            **{
                name: getattr(plan.motion, name) for name in plan.motion._fields if 'share' in name
            },
        }
        super().__init__('plan', [listing], [numbers], self._draw, found=plan)

    @property
    def _title(self) -> str:
        """Of the table and of the picture."""
        return f'plan: {self._options.robot}, {self._options.scene or "no scene"}'

    @property
    def goal(self) -> Goal:
        """The motion as a goal for a controller."""
        return self.found.motion.goal(self.joint_names)

    def run(self, law: str = 'computed_torque') -> Record:
        """Return the record of a law that follows the motion among the objects, in the loop.

        `contacts` of the record are those of links with objects, floor and links.
        """
        loaded, plant = self._plant(law)
        reference = self.found.motion.trajectory().evaluate
        duration = self.found.motion.duration + _REST
        return run_closed_loop(plant, loaded.law(), reference, duration, start=self._start)

    def film(
        self, file: Path | str = '', law: str = 'computed_torque',
        size: tuple[int, int] = (480, 360), speed: float = 1.0, view: Any = None,
    ) -> None:  # fmt: skip
        """Film a law that follows the motion; arguments as for a run's `film`."""
        from arm_tools.view.film_record import film_record  # loads OpenGL

        _, plant = self._plant(law)
        title = f'plan: {self._options.robot}, {law}'
        path = Path(file or 'plan.gif')
        film_record(
            self._robot.model, plant, self.run(law), path, title, Surroundings(), size, speed, view
        )

    @property
    def _start(self) -> Array:
        return self.found.motion.q[0]

    def _plant(self, law: str) -> tuple[LoadedExperiment, Plant]:
        o = self._options
        e = Experiment(o.robot, 'push', law, scene=o.scene, config=o.config)
        loaded = LoadedExperiment(e, self._robot)
        start = tuple(self._start.tolist())
        parameters = replace(
            loaded.plant_parameters(), contacts=True, srdf=o.srdf, initial_positions=start
        )
        return loaded, plant_class(e.engine)(self._robot.model, parameters)

    def _draw(self) -> Any:
        from arm_sim.loop.picture import motion_figure

        motion = self.found.motion
        return motion_figure(self._title, motion.times, motion.q, motion.v, self._robot.model)


def _pose(numbers: tuple[float, ...]) -> Array:
    """Return the pose (4, 4) of x, y, z [m], roll, pitch, yaw [rad]."""
    if len(numbers) != 6 or not np.isfinite(numbers).all():
        raise ArmError(f'pose is {numbers}; it must be x, y, z, roll, pitch, yaw')
    return pin.SE3(pin.rpy.rpyToMatrix(*numbers[3:]), np.array(numbers[:3])).homogeneous


plan = call(
    Options, PlanReport, 'Plan a motion around the objects of a scene, within all limits.',
    robot='ur5e', scene='',
)  # fmt: skip


main = program(Options, PlanReport)
