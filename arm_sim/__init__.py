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


def __getattr__(name: str) -> Any:
    if name.startswith('_') or name not in _calls():
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    try:
        module = import_module(_calls()[name])
    except ModuleNotFoundError as error:
        from arm_sim.extras import missing

        if needs := missing(error):
            error.msg = f'arm_sim.{name} {needs}'
        raise
    return getattr(module, name)


def __dir__() -> list[str]:
    return [*globals(), *_calls()]


def _calls() -> dict[str, str]:
    from arm_sim.registered import calls  # nodes, which import this package, do without

    return calls()
