"""The solvers, one per file; a file added here is a solver with the file's name."""
