"""What has come for something that is destroyed since ends no node."""

import time

import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from long_wait import LONG_WAIT  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from arm_controllers.ros.running import _dispatch, make_executor  # noqa: E402


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
        end = time.monotonic() + LONG_WAIT
        while len(given) < 5:
            assert time.monotonic() < end
            _dispatch(other, 0.05)
        ticks = []
        asks.create_timer(0.01, lambda: ticks.append(1))
        while not answered or len(ticks) < 10:
            assert time.monotonic() < end
            _dispatch(own, 0.05)
        assert answered
    finally:
        rclpy.try_shutdown()
