"""Nodes of inverse kinematics, linear moves and streams of tip commands."""
