"""The topics of a recording: messages are fetched when asked for, without the executor."""

from collections.abc import Callable, Iterator
from functools import partial

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription

from arm_controllers.ros.nodes import quiet_node, taken
from arm_controllers.ros.qos import LATCHED_QOS, RECORD_QOS
from arm_tools.recording.ros.recordings import file_time_ns
from arm_tools.recording.ros.schemas import message_class

Take = Callable[[bytes], None]  # writes a serialised message


class RecordedTopics:
    """Subscriptions next to a node, each with the function that takes its messages.

    Attributes:
        kinds: types of the messages of all topics so far.
    """

    def __init__(self, node: Node):
        """Subscribe to nothing yet."""
        self._node = node
        self._listener = quiet_node(node, f'{node.get_name()}_recorder')
        self._inputs: dict[str, tuple[Subscription, Take]] = {}
        self.kinds: set[str] = set()

    def resolved(self, topic: str) -> str:
        """Return the full name of a topic."""
        name: str = self._listener.resolve_topic_name(topic)
        return name

    def listen(self, topic: str, kind: str, take: Take, qos: QoSProfile = RECORD_QOS) -> None:
        """Subscribe to a topic with messages of a type, unless it has a subscription."""
        name = self.resolved(topic)
        if name not in self._inputs:
            what = message_class(kind)
            made = self._listener.create_subscription(what, name, lambda data: None, qos, raw=True)
            self._inputs[name] = made, take
            self.kinds.add(kind)

    def leave(self, topic: str) -> None:
        """Receive no more messages of a topic."""
        if self._inputs and (name := self.resolved(topic)) in self._inputs:
            self._listener.destroy_subscription(self._inputs.pop(name)[0])

    def publishers(self, topic: str) -> int:
        """Return the number of publishers of a topic; 0 without a subscription."""
        given = self._inputs.get(self.resolved(topic)) if self._inputs else None  # closed
        return given[0].get_publisher_count() if given else 0

    def profile_of(self, topic: str) -> QoSProfile:
        """Return the profile that receives what a publisher has kept for late readers."""
        own = self._node.get_publishers_info_by_topic(topic)
        latched = own and own[0].qos_profile.durability == LATCHED_QOS.durability
        if not latched:
            return RECORD_QOS
        return QoSProfile(depth=RECORD_QOS.depth, durability=LATCHED_QOS.durability)

    def arrived(self) -> Iterator[tuple[Take, bytes]]:
        """Yield the messages that have arrived, topic by topic, and who takes them."""
        for name in list(self._inputs):
            if name not in self._inputs:  # who takes a message may leave another topic
                continue
            subscription, take = self._inputs[name]
            for data in list(iter(partial(taken, subscription), None)):
                yield take, data

    def close(self) -> None:
        """Receive nothing any more."""
        self._inputs.clear()
        self._listener.destroy_node()


class BatchedLater:
    """A topic whose messages come one by one until batches bring them: each is written once."""

    def __init__(
        self,
        topics: RecordedTopics,
        topic: str,
        kind: str,
        write: Callable[[str, str, bytes, int, bool], None],
    ):
        """Listen to a topic with messages of a type; `write` is `Recordings.write`."""
        self._topics, self._topic, self._kind = topics, topic, kind
        self._write = partial(write, topics.resolved(topic), kind)
        self._stamps: set[int] = set()  # of what was written while messages came one by one
        self.listen()

    def listen(self) -> None:
        """Receive messages one by one, until batches have them."""
        self._one_by_one, self._batched = True, False
        self._topics.listen(self._topic, self._kind, self._take)

    def begin_recording(self) -> None:
        """Write messages of any stamp again."""
        self._stamps.clear()

    def begin_batch(self) -> None:
        """Leave the topic if a batch before this one has had a message."""
        if self._batched and self._one_by_one:
            self._topics.leave(self._topic)
            self._one_by_one = False

    def take_batched(self, data: bytes) -> None:
        """Write a message of a batch, in which there is no uninitialised memory.

        Raises:
            ArmError: it is cut off, or from before time 0.
        """
        self._batched = True
        self._take(data, exact=True)

    def _take(self, data: bytes, exact: bool = False) -> None:
        time_ns = file_time_ns(data)
        if time_ns in self._stamps:
            return
        if self._one_by_one:
            self._stamps.add(time_ns)
        self._write(data, time_ns, exact)
