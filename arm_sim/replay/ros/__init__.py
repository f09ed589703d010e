"""Recordings read as ROS 2 messages."""
