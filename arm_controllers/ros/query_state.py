"""Where the reference will be: a controller's service ~/query_state."""

from collections.abc import Callable

from control_msgs.srv import QueryTrajectoryState
from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.messages import to_ns

_Request, _Response = QueryTrajectoryState.Request, QueryTrajectoryState.Response


class QueryState:
    """Answers with the reference at a time, by the goals that are there now."""

    def __init__(self, node: Node, follower: TrajectoryFollower, active: Callable[[], bool]):
        """`active` tells whether the controller commands the arm."""
        self._follower = follower
        self._active = active
        self._node = node
        self._service = node.create_service(QueryTrajectoryState, '~/query_state', self._on_query)

    def close(self) -> None:
        """Close the service."""
        self._node.destroy_service(self._service)

    def _on_query(self, request: _Request, response: _Response) -> _Response:
        follower, time_ns = self._follower, to_ns(request.time)
        response.success = self._active() and time_ns >= follower.time_ns
        if not self._active():
            response.message = 'the controller is not active, or has not seen a state yet'
        elif not response.success:
            past = (follower.time_ns - time_ns) * 1e-9
            response.message = f'{past:.6g} s before the newest state; what has passed is not kept'
        else:
            reference = follower.peek(time_ns)
            response.name = list(follower.joint_names)
            response.position = reference.q.tolist()
            response.velocity = reference.v.tolist()
            response.acceleration = reference.a.tolist()
        return response
