"""What viewers see of a simulated arm, in topics that no controller reads: a file each."""
