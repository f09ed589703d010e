"""Several laws that command one arm together, each its own joints, as several controllers do."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.actuators import one_or_each
from arm_dynamics.checks import ArmError, Array


class ComposedLaw(Law):
    """Laws for disjoint joints of an arm, each with its own model of its joints.

    The model of a law is that of a controller with the parameter `joints`: `reduced_model`. Each
    law gets the measurement and the reference of its joints, and wrenches as they are. The
    commands are to the last bit those of one controller node for each law.
    """

    def __init__(self, laws: Sequence[Law], joint_names: Sequence[str]):
        """Take the laws and the joints of the arm, in its order.

        Raises:
            ArmError: a joint that no law or more than one law commands, or that the arm lacks.
        """
        self._laws, names = tuple(laws), list(joint_names)
        commanded = [name for law in laws for name in law.model.joint_names]
        for name in (*names, *commanded):
            if commanded.count(name) != 1 or name not in names:
                raise ArmError(
                    f'joint {name!r} is commanded by {commanded.count(name)} laws; each joint of '
                    f'the arm ({", ".join(names)}) needs one'
                )
        self._places = [
            np.array([names.index(name) for name in law.model.joint_names]) for law in laws
        ]
        interfaces = {
            name: law.command_interface for law in laws for name in law.model.joint_names
        }
        self.command_interface = one_or_each(tuple(interfaces[name] for name in names))
        self.lookahead = max(law.lookahead for law in laws)
        self.needs = tuple({need: None for law in laws for need in law.needs})
        self.goal_needs = tuple({need: None for law in laws for need in law.goal_needs})
        self.many_arms = all(law.many_arms for law in laws)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the states with which the laws take over the arm."""
        return tuple(
            law.start(_measured_by(measured, joints), _of_joints(reference, joints))
            for law, joints in zip(self._laws, self._places, strict=True)
        )

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the commands (..., n), each in the unit of its joint's interface."""
        command, states = np.empty_like(measured.q), []
        for law, joints, before in zip(self._laws, self._places, state, strict=True):
            part = _measured_by(measured, joints), _of_joints(reference, joints)
            command[..., joints], after = law(before, *part, dt)
            states.append(after)
        return command, tuple(states)


def _measured_by(measured: Measurement, joints: NDArray[np.intp]) -> Measurement:
    """Return the measurement of the joints at these places."""
    q, v = measured.q.take(joints, axis=-1), measured.v.take(joints, axis=-1)
    effort = None if measured.effort is None else measured.effort.take(joints, axis=-1)
    return measured._replace(q=q, v=v, effort=effort)


def _of_joints(reference: Reference, joints: NDArray[np.intp]) -> Reference:
    """Return the reference of the joints at these places, with its future."""
    part = Reference(len(joints), reference.row.shape[:-1])
    each = reference.row.reshape(*reference.row.shape[:-1], 4, -1).take(joints, axis=-1)
    part.row[:] = each.reshape(part.row.shape)
    part.set_wrench(reference.wrench, reference.selection)
    if reference.future is not None:
        part.future = lambda periods: _of_joints(reference.ahead(periods), joints)
    return part
