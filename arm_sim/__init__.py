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

from arm_sim import extras, registered


def __getattr__(name: str) -> Any:
    if name.startswith('_') or name not in registered.calls():
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    try:
        module = import_module(registered.calls()[name])
    except ModuleNotFoundError as error:
        needs = extras.missing(error)
        if not needs:
            raise
        raise ModuleNotFoundError(f'arm_sim.{name} {needs}', name=error.name) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*globals(), *registered.calls()]
