"""The view's node."""
