"""Robot arms in simulation: plants, control loop, tasks, experiments.

    import arm_sim

    run = arm_sim.run('ur5e', law='computed_torque', task='cube')
    run.table()
    run.plot()
    run.film()

No ROS is needed. Each call is a command with the same options, imported at its first use.
"""

from importlib import import_module
from typing import Any

_CALLS = {
    'run': 'run',
    'compare': 'compare_controllers',
    'sweep': 'compare_controllers',
    'monte_carlo': 'compare_controllers',
    'tune': 'tune',
    'margins': 'margins',
    'certify': 'certify',
    'judge': 'judge',
    'plan': 'plan',
}  # by name: the module of its command


def __getattr__(name: str) -> Any:
    if name not in _CALLS:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'arm_sim.commands.{_CALLS[name]}'), name)


def __dir__() -> list[str]:
    return [*globals(), *_CALLS]
