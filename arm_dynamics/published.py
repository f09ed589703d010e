"""`arm_dynamics.published`, the former name of modules of `arm_lab`."""

import sys
from importlib import import_module

for _name in ('motion_models', 'textbook_pid'):
    sys.modules[f'{__name__}.{_name}'] = import_module(f'arm_lab.published.{_name}')
