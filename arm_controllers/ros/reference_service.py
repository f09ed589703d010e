"""The service ~/query_state of a controller: its reference at a future time."""

from collections.abc import Callable

from control_msgs.srv import QueryTrajectoryState
from rclpy.node import Node
from rclpy.service import Service

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.messages import set_numbers, to_ns
from arm_controllers.ros.services import serve


def serve_reference(
    node: Node, follower: TrajectoryFollower, refusal: Callable[[], str]
) -> Service:
    """Open the service; it answers by the present goals.

    `refusal` returns why the reference is not known now; '': it is.
    """

    def answer(
        request: QueryTrajectoryState.Request, response: QueryTrajectoryState.Response
    ) -> None:
        time_ns = to_ns(request.time)
        past = (follower.time_ns - time_ns) * 1e-9
        why = refusal()
        if why:
            response.message = why
        elif past > 0:
            response.message = f'{past:.6g} s before the newest state; what has passed is not kept'
        else:
            reference = follower.peek(time_ns)
            response.success, response.name = True, list(follower.joint_names)
            set_numbers(
                response, position=reference.q, velocity=reference.v, acceleration=reference.a
            )

    return serve(node, QueryTrajectoryState, '~/query_state', answer)
