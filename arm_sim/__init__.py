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

_OF_COMMANDS = (
    'run', 'tune', 'margins', 'certify', 'judge', 'plan', 'grade', 'learn', 'slow_policy',
    'excite', 'identify', 'guard_thresholds', 'rehearse',
)  # fmt: skip
_CALLS = {
    **{name: f'commands.{name}' for name in _OF_COMMANDS},
    **dict.fromkeys(('compare', 'sweep', 'monte_carlo'), 'commands.compare_controllers'),
    'explore': 'notebook',
}  # by name: its module


def __getattr__(name: str) -> Any:
    if name not in _CALLS:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'arm_sim.{_CALLS[name]}'), name)


def __dir__() -> list[str]:
    return [*globals(), *_CALLS]
