"""A payload that nobody knows is carried along the sinusoid and falls off half-way."""

from dataclasses import dataclass

from arm_dynamics.checks import in_range
from arm_sim.tasks.sinusoid import Sinusoid, SinusoidParameters


@dataclass(frozen=True)
class PayloadDropParameters(SinusoidParameters):
    """Parameters of the payload, beside those of the sinusoid.

    Attributes:
        payload: mass at the tool [kg].
        drop: share of the time after which it falls off.
    """

    payload: float = 2.0
    drop: float = 0.5

    def __post_init__(self):
        """Raises ArmError."""
        super().__post_init__()
        in_range('payload', self.payload, 0.0, 1000.0, exclusive=True)
        in_range('drop', self.drop, 0.0, 1.0, exclusive=True)


class PayloadDrop(Sinusoid):
    """The robot's sinusoid, first with the payload and then without."""

    Parameters = PayloadDropParameters
    sections = ('sinusoid_task',)
    compared = 3

    def prepare(self) -> None:
        """Set the sinusoid, the payload, and when it falls off."""
        super().prepare()
        self.payload = self.parameters.payload
        self.drop_at = self.event = self.parameters.drop * self.duration
