"""What tools of others ask for by their own standards: controller_manager's services, simulation_interfaces."""
