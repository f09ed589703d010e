"""What one run is: the robot, the loop, the goal, the record, its measures and the report."""
