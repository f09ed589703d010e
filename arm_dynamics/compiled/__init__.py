"""Dynamics as straight-line compiled code, and the forward model that steps it."""
