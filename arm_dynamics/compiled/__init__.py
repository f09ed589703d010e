"""Dynamics of one arm and of many arms as generated, compiled code, and their time steps."""

from arm_dynamics.compiled.batch_forward_model import BatchForwardModel, SoftFriction
from arm_dynamics.compiled.batch_model import BatchModel
from arm_dynamics.compiled.compiled_model import CompiledModel
from arm_dynamics.compiled.drive_trains import DriveTrains
from arm_dynamics.compiled.forward_model import FRICTIONLESS, ForwardModel, ForwardModelParameters
from arm_dynamics.compiled.servo_arms import ServoArms

__all__ = [
    'FRICTIONLESS',
    'BatchForwardModel',
    'BatchModel',
    'CompiledModel',
    'DriveTrains',
    'ForwardModel',
    'ForwardModelParameters',
    'ServoArms',
    'SoftFriction',
]
