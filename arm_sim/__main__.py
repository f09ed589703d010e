"""`python -m arm_sim NAME ...` runs an executable: commands need no ROS."""

import runpy

runpy.run_module('arm_sim.executables', run_name='__main__')
