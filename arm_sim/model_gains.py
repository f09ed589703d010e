"""Gains for an arm that has no parameter file: from its model, by natural frequency and damping.

    servo_kp = wn^2 m,   servo_kd = 2 zeta wn m

m is the mean of M_jj(q) over the joint's range, but at least such that Coulomb friction holds a
joint no farther than STICTION off its target: wn^2 m >= friction / STICTION. wn is at least such
that the joint's own damping D slows it little: servo_kp >= SERVO_FREQUENCY D.

Laws are designed as in a comparison, at the arm's start.
"""

import numpy as np

from arm_controllers.laws import law_class
from arm_controllers.parameter_file import SHARED, Sections
from arm_controllers.parameter_values import as_ros_value
from arm_controllers.second_order_gains import second_order_gains
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import changed

# Of the plant's servos, and of laws [rad/s]; both are critically damped.
SERVO_FREQUENCY = 50.0
LAW_FREQUENCY = 20.0

STICTION = 5e-4  # [rad | m]

_SERVO = ('servo_kp', 'servo_kd')
_POSES = 400


def with_servo_gains(sections: Sections, model: RobotModel) -> Sections:
    """Return the sections with servo gains of the plant, unless they have any."""
    if any(name in values for values in sections.values() for name in _SERVO):
        return sections
    rng = np.random.default_rng(0)
    poses = [model.random_configuration(rng) for _ in range(_POSES)]
    inertia = np.mean([model.mass_matrix(q).diagonal() for q in poses], axis=0)
    least = model.friction / (SERVO_FREQUENCY**2 * STICTION)
    inertia = np.maximum(inertia, least).clip(1e-6)
    wn = np.sqrt(SERVO_FREQUENCY * np.maximum(SERVO_FREQUENCY, model.damping / inertia))
    gains = second_order_gains(wn, 1.0, inertia)
    values = {name: list(each) for name, each in zip(_SERVO, gains, strict=True)}
    return {**sections, SHARED: {**sections.get(SHARED, {}), **values}}


def with_law_gains(sections: Sections, model: RobotModel, start: Array, name: str) -> Sections:
    """Return the sections with designed gains of a law, unless they have any of them.

    A law without a design, or with voltages as commands, keeps its own gains.
    """
    law = law_class(name)
    if law.designed is None or law.command_interface == 'voltage':
        return sections
    designed = changed(law.designed(model, start, LAW_FREQUENCY, 1.0))
    values = {field: as_ros_value(value) for field, value in designed.items()}
    node = f'{name}_controller'
    given = {**sections.get(SHARED, {}), **sections.get(node, {})}
    if values.keys() & given.keys():
        return sections
    return {**sections, node: {**sections.get(node, {}), **values}}
