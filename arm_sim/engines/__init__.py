"""Physics engines: one module each, found by its name."""
