"""The simulated arm: plants, drives and clocks."""
