"""Pacings: when a clock steps. One file each, or an entry point; `pacing_class` chooses."""

from arm_dynamics.plugins import PluginRegistry
from arm_sim.simulation.pacing import Pacing

PACINGS = PluginRegistry('pacing', __name__, __name__, base=Pacing, suffix='Pacing')
