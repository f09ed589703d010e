"""What an arm is to do, and how well it did it."""
