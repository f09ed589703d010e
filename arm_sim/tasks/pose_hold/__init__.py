"""Holding a pose: how well gains do it, and the search for better ones."""
