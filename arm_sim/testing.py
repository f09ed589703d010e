"""`arm_sim.testing`, the former name of `arm_lab.testing`."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module('arm_lab.testing')
