"""Compile what a launch would wait for: all kinematics, the UR5e, Python's bytecode.

With `--without-ros` only what needs no built workspace.
"""

import sys
import time
from importlib import import_module

from arm_dynamics.inverse_kinematics import warm_up
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.simulation.plant import PlantParameters

start = time.monotonic()
model = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
warm_up(model)
AnalyticalPlant(model, PlantParameters())
for module in (
    'arm_controllers.ros.controller_node',
    'arm_sim.launching',
    'arm_sim.engines.mujoco',
    'arm_tools.cartesian.ros.inverse_kinematics_node',
    'arm_tools.recording.ros.recorder',
    'arm_sim.ros.simulator_node',
    'arm_sim.ros.task_node',
    'arm_sim.tasks.cube.picture',
):
    if '--without-ros' not in sys.argv:
        import_module(module)
print(f'numeric code compiled in {time.monotonic() - start:.0f} s')
