"""What comparisons need to know of a task; motions and reports do not read it."""

from collections.abc import Iterable
from dataclasses import dataclass

from arm_dynamics.checks import ArmError


@dataclass(frozen=True, kw_only=True)
class TaskEvaluation:
    """How laws are compared on a task.

    Attributes:
        compared: place of the task among `--tasks all` of a comparison; None: it is not there.
        ranked_by: name of the measure that orders laws, and of the reward of an environment.
    """

    compared: int | None = 100
    ranked_by: str = 'tracking_rms_mm'


# Attributes that tasks had themselves until release 0.4, and where they are now.
_EVALUATION = 'compared', 'ranked_by'
_REPORT = (
    'asks_prediction', 'checks', 'columns', 'draw', 'measure', 'picture_name', 'progress',
    'results', 'rows',
)  # fmt: skip
_MOVED = {
    **{name: f'write evaluation = TaskEvaluation({name}=...)' for name in _EVALUATION},
    **dict.fromkeys(_REPORT, 'write it in a TaskReport, and Report = that class'),
    'report': 'write `numbers` in a TaskReport, and Report = that class',
    'scene': 'set `simulator`, the parameters of the simulator, in `prepare`',
}


def refuse_moved(task: str, attributes: Iterable[str]) -> None:
    """Raise ArmError where a task has an attribute that is now elsewhere, and has no effect."""
    for name in attributes:
        if name in _MOVED:
            raise ArmError(f'task {task} has {name}, which has no effect there; {_MOVED[name]}')
