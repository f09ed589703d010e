"""Robot arms in simulation: plants, control loop, tasks, experiments.

    import arm_sim

    run = arm_sim.run('ur5e', law='computed_torque', task='cube')
    run.table()
    run.plot()
    run.film()

No ROS is needed. Each call is a command with the same options, imported at its first use;
`explore` calls a function by sliders.
"""

from importlib import import_module
from typing import Any

_CALLS = {
    'run': 'commands.run',
    'compare': 'commands.compare_controllers',
    'sweep': 'commands.compare_controllers',
    'monte_carlo': 'commands.compare_controllers',
    'tune': 'commands.tune',
    'margins': 'commands.margins',
    'certify': 'commands.certify',
    'judge': 'commands.judge',
    'plan': 'commands.plan',
    'grade': 'commands.grade',
    'learn': 'commands.learn',
    'slow_policy': 'commands.slow_policy',
    'excite': 'commands.excite',
    'identify': 'commands.identify',
    'guard_thresholds': 'commands.guard_thresholds',
    'rehearse': 'commands.rehearse',
    'explore': 'notebook',
}  # by name: its module


def __getattr__(name: str) -> Any:
    if name not in _CALLS:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'arm_sim.{_CALLS[name]}'), name)


def __dir__() -> list[str]:
    return [*globals(), *_CALLS]
