"""The part of the standards that knows ROS."""
