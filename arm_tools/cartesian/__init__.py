"""Cartesian motion of the tip: servoing and straight lines."""
