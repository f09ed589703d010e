"""`arm_sim.view.camera`, the former name of a module of `arm_tools`."""

import sys
from importlib import import_module

sys.modules[f'{__name__}.camera'] = import_module('arm_tools.view.camera')
