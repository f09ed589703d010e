"""What makes a law fit an arm: the motion of its reference, the convention of its drives."""
