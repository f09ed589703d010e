"""Finding out what an arm is: a motion that shows it, and the parameters that explain it."""

from arm_dynamics.identification.estimation import (
    IdentificationParameters,
    Identified,
    identify,
    payload_of,
)
from arm_dynamics.identification.excitation import Excitation, ExcitationParameters, plan
from arm_dynamics.identification.fourier import FourierSeries
from arm_dynamics.identification.identified_arm import (
    beside_urdf,
    identified_urdf,
    with_parameters,
)
from arm_dynamics.identification.regressor import BaseParameters, JointRegressor
from arm_dynamics.identification.signals import Samples

__all__ = [
    'BaseParameters',
    'Excitation',
    'ExcitationParameters',
    'FourierSeries',
    'IdentificationParameters',
    'Identified',
    'JointRegressor',
    'Samples',
    'beside_urdf',
    'identified_urdf',
    'identify',
    'payload_of',
    'plan',
    'with_parameters',
]
