"""`arm_sim.experiments.experiment` and `.ranges`, the former names of modules of `arm_lab`."""

import sys
from importlib import import_module

for _name in ('experiment', 'ranges'):
    sys.modules[f'{__name__}.{_name}'] = import_module(f'arm_lab.experiments.{_name}')
