"""Goals of motion models in the simulator."""
