"""The topic ~/controller_state of a controller.

As in the control loop's own messages (`cdr`), only stamps and numbers change: they
are written into a message that was serialised once.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.publisher import Publisher

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.cdr import Template
from arm_dynamics.checks import Array

_POINTS = ('reference', 'feedback', 'error', 'output')
_FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
_NONE = np.empty(0)
_Sizes = tuple[int, ...]  # of each field of each point


class StateReport:
    """One instant, at a rate: reference, feedback, error, output."""

    def __init__(self, publisher: Publisher, joint_names: Sequence[str], rate: float):
        """`rate` [Hz of the states' time]."""
        self._publisher, self._names = publisher, list(joint_names)
        self._forms: dict[_Sizes, _Form] = {}
        self._every_ns = round(1e9 / rate)
        self._next_ns = 0

    def begin(self, time_ns: int) -> None:
        """Let the next one be due at this stamp."""
        self._next_ns = time_ns

    def is_due(self, time_ns: int) -> bool:
        """Whether a report is due, and a node subscribes."""
        if time_ns < self._next_ns:
            return False
        self._next_ns = time_ns + self._every_ns
        return self._publisher.get_subscription_count() > 0

    def publish(
        self,
        time_ns: int,
        follower: TrajectoryFollower,
        q: Array,
        v: Array,
        output: Mapping[str, Array],
        accelerations: Array = _NONE,
        effort: Array = _NONE,
    ) -> None:
        """Publish one.

        Args:
            time_ns: stamp of the state [ns].
            follower: has the reference.
            q, v, accelerations, effort: (n,) what is measured, (0,) what is not.
            output: (n,) what is commanded, by the fields of the message.
        """
        r = follower.reference
        # In the order of the message: positions, velocities, accelerations, effort of each point.
        values = [
            *(r.q, r.v, r.a, r.effort),
            *(q, v, accelerations, effort),
            *(follower.model.difference(q, r.q), r.v - v, _NONE, _NONE),
            *(output.get(field, _NONE) for field in _FIELDS),
        ]
        sizes = tuple(map(len, values))
        form = self._forms.get(sizes)
        if form is None:
            form = self._forms[sizes] = _Form(self._names, sizes)
        t_ns = round(follower.time_in_goal(time_ns) * 1e9)
        self._publisher.publish(form.filled(time_ns, t_ns, follower.scaling.wanted, values))


class _Form(Template):
    """A serialised message with a fixed number of values in each field."""

    def __init__(self, joint_names: list[str], sizes: _Sizes):
        message, given = JointTrajectoryControllerState(joint_names=joint_names), iter(sizes)
        for point in _POINTS:
            for field in _FIELDS:
                setattr(getattr(message, point), field, [0.0] * next(given))
        super().__init__(message)

    def filled(self, time_ns: int, t_ns: int, scaling: float, values: Sequence[Array]) -> bytes:
        """Return the message of this stamp and time in the goal [ns], as `publish` takes it."""
        for numbers, given in zip(self.numbers, values, strict=False):
            numbers[:] = given
        self.numbers[-1][:] = scaling
        return self.at_times(time_ns, *[t_ns] * len(_POINTS))
