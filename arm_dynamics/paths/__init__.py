"""Cartesian paths, and their timing within limits."""
