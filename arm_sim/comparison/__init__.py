"""The same tasks under every law: cases, sweeps, Monte Carlo, report."""
