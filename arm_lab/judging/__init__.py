"""Judging a controller: what it is tried on, the trials, what came of them."""
