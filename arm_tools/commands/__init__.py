"""Command-line programs that read recordings, plan, and check a machine."""
