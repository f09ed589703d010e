"""What the drives of robots take, by name: `drives:=franka`."""

from dataclasses import dataclass

from arm_dynamics.checks import ArmError, unknown


@dataclass(frozen=True)
class DrivePreset:
    """The command interface of a robot under ros2_control, and what its drives add.

    Attributes:
        interface: 'position', 'velocity' or 'effort'.
        controller: name of the robot's controller that takes the commands.
        output: 'commands' (std_msgs/Float64MultiArray on ~/commands, as forward_command_controller
            and the joint group controllers) or 'trajectory' (points on ~/joint_trajectory).
        rate: of the robot's states [Hz].
        effort_convention, friction_compensation: see DriveConvention.
        torque_rate: largest change of an effort command in time [N.m/s]; 0: not published.
        source: where these facts are published.
    """

    interface: str
    controller: str
    output: str = 'commands'
    rate: float = 500.0
    effort_convention: str = 'full'
    friction_compensation: bool = False
    torque_rate: float = 0.0
    source: str = ''

    def topic(self, controller: str = '') -> str:
        """Return the topic of the commands; `controller`: another name of the controller."""
        last = 'commands' if self.output == 'commands' else 'joint_trajectory'
        return f'/{controller or self.controller}/{last}'


PRESETS = {
    'position': DrivePreset('position', 'forward_position_controller', source='ros2_controllers'),
    'velocity': DrivePreset('velocity', 'forward_velocity_controller', source='ros2_controllers'),
    'effort': DrivePreset('effort', 'forward_effort_controller', source='ros2_controllers'),
    'trajectory': DrivePreset(
        'position', 'joint_trajectory_controller', 'trajectory', source='ros2_controllers'
    ),
    'franka': DrivePreset(
        'effort', 'forward_effort_controller', rate=1000.0, torque_rate=1000.0,
        effort_convention='gravity_compensated', friction_compensation=True,
        source='libfranka, franka::Torques (torques without gravity and friction) and '
        'kMaxTorqueRate of rate_limiting.h',
    ),
    'ur_direct_torque': DrivePreset(
        'effort', 'forward_effort_controller',
        effort_convention='gravity_compensated', friction_compensation=True,
        source='ur_robot_driver, Force and Torque Control (torques without gravity); URScript '
        'direct_torque, whose defaults compensate 0.8 to 0.9 of viscous, 0.7 to 0.8 of Coulomb '
        'friction',
    ),
    'ur_position': DrivePreset(
        'position', 'forward_position_controller', source='ur_robot_driver, controllers'
    ),
    'kinova': DrivePreset(
        'position', 'joint_trajectory_controller', 'trajectory', rate=1000.0,
        source='ros2_kortex, ros2_controllers.yaml of the Gen3',
    ),
    'kinova_torque': DrivePreset(
        'effort', 'forward_effort_controller', rate=1000.0,
        source='ros_kortex issue 243: at torque zero the Gen3 falls, it adds no gravity term',
    ),
    'xarm': DrivePreset(
        'position', 'xarm6_traj_controller', 'trajectory', rate=150.0,
        source='xarm_ros2, xarm6_controllers.yaml',
    ),
    'xarm_velocity': DrivePreset(
        'velocity', 'forward_velocity_controller', rate=150.0,
        source='xarm_ros2, velocity_control:=true',
    ),
}  # fmt: skip


def period_of(rate: float) -> float:
    """Return the period of a rate [Hz] in whole nanoseconds [s]."""
    return round(1e9 / rate) / 1e9


def drives_of(name: str, command_interface: object = '') -> DrivePreset:
    """Return a preset.

    Args:
        name: of the preset.
        command_interface: of the law that commands; '': not known yet.

    Raises:
        ArmError: no such preset, or it takes something else than the law commands.
    """
    if name not in PRESETS:
        raise unknown('drives', name, PRESETS)
    found = PRESETS[name]
    if command_interface and command_interface != found.interface:
        raise ArmError(
            f'drives {name!r} take {found.interface}; the law commands {command_interface}: '
            'choose other drives or another law'
        )
    return found
