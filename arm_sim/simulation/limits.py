"""Limits on speed and external wrenches that the simulator enforces."""

from dataclasses import dataclass

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter

# How far ahead of simulated time a wrench may be stamped [s].
LATEST_PUSH = 3600.0


@dataclass(frozen=True)
class Limits(Parameters):
    """Bounds on speed and wrenches, all of which may change while the arm moves."""

    speed_limit_factor: float = parameter(
        2.0, "factor on the URDF's speed limits; beyond, the arm is braked [1]; 0: never", min=0
    )
    wrench_force_limit: float = parameter(1000.0, 'largest external force vector [N]', min=0)
    wrench_torque_limit: float = parameter(1000.0, 'largest external torque vector [N.m]', min=0)
    waiting_wrenches_limit: int = parameter(
        1000, 'largest number of external wrenches that wait for their stamp', min=0
    )

    def check_wrench(self, wrench: Array) -> None:
        """Refuse a wrench (6,) that is too large."""
        for name, unit, part in (('force', 'N', wrench[:3]), ('torque', 'N.m', wrench[3:])):
            size, most = float(part.dot(part)) ** 0.5, getattr(self, f'wrench_{name}_limit')
            if size > most:
                raise ArmError(
                    f'external_wrench has a {name} of {size:.6g} {unit}; allowed: '
                    f'wrench_{name}_limit = {most:g} {unit}'
                )

    def check_stamp(self, topic: str, ahead: float, waiting: int) -> None:
        """Refuse a message that is too far ahead [s], or one too many that waits."""
        if ahead > LATEST_PUSH:
            raise ArmError(
                f'{topic} is stamped {ahead:.6g} s ahead of simulated time; allowed: '
                f'{LATEST_PUSH:g} s, or no stamp for now'
            )
        if ahead > 0.0 and waiting >= self.waiting_wrenches_limit:
            raise ArmError(
                f'{topic}: {waiting} messages wait for their stamp; allowed: '
                f'waiting_wrenches_limit = {self.waiting_wrenches_limit}'
            )
