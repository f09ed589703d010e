"""Dynamics as straight-line compiled code, and the forward model that steps it."""

from arm_dynamics.compiled.compiled_model import CompiledModel
from arm_dynamics.compiled.forward_model import ForwardModel, ForwardModelParameters

__all__ = ['CompiledModel', 'ForwardModel', 'ForwardModelParameters']
