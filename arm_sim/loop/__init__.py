"""The control loop without ROS, its record and its measures."""
