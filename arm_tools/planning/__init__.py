"""Motions around obstacles: clearance from a scene, planning, timing."""
