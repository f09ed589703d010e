"""Kinematics of chains: poses, Jacobians, singularities, Denavit-Hartenberg parameters."""
