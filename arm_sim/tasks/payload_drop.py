"""The arm carries an unknown payload along the sinusoid; the payload falls off half-way."""

from dataclasses import dataclass

from arm_dynamics.parameters import parameter
from arm_sim.tasks import TaskEvaluation
from arm_sim.tasks.sinusoid import Sinusoid, SinusoidParameters


@dataclass(frozen=True)
class PayloadDropParameters(SinusoidParameters):
    """Parameters of the payload, in addition to those of the sinusoid."""

    payload: float = parameter(2.0, 'mass at the tool [kg]', above=0, max=1000)
    drop: float = parameter(
        0.5, 'share of the time after which the payload falls off [1]', above=0, max=1
    )


class PayloadDrop(Sinusoid):
    """The robot's sinusoid, first with the payload and then without."""

    Parameters = PayloadDropParameters
    sections = ('sinusoid_task',)
    evaluation = TaskEvaluation(compared=3)

    def prepare(self) -> None:
        """Set the sinusoid, the payload, and when it falls off."""
        super().prepare()
        self.payload = self.parameters.payload
        self.drop_at = self.event = self.parameters.drop * self.duration
