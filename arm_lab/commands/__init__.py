"""Command-line programs that run and measure arms."""
