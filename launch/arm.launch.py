"""Any robot, any controller, any engine: `ros2 launch arm_sim arm.launch.py robot:=my.urdf`."""

from launch import LaunchDescription
from launch.actions import OpaqueFunction

from arm_sim.launching import ARM_ARGUMENTS, arm_nodes


def generate_launch_description() -> LaunchDescription:
    """Bring up simulator, controller and inverse kinematics."""
    return LaunchDescription([*ARM_ARGUMENTS, OpaqueFunction(function=arm_nodes)])
