"""What records the arm's topics."""
