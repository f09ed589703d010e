"""A node outlives every request, and says in one line why one failed."""

import time

import rclpy
from domains import fresh_domain
from long_wait import ask, spin_until
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger

from arm_controllers.ros.running import make_executor
from arm_controllers.ros.services import serve
from arm_dynamics.checks import ArmError


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


def test_request_that_came_before_the_end_of_its_service_ends_no_node():
    rclpy.init(domain_id=int(fresh_domain()))
    node, executor, answered = rclpy.create_node('serving'), make_executor(), []
    executor.add_node(node)
    try:
        first, _ = (
            serve(node, Trigger, name, lambda *_, name=name: answered.append(name))
            for name in ('first', 'second')
        )
        clients = [node.create_client(Trigger, name) for name in ('first', 'second')]
        ask(lambda holds: spin_until(executor, holds), clients[0], Trigger.Request())
        clients[0].call_async(Trigger.Request())
        time.sleep(0.1)  # the executor has it
        node.destroy_service(first)
        ask(lambda holds: spin_until(executor, holds), clients[1], Trigger.Request())
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
    assert set(answered) == {'first', 'second'}


def test_the_reason_of_a_refused_request_is_one_short_line():
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('serving', context=context)

    def answer(request, response):
        raise ArmError('a long name\n' + 100_000 * 'x')

    try:
        service = serve(node, Trigger, '~/do', answer)
        answered = service.callback(Trigger.Request(), Trigger.Response())
    finally:
        node.destroy_node()
        context.try_shutdown()
    assert not answered.success
    assert answered.message.startswith('a long name xxx')
    assert len(answered.message) <= 500
