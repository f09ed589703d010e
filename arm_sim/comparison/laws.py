"""The laws that are compared, each designed for the same error dynamics."""

from typing import Any

from arm_controllers.laws import Law, law_class
from arm_dynamics.checks import in_range, one_of
from arm_sim.tasks.comparison_tasks import Robot

# From the least to the most that a law knows of the arm.
COMPARED_LAWS = (
    'independent_joint',
    'pd',
    'pd_gravity',
    'joint_impedance',
    'servo',
    'pd_feedforward',
    'operational_space',
    'computed_torque',
    'computed_torque_pid',
    'momentum_observer',
    'adaptive_computed_torque',
)


def make_law(name: str, robot: Robot, natural_frequency: float = 20.0) -> Law:
    """Return a law whose errors are to decay critically damped at this frequency [rad/s].

    Raises:
        ArmError: no such law, or a frequency that is not positive.
    """
    parameters = law_parameters(name, robot, natural_frequency)
    return law_class(registered_name(name))(robot.model, parameters)


def registered_name(name: str) -> str:
    """Return the name in the registry of laws, which is that of the law's node."""
    return 'pd' if name == 'pd_gravity' else name


def law_parameters(name: str, robot: Robot, natural_frequency: float = 20.0) -> Any:
    """Return the parameters of a law for this design.

    Laws with gains in N.m/rad get them from the diagonal of the mass matrix at the robot's start,
    so that each joint alone has the same error dynamics under every law.

    Raises:
        ArmError: as `make_law`.
    """
    one_of('law', name, COMPARED_LAWS)
    in_range('natural_frequency', natural_frequency, 0.0, 1e4, exclusive=True)
    w = natural_frequency
    kp, kd = joint_gains(robot, w)
    gains: dict[str, Any] = {'kp': kp, 'kd': kd}
    dynamics: dict[str, Any] = {'kp': (w**2,), 'kd': (2.0 * w,)}
    chosen: dict[str, dict[str, Any]] = {
        'independent_joint': {'natural_frequency': (w,), 'integral_rate': w / 5},
        'pd': {**gains, 'gravity_compensation': False},
        'pd_gravity': {**gains, 'gravity_compensation': True},
        'joint_impedance': {'stiffness': kp, 'damping_ratio': 1.0},
        'servo': {'feedforward': 'inverse_dynamics', 'servo_kp': kp, 'servo_kd': kd},
        'pd_feedforward': {**gains},
        'operational_space': dynamics,
        'computed_torque': dynamics,
        'computed_torque_pid': {'ki': (w**3 / 4,), **dynamics},
        'momentum_observer': dynamics,
        'adaptive_computed_torque': {'slope': (w,), 'damping_rate': w},
    }
    return law_class(registered_name(name)).Parameters(**chosen[name])


def joint_gains(robot: Robot, natural_frequency: float) -> tuple[tuple[float, ...], ...]:
    """Return kp, kd [N.m/rad], [N.m.s/rad] that give each joint alone this critical damping."""
    kp = natural_frequency**2 * robot.model.mass_matrix(robot.start).diagonal()
    return tuple(map(float, kp)), tuple(map(float, 2.0 * kp / natural_frequency))


# The plant's actuator under each law.
ACTUATOR = {law: 'servo' if law == 'servo' else 'torque' for law in COMPARED_LAWS}
