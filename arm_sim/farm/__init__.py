"""Many jobs on the cores of this machine, or on those of many."""
