"""What somebody at the page may ask for."""

from typing import Protocol

import pinocchio as pin

from arm_dynamics.checks import Array


class Orders(Protocol):
    """Takes orders; what became of each is said on the page."""

    def pause(self, on: bool) -> None:
        """Stop simulated time, or let it go on."""

    def step(self) -> None:
        """Go on by one control period."""

    def reset(self) -> None:
        """Go back to the initial state."""

    def move(self, q: Array) -> None:
        """Send the arm to joint positions (n,) [rad | m]."""

    def reach(self, pose: pin.SE3) -> None:
        """Send the tip to a pose in the base frame."""

    def set_gains(self, frequency: float, ratio: float) -> None:
        """Give the controller gains by natural frequency [rad/s] and damping ratio."""

    def push(self, link: str, force: Array, seconds: float) -> None:
        """Push on a link's origin with a force (3,) [N] in base axes, for a simulated time [s]."""
