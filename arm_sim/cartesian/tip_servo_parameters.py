"""How a tip is moved by a stream."""

from dataclasses import dataclass

from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class TipServoParameters(Parameters):
    """How a tip is moved by a stream."""

    period: float = parameter(0.02, 'period of the steps [s]', min=0.001, max=0.1)
    acceleration_limit: PerJoint = parameter(
        (10.0,), 'largest joint acceleration [rad/s^2 | m/s^2]', above=0
    )
    stop_time: float = parameter(
        0.08, 'time within which every joint can stop [s]', min=0.02, max=1.0
    )
    singularity_margin: float = parameter(
        0.05,
        'singular value of the Jacobian [m per rad of a joint] below which the inverse is damped',
        min=1e-4,
        max=1.0,
    )
    line_gain: float = parameter(
        10.0, 'gain with which the tip returns to its line [1/s]', min=0, max=50
    )
