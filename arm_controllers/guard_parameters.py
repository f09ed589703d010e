"""What the guard of an arm watches, and what it does; see guard.py."""

from dataclasses import dataclass
from typing import ClassVar

from arm_dynamics.parameters import Parameters, PerJoint, parameter

REACTIONS = ('none', 'stop', 'retract', 'float')


@dataclass(frozen=True, kw_only=True)
class GuardParameters(Parameters):
    """What the guard watches, and what it does."""

    prefix: ClassVar[str] = 'guard.'

    reaction: str = parameter(
        'none',
        "reaction to a collision: 'stop' (brake and hold), 'retract' (brake, then go back along "
        "the recent path), 'float' (gravity compensation with damping), or 'none' (no guard)",
        one_of=REACTIONS,
    )
    threshold: PerJoint = parameter(
        (0.0,), 'unexpected torque that is a collision [N.m | N]; 0: not watched', min=0
    )
    step_threshold: PerJoint = parameter(
        (0.0,),
        'change of the unexpected torque within step_time that is a collision [N.m | N]; '
        '0: not watched',
        min=0,
    )
    step_time: float = parameter(
        0.05, 'time constant of the mean from which a change is counted [s]', above=0, max=10
    )
    observer_gain: float = parameter(
        100.0, 'bandwidth of the estimate of unexpected torque [1/s], well below 1/dt', above=0
    )
    force: float = parameter(
        0.0, 'force at the force-torque sensor that is a collision [N]; 0: not watched', min=0
    )
    tool_contact: bool = parameter(
        False,
        'if true, torque by the wrench at the force-torque sensor is expected: the tool may touch',
    )
    deceleration: PerJoint = parameter(
        (10.0,), 'largest deceleration of the stop [rad/s^2 | m/s^2]', above=0
    )
    retract_distance: float = parameter(
        0.05, "way of the tool back along the last second of its path, for 'retract' [m]", above=0
    )
    float_time: float = parameter(
        0.2, "time constant in which a push fades, for 'float' [s]", above=0
    )

    @property
    def enabled(self) -> bool:
        """Whether there is a guard."""
        return self.reaction != 'none'

    @property
    def kind(self) -> tuple[str, bool]:
        """Reaction, and whether there must be a wrench; with another kind the law begins again."""
        return self.reaction, self.force > 0.0 or self.tool_contact
