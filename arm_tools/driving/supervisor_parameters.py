"""The limits of the supervisor between a law and a robot; see supervisor.py."""

import re
from dataclasses import dataclass

import numpy as np

from arm_controllers.drive_convention import DriveConvention
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, PerJoint, Stepping, parameter
from arm_dynamics.robots import PartParameters


@dataclass(frozen=True, kw_only=True)
class SupervisorParameters(Parameters):
    """What the supervisor allows."""

    rest_speed: PerJoint = parameter(
        (0.02,), 'speed below which a joint is at rest [rad/s | m/s]', above=0
    )
    rest_time: float = parameter(
        0.5, 'time at rest, with states at their rate, before the law may begin [s]', above=0
    )
    ramp_time: float = parameter(
        1.0, "time in which the command goes from the measured state to the law's [s]", above=0
    )
    state_age_limit: float = parameter(
        0.05, 'largest age of the newest state and of the newest command of the law [s]', above=0
    )
    rate_tolerance: float = parameter(
        0.5,
        'largest difference of the mean period of the states from the control period, as a share '
        'of the latter [1]',
        above=0,
    )
    jump: PerJoint = parameter(
        (0.02,), 'largest difference of a position from the one before plus its way [rad | m]',
        above=0,
    )  # fmt: skip
    speed_share: float = parameter(
        0.8, "largest speed, as a share of the robot's velocity limits [1]", above=0, max=1
    )
    torque_share: float = parameter(
        0.9, "largest effort command, as a share of the robot's effort limits [1]", above=0, max=1
    )
    torque_rate: PerJoint = parameter(
        (1000.0,), 'largest change of an effort command in time [N.m/s | N/s]', above=0
    )
    deceleration: PerJoint = parameter((5.0,), 'deceleration of a stop [rad/s^2 | m/s^2]', above=0)
    tracking_error: PerJoint = parameter(
        (0.15,), 'largest distance of a position from its reference [rad | m]', above=0
    )
    position_margin: PerJoint = parameter(
        (0.02,), 'distance from the position limits that is kept [rad | m]', min=0
    )
    workspace: tuple[float, ...] = parameter(
        (),
        'box in the base frame that the tool stays in, as x, y, z of its least corner, then of '
        'its largest [m]; empty: none',
        length=6,
    )
    workspace_margin: float = parameter(
        0.03, 'distance from the faces of the workspace that is kept [m]', min=0
    )
    latency: float = parameter(
        0.008, 'time from a state to the effect of its command on the robot [s]', min=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        box = np.array(self.workspace)
        if box.size and not (box[:3] < box[3:]).all():
            raise ArmError(
                f'workspace is {list(self.workspace)}; its first corner must be below its second'
            )


@dataclass(frozen=True)
class SupervisorNodeParameters(PartParameters, Stepping, DriveConvention, SupervisorParameters):
    """Parameters of the node."""

    command_interface: str = parameter(
        'position', 'what the robot takes', one_of=('position', 'velocity', 'effort')
    )
    output: str = parameter(
        'commands',
        "message for the robot: 'commands' (Float64MultiArray, as forward_command_controller "
        "takes it) or 'trajectory' (JointTrajectory of one point)",
        one_of=('commands', 'trajectory'),
    )
    controller: str = parameter('servo_controller', 'name of the controller of this package')
    autostart: bool = parameter(
        True, 'if true, the law may begin once the robot rests; else ~/start lets it'
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output == 'trajectory' and self.command_interface != 'position':
            raise ArmError(
                f"output is 'trajectory', whose points are positions; command_interface is "
                f'{self.command_interface!r}'
            )
        if not re.fullmatch(r'[a-zA-Z_]\w*', self.controller, re.ASCII):
            raise ArmError(f'controller is {self.controller!r}; it must be the name of a node')
