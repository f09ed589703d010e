"""Nodes and helpers that record the arm's topics."""
