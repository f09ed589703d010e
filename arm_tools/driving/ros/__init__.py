"""Nodes between our controllers and a robot that another ros2_control runs."""
