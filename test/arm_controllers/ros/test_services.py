"""A node outlives every request, and says in one line why one failed."""

import rclpy
from long_wait import ask, spin_until
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger

from arm_controllers.ros.services import serve


def test_request_that_fails_is_answered_with_the_reason_and_the_next_one_is_served(capfd):
    requests = []

    def answer(request, response):
        requests.append(request)
        if len(requests) == 1:
            response.success = True  # is not sent
            raise ZeroDivisionError('no period\nat all')
        response.success, response.message = True, 'done'

    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('serving', context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        serve(node, Trigger, '~/do', answer)
        client = node.create_client(Trigger, '/serving/do')

        def called():
            return ask(lambda holds: spin_until(executor, holds), client, Trigger.Request())

        refused = called()
        assert not refused.success
        assert refused.message == 'failed with ZeroDivisionError; the log has the reason'
        done = called()
        assert (done.success, done.message) == (True, 'done')
    finally:
        node.destroy_node()
        context.try_shutdown()
    logged = [
        line
        for line in capfd.readouterr().err.splitlines()
        if 'do failed: ZeroDivisionError' in line
    ]
    assert len(logged) == 1
    assert 'ZeroDivisionError: no period at all' in logged[0]
