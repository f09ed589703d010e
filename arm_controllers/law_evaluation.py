"""What comparisons, tuning and margins need to know of a law; control does not read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from arm_dynamics.checks import ArmError


@dataclass(frozen=True, kw_only=True)
class LawEvaluation:
    """How a law is compared, tuned and linearised.

    Attributes:
        model_use: how much of the model of the arm the law uses, from 0; sorts compared laws.
        compared_as: what differs from the design, by name in comparisons; empty: nothing, by the
            law's own name.
        tuned: the parameters that a robust tuning varies; empty: the law's `gains`.
        variant: the parameter that a name such as `servo:discrete` sets; empty: there is none.
        of_file: whether a file designs the law, as that of a policy; the law is then compared by
            its file.
        knows_delay: whether a designed law gets the delay of the drives as its parameter `delay`.
        derivative_step: of the differences by which margins linearise the law; 0: its answer
            depends on earlier periods, and has no derivatives.
    """

    model_use: float = 100
    compared_as: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tuned: tuple[str, ...] = ()
    variant: str = ''
    of_file: bool = False
    knows_delay: bool = False
    derivative_step: float = 1e-6


# Attributes that laws had themselves until release 0.4, and where they are now.
_MOVED = {
    each.name: f'evaluation = LawEvaluation({each.name}=...)' for each in fields(LawEvaluation)
}
_MOVED['without_meaning'] = 'without_meaning = ... in the class of its Parameters'


def refuse_moved(law: str, attributes: Iterable[str]) -> None:
    """Raise ArmError where a law has an attribute that is now elsewhere, and has no effect."""
    for name in attributes:
        if name in _MOVED:
            raise ArmError(f'law {law} sets {name}, which has no effect; write {_MOVED[name]}')
