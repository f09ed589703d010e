"""A UR5e under the servo's observed feedforward, with errors of the model."""

from dataclasses import replace

import numpy as np
from experiment_parts import imperfect

from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.parameter_values import read_fields
from arm_dynamics.model_error import with_error
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task

ROBOT = Robot.load('ur5e')
# One step per period, which the law knows.
STEPPED = {'integrator': 'implicitfast'}
DRIVES = read_fields(PlantParameters, ROBOT.parameters('simulator') | STEPPED)
GIVEN = read_fields(ServoParameters, ROBOT.parameters('servo_controller'))
STEP = DRIVES.timestep


def servo(level, observer_pole=ServoParameters.observer_pole):
    return Servo(ROBOT.model, replace(GIVEN, feedforward=level, observer_pole=observer_pole))


def plant(error, **others):
    return MujocoPlant(with_error(ROBOT.model, error), imperfect(DRIVES, **others))


def error_mm(
    level, wrong, observer_pole=ServoParameters.observer_pole, imperfections=None, **cube
):
    """Return the RMS of the tip's tracking error [mm] on the cube, after the first 0.2 s."""
    task = make_task('cube', ROBOT, cube)
    record = task.run(servo(level, observer_pole), plant(wrong, **(imperfections or {})))
    return np.sqrt((track(ROBOT.model, record).error[100:] ** 2).mean()) * 1e3
