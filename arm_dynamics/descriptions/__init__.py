"""Robots as people have them: xacro, MJCF, models of other packages; each becomes a URDF."""
