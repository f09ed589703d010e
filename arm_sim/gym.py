"""`arm_sim.gym`, the former name of `arm_lab.gym`: environments of Gymnasium."""

import sys
from importlib import import_module

for _name in ('arms', 'export'):
    sys.modules[f'{__name__}.{_name}'] = import_module(f'arm_lab.gym.{_name}')
sys.modules[__name__] = import_module('arm_lab.gym')
