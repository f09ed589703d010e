"""Identification of an arm: exciting motions, inertial parameters, friction and motors."""

from arm_dynamics.identification.estimation import (
    IdentificationParameters,
    Identified,
    identify,
    payload_of,
)
from arm_dynamics.identification.excitation import Excitation, ExcitationParameters, plan
from arm_dynamics.identification.fourier import FourierSeries
from arm_dynamics.identification.identified_arm import (
    identified_urdf,
    joint_parameters,
    with_parameters,
)
from arm_dynamics.identification.motor_constants import MotorConstants, motor_constants
from arm_dynamics.identification.regressor import BaseParameters, JointRegressor
from arm_dynamics.identification.signals import Samples
from arm_dynamics.identification.torque_scale import (
    Carrying,
    TorqueScales,
    carried,
    torque_scales,
)

__all__ = [
    'BaseParameters',
    'Carrying',
    'Excitation',
    'ExcitationParameters',
    'FourierSeries',
    'IdentificationParameters',
    'Identified',
    'JointRegressor',
    'MotorConstants',
    'Samples',
    'TorqueScales',
    'carried',
    'identified_urdf',
    'identify',
    'joint_parameters',
    'motor_constants',
    'payload_of',
    'plan',
    'torque_scales',
    'with_parameters',
]
