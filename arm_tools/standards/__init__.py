"""Standard interfaces of other tools: controller_manager, ros2_control, simulation_interfaces."""
