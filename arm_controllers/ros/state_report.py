"""What controllers say of themselves at ~/controller_state."""

from collections.abc import Sequence

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.publisher import Publisher

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.messages import set_numbers, set_stamp
from arm_dynamics.checks import Array


class StateReport:
    """One instant, at a rate: reference, feedback, error, output."""

    def __init__(self, publisher: Publisher, joint_names: Sequence[str], rate: float):
        """`rate` [Hz of the states' time]."""
        self._publisher = publisher
        self._message = JointTrajectoryControllerState(joint_names=list(joint_names))
        self._every_ns = round(1e9 / rate)
        self._next_ns = 0

    def begin(self, time_ns: int) -> None:
        """Let the next one be due at this stamp."""
        self._next_ns = time_ns

    def is_due(self, time_ns: int) -> bool:
        """Whether it is time for one, and somebody listens: else nobody pays for it."""
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
        output: dict[str, Array],
        **feedback: Array,
    ) -> None:
        """Publish; `output` and further `feedback` are by the fields of the message."""
        message, r = self._message, follower.reference
        set_stamp(message.header.stamp, time_ns)
        t_ns = round(follower.time_in_goal(time_ns) * 1e9)
        for part in (message.reference, message.feedback, message.error, message.output):
            set_stamp(part.time_from_start, t_ns)
        message.speed_scaling_factor = follower.scaling.wanted
        error = follower.model.difference(q, r.q)
        set_numbers(
            message.reference, positions=r.q, velocities=r.v, accelerations=r.a, effort=r.effort
        )
        set_numbers(message.feedback, positions=q, velocities=v, **feedback)
        set_numbers(message.error, positions=error, velocities=r.v - v)
        set_numbers(message.output, **output)
        self._publisher.publish(message)
