"""A controller of one's own."""
