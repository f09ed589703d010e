"""Stability that is known beforehand: closed loops as matrices, along a task."""
