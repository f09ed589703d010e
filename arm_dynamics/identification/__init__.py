"""Finding out what an arm is: a motion that shows it, and the parameters that explain it."""

from arm_dynamics.identification.excitation import Excitation, ExcitationParameters, plan
from arm_dynamics.identification.fourier import FourierSeries
from arm_dynamics.identification.regressor import BaseParameters, JointRegressor

__all__ = [
    'BaseParameters',
    'Excitation',
    'ExcitationParameters',
    'FourierSeries',
    'JointRegressor',
    'plan',
]
