"""Experiments: a robot, a task and a law with their errors, described once and run in the loop."""
