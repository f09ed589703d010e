"""What knows ROS: the controller node, its goal server, messages, parameters, running."""
