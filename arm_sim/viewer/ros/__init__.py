"""The viewer's node."""
