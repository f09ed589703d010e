"""Nodes and services of the standards."""
