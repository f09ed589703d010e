"""Where the environment is, and what goes into it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ENV = ROOT / '.ros'
VENV = ENV / 'venv'
SITE = VENV / 'lib' / 'python3.12' / 'site-packages'
PYTHON = VENV / 'bin' / 'python'
UV = VENV / 'bin' / 'uv'
UV_CACHE = ENV / 'uv_cache'
UNDERLAY = ENV / 'underlay'
SOURCES = ENV / 'src'
LATER_UNDERLAY = ENV / 'later'
LATER_SOURCES = ENV / 'later_src'
STAMPS = ENV / 'stamps'
BATCHES = ENV / 'batches'
LOG = ENV / 'setup.log'

RECIPE = ROOT / 'tools' / 'fallback_ros2'
LOCK = RECIPE / 'requirements.lock'
TOOLS_LOCK = RECIPE / 'ros2_tools.lock'
INTERFACES_CMAKE = RECIPE / 'interfaces.cmake'
ROS2_COMMAND = RECIPE / 'ros2'
ROS2_LAUNCH = RECIPE / 'ros2launch.py'

# The wheel of ros2_tools.lock is the one place on PyPI that has these pure Python parts of ROS 2.
TOOLS_FOLDER = ENV / 'tools'
TOOLS_PATH = TOOLS_FOLDER / 'isaacsim' / 'exts' / 'isaacsim.ros2.core' / 'jazzy'
TOOLS = [
    'composition_interfaces',
    'launch',
    'launch_ros',
    'launch_testing',
    'launch_testing_ros',
    'launch_xml',
    'launch_yaml',
    'osrf_pycommon',
    'ros2cli',
    'ros2node',
    'ros2param',
    'ros2pkg',
    'ros2run',
    'ros2service',
    'ros2topic',
    'rosidl_runtime_py',
]
# The parts of these packages in use, from the same wheel: building all of them takes minutes.
INTERFACES = {
    'control_msgs': [
        'action/FollowJointTrajectory.action',
        'action/GripperCommand.action',
        'action/ParallelGripperCommand.action',
        'msg/GripperCommand.msg',
        'msg/JointComponentTolerance.msg',
        'msg/JointJog.msg',
        'msg/JointTolerance.msg',
        'msg/JointTrajectoryControllerState.msg',
        'msg/SpeedScalingFactor.msg',
        'srv/QueryTrajectoryState.srv',
    ],
    'tf2_msgs': ['msg/TFMessage.msg'],
}
# What only other people's tools ask for: built in the background, after the first set-up.
LATER = {
    'controller_manager_msgs': [
        'msg/ChainConnection.msg',
        'msg/ControllerState.msg',
        'msg/HardwareComponentState.msg',
        'msg/HardwareInterface.msg',
        'srv/CleanupController.srv',
        'srv/ConfigureController.srv',
        'srv/ListControllerTypes.srv',
        'srv/ListControllers.srv',
        'srv/ListHardwareComponents.srv',
        'srv/ListHardwareInterfaces.srv',
        'srv/LoadController.srv',
        'srv/ReloadControllerLibraries.srv',
        'srv/SetHardwareComponentState.srv',
        'srv/SwitchController.srv',
        'srv/UnloadController.srv',
    ],
    'simulation_interfaces': [
        'action/SimulateSteps.action',
        'msg/Bounds.msg',
        'msg/EntityCategory.msg',
        'msg/EntityFilters.msg',
        'msg/EntityInfo.msg',
        'msg/EntityState.msg',
        'msg/NamedPose.msg',
        'msg/Resource.msg',
        'msg/Result.msg',
        'msg/SimulationState.msg',
        'msg/SimulatorFeatures.msg',
        'msg/Spawnable.msg',
        'msg/TagsFilter.msg',
        'srv/DeleteEntity.srv',
        'srv/GetEntities.srv',
        'srv/GetEntitiesStates.srv',
        'srv/GetEntityBounds.srv',
        'srv/GetEntityInfo.srv',
        'srv/GetEntityState.srv',
        'srv/GetNamedPoseBounds.srv',
        'srv/GetNamedPoses.srv',
        'srv/GetSimulationState.srv',
        'srv/GetSimulatorFeatures.srv',
        'srv/GetSpawnables.srv',
        'srv/ResetSimulation.srv',
        'srv/SetEntityState.srv',
        'srv/SetSimulationState.srv',
        'srv/SpawnEntity.srv',
        'srv/StepSimulation.srv',
    ],
}
# The CMake files in the wheels name these folders of the machine they were built on.
BUILD_MACHINE_INCLUDE = '/opt/python/cp312-cp312/include/python3.12'
BUILD_MACHINE_NUMPY = '/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include'

CHECK = """
import eaik.pybindings, matplotlib.pyplot, mcap.writer, mujoco, numba, pinocchio, rich.table
import scipy.linalg, scipy.optimize, yaml, hypothesis, pytest
import control_msgs.action, launch.launch_description_sources, launch_ros.actions, ros2cli.cli
import rclpy, tf2_msgs.msg
rclpy.init()
rclpy.create_node('check').destroy_node()
rclpy.shutdown()
"""
