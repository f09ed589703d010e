"""The simulated arm: engines, brake, recording of inputs."""
