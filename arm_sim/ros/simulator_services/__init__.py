"""Endpoints of the simulator that few arms have: a file each."""
