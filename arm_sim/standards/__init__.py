"""What tools of others ask for by standards: controller_manager's, simulation_interfaces'."""
