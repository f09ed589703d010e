"""What makes an arm follow: control laws, the trajectory follower, the controller node."""
