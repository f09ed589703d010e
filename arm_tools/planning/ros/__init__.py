"""The node that plans motions around obstacles."""
