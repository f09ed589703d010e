"""Admittance control around a law that commands effort."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import Law, law_class
from arm_controllers.laws.admittance import Admittance, AdmittanceRuleParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import parameter


@dataclass(frozen=True)
class AdmittanceEffortParameters(AdmittanceRuleParameters):
    """The rule, and the law that follows the shifted reference."""

    inner: str = parameter(
        'computed_torque', 'law that commands the effort; it has a design, as compared laws have'
    )
    inner_frequency: float = parameter(
        20.0, "natural frequency of the inner law's errors [rad/s]", above=0, max=1e4
    )
    inner_damping_ratio: float = parameter(
        1.0, "damping ratio of the inner law's errors [1]", min=0
    )


class AdmittanceEffort(Admittance):
    """The rule of Admittance; tau is that of `inner`, designed for its frequency and damping."""

    Parameters = AdmittanceEffortParameters
    command_interface = 'effort'

    def inner_law(self) -> Law:
        """Return the law that follows the shifted reference.

        Raises:
            ArmError: no such law, or one that does not command effort, or has no design.
        """
        p, model = self.parameters, self.model
        law = law_class(p.inner)
        if law.command_interface != 'effort' or law.designed is None:
            raise ArmError(
                f'inner is {p.inner!r}; it must be a law that commands effort and has a design, '
                'such as computed_torque'
            )
        parameters = law.designed(
            model, model.neutral(), np.asarray(p.inner_frequency), p.inner_damping_ratio
        )
        return law(model, parameters)
