"""Experiments: comparisons, sweeps and Monte Carlo runs."""
