"""How a tip is moved by a stream."""

from dataclasses import dataclass

from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class TipServoParameters(Parameters):
    """How a tip is moved by a stream."""

    period: float = parameter(0.02, 'of its steps [s]', min=0.001, max=0.1)
    acceleration_limit: PerJoint = parameter((10.0,), '[rad/s^2 | m/s^2]', above=0)
    stop_time: float = parameter(
        0.08, 'no joint is so fast that it cannot stop within this [s]', min=0.02, max=1.0
    )
    singularity_margin: float = parameter(
        0.05,
        'singular values of the Jacobian below this are damped [m per rad of a joint]',
        min=1e-4,
        max=1.0,
    )
    line_gain: float = parameter(
        10.0, 'at which a tip that has left its line returns [1/s]', min=0, max=50
    )
