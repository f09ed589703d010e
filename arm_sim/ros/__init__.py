"""What knows ROS: the nodes of simulator, inverse kinematics and tasks."""
