"""Typed transport between a simulator and controllers in one process (`composed:=true`)."""

from collections import defaultdict
from collections.abc import Callable, Sequence

# Takes a serialised state.
TakeState = Callable[[bytes], None]
# Takes a serialised command, and how many commands its controller has published on the topic.
TakeCommand = Callable[[bytes, int], None]


class InProcessTransport:
    """Connects nodes of one process by the names of their topics.

    Nodes call each other's functions with the bytes that they would publish, in the thread of
    their common executor. They publish as well when other nodes subscribe.

    Attributes:
        looks: how often the simulator has looked whether other nodes subscribe; its controllers
            look as often.
    """

    def __init__(self) -> None:
        """Connect no node yet."""
        self.looks = 0
        self._states: dict[str, list[TakeState]] = defaultdict(list)
        self._commands: dict[str, TakeCommand] = {}

    def subscribe_states(self, topic: str, take: TakeState) -> None:
        """Add a controller that takes the states of a topic."""
        self._states[topic].append(take)

    def unsubscribe_states(self, topic: str, take: TakeState) -> None:
        """Remove a controller."""
        self._states[topic].remove(take)

    def state_subscribers(self, topic: str) -> Sequence[TakeState]:
        """Return what takes the states of a topic; the sequence follows later changes."""
        return self._states[topic]

    def serve_commands(self, topic: str, take: TakeCommand) -> None:
        """Set the simulator that takes the commands of a topic."""
        self._commands[topic] = take
        self.looks += 1

    def command_server(self, topic: str) -> TakeCommand | None:
        """Return what takes the commands of a topic; None where no simulator does."""
        return self._commands.get(topic)
