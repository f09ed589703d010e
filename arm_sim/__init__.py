"""What stands in for the real arm: plants, simulator, IK service, tasks, reports."""
