"""Gains for a law on an arm that is not quite the one it knows."""
