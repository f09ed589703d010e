"""Any robot, any controller, any engine: `ros2 launch arm_sim arm.launch.py robot:=my.urdf`."""

from launch import LaunchDescription

from arm_sim.launching import arm_nodes
from arm_sim.ros.launch_arguments import ARM, description, shared


def generate_launch_description() -> LaunchDescription:
    """Bring up simulator, controller and inverse kinematics."""
    return description(shared(*ARM), arm_nodes)
