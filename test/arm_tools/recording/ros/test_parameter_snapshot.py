"""A recording has all parameters of all nodes, although ROS loses an answer."""

from types import SimpleNamespace

import pytest

rclpy = pytest.importorskip('rclpy')

from rcl_interfaces.msg import ListParametersResult, ParameterEvent, ParameterValue  # noqa: E402
from rcl_interfaces.srv import GetParameters, ListParameters  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from rclpy.task import Future  # noqa: E402

from arm_tools.recording.ros import parameter_snapshot  # noqa: E402
from arm_tools.recording.ros.parameter_snapshot import ParameterSnapshot  # noqa: E402

SERVICE = 'rcl_interfaces/srv/ListParameters'


class Graph:
    """A node in a graph with one other, whose answers are given by hand."""

    def __init__(self):
        self.asked, self.destroyed = [], 0

    def get_fully_qualified_name(self):
        return '/recorder'

    def list_parameters(self, prefixes, depth):
        return ListParametersResult()

    def get_parameters(self, names):
        return []

    def get_service_names_and_types(self):
        return [('/simulator/list_parameters', [SERVICE]), ('/simulator/pause', ['x'])]

    def create_client(self, kind, name):
        def call_async(request):
            self.asked.append((name.rpartition('/')[2], Future()))
            return self.asked[-1][1]

        return SimpleNamespace(call_async=call_async, service_is_ready=lambda: True)

    def destroy_client(self, client):
        self.destroyed += 1


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr(parameter_snapshot.time, 'monotonic', lambda: now.s)
    return now


def test_who_does_not_answer_is_asked_again_and_reported_once(clock):
    graph, received = Graph(), []
    snapshot = ParameterSnapshot(graph, received.append)
    received.clear()
    snapshot.look()
    assert snapshot.waits
    snapshot.look()
    assert [name for name, _ in graph.asked] == ['list_parameters']
    clock.s += 1.5
    snapshot.look()
    (_, lost), (_, second) = graph.asked
    names = ListParameters.Response(result=ListParametersResult(names=['mass']))
    second.set_result(names)
    lost.set_result(names)  # it comes after all: nothing is asked twice
    assert [name for name, _ in graph.asked[2:]] == ['get_parameters']
    clock.s += 1.5
    snapshot.look()
    values = GetParameters.Response(values=[ParameterValue(type=3, double_value=2.5)])
    for _, future in graph.asked[2:]:
        future.set_result(values)
    assert not snapshot.waits
    (event,) = (deserialize_message(data, ParameterEvent) for data in received)
    assert (event.node, event.new_parameters[0].name) == ('/simulator', 'mass')
    assert event.new_parameters[0].value.double_value == 2.5
    assert graph.destroyed == 0  # further answers may be on their way


def test_a_node_that_never_answers_is_not_waited_for_for_ever(clock):
    snapshot = ParameterSnapshot(Graph(), lambda data: None)
    snapshot.look()
    clock.s += 9.0
    snapshot.look()
    assert snapshot.waits
    clock.s += 1.5
    assert not snapshot.waits
    snapshot.close()
