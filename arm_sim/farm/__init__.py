"""Independent jobs on the cores of this machine, or on the workers of a Dask scheduler."""
