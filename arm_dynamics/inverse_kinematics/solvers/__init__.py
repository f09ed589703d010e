"""The solvers, one in each file; a file that is put here is a solver of its name."""
