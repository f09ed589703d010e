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
        # What each law sees of a reference, overwritten in each period; by its leading axes.
        self._parts: dict[tuple[int, ...], list[Reference]] = {}
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
            law.start(_measured_by(measured, joints), part)
            for law, joints, part in zip(
                self._laws, self._places, self._parts_of(reference), strict=True
            )
        )

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the commands (..., n), each in the unit of its joint's interface."""
        command, states = np.empty_like(measured.q), []
        parts = self._parts_of(reference)
        for law, joints, part, before in zip(self._laws, self._places, parts, state, strict=True):
            command[..., joints], after = law(before, _measured_by(measured, joints), part, dt)
            states.append(after)
        return command, tuple(states)

    def _parts_of(self, reference: Reference) -> list[Reference]:
        """Return the reference of the joints of each law; the next call overwrites them."""
        arms = reference.row.shape[:-1]
        if arms not in self._parts:
            self._parts[arms] = [Reference(len(joints), arms) for joints in self._places]
        parts = self._parts[arms]
        for part, joints in zip(parts, self._places, strict=True):
            _write_part(part, reference, joints)
        return parts


def _measured_by(measured: Measurement, joints: NDArray[np.intp]) -> Measurement:
    """Return the measurement of the joints at these places."""
    q, v = measured.q.take(joints, axis=-1), measured.v.take(joints, axis=-1)
    effort = None if measured.effort is None else measured.effort.take(joints, axis=-1)
    return measured._replace(q=q, v=v, effort=effort)


def _write_part(part: Reference, reference: Reference, joints: NDArray[np.intp]) -> Reference:
    """Write the reference of the joints at these places, with its future, to `part`."""
    each = reference.row.reshape(*reference.row.shape[:-1], 4, -1).take(joints, axis=-1)
    part.row[:] = each.reshape(part.row.shape)
    part.set_wrench(reference.wrench, reference.selection)
    part.future = None
    if reference.future is not None:
        arms = reference.row.shape[:-1]
        part.future = lambda periods: _write_part(
            Reference(len(joints), arms), reference.ahead(periods), joints
        )
    return part
