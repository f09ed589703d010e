"""Whether a controller may begin, by what it knows of a simulator that the graph shows late."""

import time
from types import SimpleNamespace

import pytest

String = pytest.importorskip('std_msgs.msg').String

from arm_controllers.ros.commander import NOBODY, Commander  # noqa: E402


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr('arm_controllers.ros.commander.LATE', 1.0)


class Graph:
    """A node whose graph shows the simulator's publisher, and its words, some time from now."""

    def __init__(self, *words, shown_in=0.0, nodes=()):
        self.words, self.shown = list(words), time.monotonic() + shown_in
        self.nodes = nodes

    def create_subscription(self, *_):
        return SimpleNamespace(handle=self)

    def take_message(self, *_):
        if self.words and self.count_publishers():
            return String(data=self.words.pop(0)), None
        return None

    def count_publishers(self, *_):
        return int(time.monotonic() >= self.shown)

    def get_name(self):
        return 'own_controller'

    def get_namespace(self):
        return '/left'

    def get_node_names_and_namespaces(self):
        return [(name, '/left') for name in self.nodes] + [('of_another_arm', '/right')]


def commander(*words, **of_graph):
    return Commander(Graph(*words, **of_graph), lambda _: None)


@pytest.mark.parametrize('word', ['pd_controller', NOBODY])
def test_whom_a_simulator_heeds_counts_although_the_graph_shows_it_after_its_first_state(word):
    assert commander(word, shown_in=0.2).heeded() == word


def test_nobody_is_heeded_where_the_simulator_says_so_or_says_nothing():
    assert commander('', shown_in=0.2).heeded() == ''
    assert commander(shown_in=1e9).heeded() == ''  # no simulator of ours: states come all the same
    assert commander().heeded() == ''


def test_the_newest_word_counts_not_the_last_that_was_handled():
    asked = commander('pd_controller', nodes=['pd_controller'])
    asked.name = ''
    assert asked.heeded() == 'pd_controller'
    asked = commander(NOBODY)
    asked.name = ''
    assert asked.other() == NOBODY
    asked = commander('of_another_arm')
    asked.name = ''
    assert asked.other() == ''
    asked = commander('')
    asked.name = NOBODY
    assert asked.heeded() == asked.other() == ''


def test_a_name_whose_node_the_graph_shows_late_hinders():
    asked = commander('pd_controller')
    shown = time.monotonic() + 0.9
    late = lambda: ['pd_controller'] if time.monotonic() > shown else []  # noqa: E731
    asked._node.get_node_names_and_namespaces = lambda: [(name, '/left') for name in late()]
    assert asked.other() == 'pd_controller'


@pytest.mark.parametrize('question', ['heeded', 'other'])
@pytest.mark.parametrize('taken_back', [True, False])
def test_a_name_that_may_be_of_its_own_last_turn_is_waited_for_longer(question, taken_back):
    asked = commander('own_controller', nodes=['own_controller'])
    back, first = time.monotonic() + 0.9, asked._node.take_message
    asked._node.take_message = lambda *_: (
        (String(data=''), None)
        if taken_back and asked.name and time.monotonic() > back
        else first()
    )
    assert getattr(asked, question)() == ('' if taken_back else 'own_controller')


def test_the_first_word_of_a_simulator_that_is_seen_is_waited_for():
    asked = commander(nodes=['pd_controller'])
    said = time.monotonic() + 0.9
    asked._node.take_message = lambda *_: (
        (String(data='pd_controller'), None)
        if time.monotonic() > said and asked.name is None
        else None
    )
    assert asked.other() == 'pd_controller'


def test_a_name_whose_node_is_gone_or_a_simulator_that_is_not_seen_hinders_no_activation():
    assert commander('pd_controller').other() == ''
    assert commander('pd_controller', nodes=['pd_controller']).other() == 'pd_controller'
    assert commander('pd_controller', nodes=['pd_controller'], shown_in=1e9).other() == ''


@pytest.mark.parametrize(
    ('nodes', 'shown_in', 'times'),
    [(1, 0.0, 3), (2, 0.0, 0), (1, 1e9, 0)],  # the simulator apart, on the same executor, gone
)
def test_a_farewell_is_said_again_until_it_is_heard_where_somebody_can_hear(
    nodes, shown_in, times
):
    asked, said = commander(shown_in=shown_in), []
    asked.name = 'own_controller'
    asked._node.executor = SimpleNamespace(get_nodes=lambda: range(nodes))

    def say():
        said.append('farewell')
        if len(said) == 3:
            asked._node.words.append('')

    asked.take_leave(say)
    assert len(said) == times
    assert asked.name == ('' if times else 'own_controller')
