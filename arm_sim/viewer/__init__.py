"""What shows an arm: the viewer, a process of its own, and films of a motion."""
