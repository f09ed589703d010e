"""Any robot, any controller, any engine: `ros2 launch arm_sim arm.launch.py robot:=my.urdf`."""

from launch import LaunchDescription

from arm_sim.launching import ARM_ARGUMENTS, arm_nodes, description_of


def generate_launch_description() -> LaunchDescription:
    """Bring up simulator, controller and inverse kinematics."""
    return description_of(ARM_ARGUMENTS, arm_nodes)
