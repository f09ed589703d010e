"""What launch descriptions of tests use."""
