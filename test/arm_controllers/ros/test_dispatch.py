"""What has come for something that is destroyed since ends no node."""

import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from long_wait import LONG_WAIT  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from arm_controllers.ros.running import make_executor, wait_until  # noqa: E402


def test_further_answers_to_a_client_that_is_destroyed_by_the_first_end_no_node():
    """As of a simulator that goes on after it was stopped while it was asked again and again."""
    rclpy.init(domain_id=int(fresh_domain()))
    try:
        asks, answers = (rclpy.create_node(name) for name in ('asks', 'answers'))
        own, other = make_executor(), make_executor()
        own.add_node(asks)
        other.add_node(answers)
        answered, given = [], []
        client = asks.create_client(Trigger, 'late')

        def answer(request, response):
            given.append(response)
            return response

        answers.create_service(Trigger, 'late', answer)
        assert client.wait_for_service(LONG_WAIT)

        def first(future):
            if not answered:
                asks.destroy_client(client)
            answered.append(future)

        for _ in range(5):
            client.call_async(Trigger.Request()).add_done_callback(first)
        wait_until(other, lambda: len(given) == 5, 'requests', LONG_WAIT)
        ticks = []
        asks.create_timer(0.01, lambda: ticks.append(1))
        wait_until(own, lambda: answered and len(ticks) >= 10, 'answers', LONG_WAIT)
        assert answered
    finally:
        rclpy.try_shutdown()
