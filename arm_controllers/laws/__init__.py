"""The control laws by name. A new law is one file, one line here, one word in setup.py."""

from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import one_of

Array = NDArray[np.float64]


class Law(Protocol):
    """What the controller node asks of a law.

    Attributes:
        command_interface: 'position', 'effort' or 'voltage': what the command is.
        lookahead: control periods by which the reference it wants is ahead of the state (0 or 1).
        gains_act_on: what its gains a joint give: 'acceleration', 'torque' or 'sliding_variable',
            see second_order_gains; a law without such gains has no such attribute.
    """

    command_interface: str
    lookahead: int

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past; the arm is at q, v."""

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the command (n,) for the control period dt [s] that starts at state q, v."""


# Module and class; imported when asked for, since some bring libraries that the others do without.
# The executable of a law is `<name>_controller`.
LAWS = {
    'adaptive_computed_torque': 'adaptive_computed_torque:AdaptiveComputedTorque',
    'computed_torque': 'computed_torque:ComputedTorque',
    'computed_torque_pid': 'computed_torque_pid:ComputedTorquePid',
    'independent_joint': 'independent_joint:IndependentJoint',
    'joint_impedance': 'joint_impedance:JointImpedance',
    'momentum_observer': 'momentum_observer:MomentumObserver',
    'motor_computed_torque': 'motor_computed_torque:MotorComputedTorque',
    'operational_space': 'operational_space:OperationalSpace',
    'pd': 'pd:PD',
    'pd_feedforward': 'pd_feedforward:PDFeedforward',
    'pose_p': 'pose_pid:PoseP',
    'pose_pi': 'pose_pid:PosePI',
    'pose_pid': 'pose_pid:PosePID',
    'servo': 'servo:Servo',
}


def law_class(name: str) -> Any:
    """Return a law's class, to be built as law(model, law.Parameters(...)).

    Raises:
        ArmError: the name is not in LAWS.
    """
    one_of('law', name, tuple(LAWS))
    module, law = LAWS[name].split(':')
    return getattr(import_module(f'arm_controllers.laws.{module}'), law)
