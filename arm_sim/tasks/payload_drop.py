"""The arm carries an unknown payload along the sinusoid; the payload falls off half-way."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.parameters import parameter
from arm_sim.loop.goals import sampled
from arm_sim.tasks import TaskEvaluation
from arm_sim.tasks._fitting import note_smaller, share_of_effort
from arm_sim.tasks.sinusoid import Sinusoid, SinusoidParameters

_USUAL = 2.0  # mass [kg]


@dataclass(frozen=True)
class PayloadDropParameters(SinusoidParameters):
    """Parameters of the payload, in addition to those of the sinusoid."""

    payload: float = parameter(
        0.0, 'mass at the tool [kg]; 0: 2, or as much of it as the efforts of the joints allow',
        min=0, max=1000,
    )  # fmt: skip
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
        self.payload = self.parameters.payload or self._usual_payload()
        self.drop_at = self.event = self.parameters.drop * self.duration

    def _usual_payload(self) -> float:
        """Return the usual mass, or what the arm carries along the sinusoid [kg]."""
        model, times = self.robot.model, np.linspace(0.0, 1.0 / self.parameters.frequency, 41)
        q, v, a = sampled(self.reference, times, model.nv)
        torque = model.torques_along(q, v, a)
        share = share_of_effort(self, torque, q, _USUAL * model.gravity)
        note_smaller(self, share * _USUAL, _USUAL, 'kg')
        return float(f'{_USUAL * min(1.0, share):.3g}')
