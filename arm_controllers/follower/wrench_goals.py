"""Wrench goals: the wrenches that the tool is to exert, each from its stamp on."""

from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.model import RobotModel

AXES = ('x', 'y', 'z', 'rx', 'ry', 'rz')


class _Waiting(NamedTuple):
    from_ns: int
    wrench: Array
    selected: NDArray[np.bool_]
    frame: str


class WrenchGoals:
    """The wrench goals of an arm that have not begun."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def clear(self, reference: Reference) -> None:
        """End the wrench of the reference, and forget those that wait."""
        self._waiting.clear()
        reference.set_wrench(None)

    def add(
        self, model: RobotModel, rules: Any, wrench: Array, from_ns: int, frame: str, now_ns: int
    ) -> None:
        """Let a wrench wait for its stamp; those that would begin later are forgotten.

        Args:
            model: the arm.
            rules: FollowerParameters.
            wrench: (6,) force [N] and torque [N.m] of the tool on its surroundings; zeros end the
                present wrench.
            from_ns: stamp of the first state with this wrench [ns]; 0: the next one.
            frame: whose axes the wrench has at that state; '': the base frame.
            now_ns: stamp of the newest state [ns].

        Raises:
            ArmError: a wrench that is refused; nothing changes.
        """
        in_range('force [N]', hypot(*wrench[:3]), 0.0, rules.max_force)
        in_range('torque [N.m]', hypot(*wrench[3:]), 0.0, rules.max_torque)
        selected = np.isin(AXES, rules.wrench_axes)
        other = np.flatnonzero((wrench != 0.0) & ~selected)
        if selected.any() and len(other):
            k = int(other[0])
            raise ArmError(
                f'{AXES[k]} is {wrench[k]:g}; only axes of wrench_goal.axes may '
                f'differ from 0: {", ".join(rules.wrench_axes)}'
            )
        frame = frame or model.base_frame
        model.frame_id(frame)  # there is such a frame
        age = (now_ns - from_ns) * 1e-9
        if from_ns and age > rules.time_jump_limit:
            raise ArmError(
                f'its stamp is {age:.6g} s before the newest state; allowed: '
                f'time_jump_limit = {rules.time_jump_limit:g} s'
            )
        waiting = [each for each in self._waiting if each.from_ns < from_ns]
        if len(waiting) >= rules.waiting_goals_limit:
            raise ArmError(
                f'{len(waiting)} wrench goals are waiting for their start; allowed: '
                f'waiting_goals_limit = {rules.waiting_goals_limit}'
            )
        self._waiting = [*waiting, _Waiting(from_ns, wrench, selected, frame)]

    def begin(self, model: RobotModel, time_ns: int, q: Array, reference: Reference) -> None:
        """Write the wrench that begins at the state q (n,) of a stamp, if any."""
        while self._waiting and self._waiting[0].from_ns <= time_ns:
            goal = self._waiting.pop(0)
            if not goal.wrench.any():
                reference.set_wrench(None)
                continue
            turn = np.eye(6)
            if goal.frame != model.base_frame:
                turn[:3, :3] = turn[3:, 3:] = model.forward_kinematics(q, goal.frame).rotation
            selection = (turn * goal.selected) @ turn.T if goal.selected.any() else None
            reference.set_wrench(turn @ goal.wrench, selection)
