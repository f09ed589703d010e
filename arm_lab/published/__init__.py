"""Models of published systems, with their conventions."""
