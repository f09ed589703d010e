"""Joint claims: which controller commands which joints, as ros2_control claims command interfaces.

A claim covers a set of joints and belongs to one endpoint. It ends by release, by the timeout of
the clock, or when a second publisher is found to command under the same name.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, unknown

Places = NDArray[np.intp]  # of joints in the arm
# A source whose commands were rejected gets no claim for this time [s] of the wall clock.
REJECTION_TIME = 10.0
# Rejected sources that are remembered, and characters of a source's name: bounds for floods.
_MOST_REJECTIONS, _LONGEST_NAME = 100, 255
# Most commands that a controller publishes between two that arrive, in all and per state.
MOST_LOST, MOST_PER_STATE = 100, 10


class CompetingError(ArmError):
    """A controller commands a joint that another controller has claimed."""


class Endpoint(NamedTuple):
    """Where commands come from.

    Attributes:
        node: full name of the node, '' where the graph does not show the node.
        gid: identifier of the node's publisher, empty where the graph does not show one.
        in_process: whether the controller runs in the simulator's process.
    """

    node: str = ''
    gid: bytes = b''
    in_process: bool = False


@dataclass
class Claim:
    """The right of one endpoint to command a set of joints.

    Attributes:
        source: name of the controller, as in the header of its commands.
        joint_names: of the joints, in the order of the commands.
        joints: (k,) their places in the arm.
        endpoint: where the commands come from.
        number: publication sequence number of the newest command; 0 where there are none.
        newest_ns: stamp of the state that the newest command answers [ns].
        states: number of states that were published up to the one that the newest command
            answers, which may have waited for long on its way; -inf: not known.
    """

    source: str
    joint_names: tuple[str, ...]
    joints: Places
    endpoint: Endpoint = field(default_factory=Endpoint)
    number: int = 0
    newest_ns: int = -1
    states: float = float('-inf')

    def most(self, states: int, most_lost: float = MOST_LOST) -> float:
        """Return the largest number that its publisher's next command has.

        Args:
            states: number of states that are published by now.
            most_lost: commands without a state of their own.
        """
        return self.number + most_lost + MOST_PER_STATE * (states - self.states)


@dataclass
class _Rejection:
    reason: str
    since: float
    spoofed: bool


class Claims:
    """The claims on the joints of one arm.

    Attributes:
        command: (n,) newest commands of several controllers, each to its joints.
    """

    def __init__(self, joint_names: Sequence[str], wall: Callable[[], float] = time.monotonic):
        """`joint_names`: of the arm, in its order; `wall`: the wall clock [s]."""
        self._names = tuple(joint_names)
        self._wall = wall
        self._claims: dict[str, Claim] = {}
        self._expired: dict[str, Claim] = {}
        self._rejections: dict[str, _Rejection] = {}
        self._reset_ns = -1
        self.command = np.zeros(len(self._names))

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._claims.values())

    def __len__(self) -> int:
        return len(self._claims)

    def get(self, source: str) -> Claim | None:
        """Return the claim of a source, None where it has none."""
        return self._claims.get(source)

    @property
    def rejections(self) -> dict[str, str]:
        """The reason of each rejection that is in force, by source."""
        oldest, every = self._wall() - REJECTION_TIME, self._rejections.items()
        self._rejections = {source: each for source, each in every if each.since >= oldest}
        return {source: each.reason for source, each in self._rejections.items()}

    @property
    def unclaimed(self) -> Places:
        """(m,) places of the joints that no controller has claimed."""
        free = np.ones(len(self._names), dtype=bool)
        for claim in self:
            free[claim.joints] = False
        return np.flatnonzero(free)

    def claim(
        self,
        source: str,
        joint_names: Sequence[str],
        at_rest: Callable[[Places], bool],
        endpoint: Endpoint | None = None,
        number: int = 0,
    ) -> Claim:
        """Grant a claim.

        Args:
            source: name of the controller.
            joint_names: the joints; others than the arm's only together with all of the arm's.
            at_rest: whether the joints at these places are at rest.
            endpoint: where the commands come from.
            number: publication sequence number of the command that asks for the claim.

        Raises:
            ArmError: a joint is unknown, claimed, or moves; or the source was rejected in the last
                REJECTION_TIME.
        """
        _check_length(source)
        names = self.own(joint_names)
        self._refuse_claimed(source, names)
        self.refuse_rejected(source)
        joints = np.array([self._names.index(name) for name in names])
        expired = self._expired.get(source)
        endpoint = endpoint or Endpoint()
        continues = expired is not None and (endpoint.in_process or number > expired.number)
        if not continues and not at_rest(joints):
            moves = f'{source!r} gets no claim while the joints move'
            raise ArmError(f'{moves}; allowed: when they are at rest')
        if continues and expired is not None and expired.endpoint.gid:
            endpoint = expired.endpoint  # the graph may show another publisher by now
        self._claims[source] = claim = Claim(source, names, joints, endpoint, number)
        return claim

    def hear(self, claim: Claim, number: int, stamp_ns: int, states: int) -> None:
        """Note a command, by its number, stamp and the number of states up to that stamp.

        A stamp up to the latest reset of time may be one of before it.
        """
        claim.number = number or claim.number
        if stamp_ns > self._reset_ns:
            claim.states = states

    def merged(self, claim: Claim, stamp_ns: int, command: Array) -> Array:
        """Return the command (n,) of all joints after a controller's newest one (k,)."""
        claim.newest_ns = stamp_ns
        if len(command) == len(self._names):
            return command
        self.command[claim.joints] = command
        return self.command

    @property
    def oldest_ns(self) -> int:
        """Stamp that every controller has answered [ns]; -1 where one has not answered yet."""
        return min((claim.newest_ns for claim in self), default=-1)

    def release(self, source: str) -> None:
        """End the claim of a source."""
        self._claims.pop(source, None)

    def expire(self) -> None:
        """End all claims; the same endpoints may claim again while their joints move."""
        self._expired = dict(self._claims)
        self._claims.clear()

    def restart(self, time_ns: int) -> None:
        """Keep the claims while time is reset, from a time [ns]: all answer the initial state."""
        self._expired.clear()
        self._reset_ns = max(self._reset_ns, time_ns)
        for claim in self:
            claim.newest_ns = -1

    def clear(self) -> None:
        """End all claims."""
        self._claims.clear()
        self._expired.clear()

    def reject(self, source: str, reason: str, spoofed: bool = True) -> None:
        """End the claim of a source; `spoofed`: several publishers command under its name."""
        _check_length(source)  # it is remembered and published
        self.release(source)
        self._expired.pop(source, None)
        self._remember(source, reason, spoofed)

    def _remember(self, source: str, reason: str, spoofed: bool) -> None:
        competing = [name for name, each in self._rejections.items() if not each.spoofed]
        if len(competing) >= _MOST_REJECTIONS:
            del self._rejections[competing[0]]
        self._rejections[source] = _Rejection(reason, self._wall(), spoofed)

    def pardon(self, source: str) -> None:
        """Lift the rejection of a source."""
        self._rejections.pop(source, None)

    def own(self, joint_names: Sequence[str]) -> tuple[str, ...]:
        """Return the arm's joints among these names, in the order of the arm.

        Raises:
            ArmError: a name is unknown, and not all joints of the arm are among the names.
        """
        names = tuple(name for name in self._names if name in joint_names)
        strange = [name for name in joint_names if name not in self._names]
        if strange and len(names) < len(self._names):
            raise unknown('joint', strange[0], self._names)
        return names

    def _refuse_claimed(self, source: str, names: tuple[str, ...]) -> None:
        for claim in self:
            both = [name for name in names if name in claim.joint_names]
            if both:
                what = f'joint {", ".join(map(repr, both))}: {claim.source!r} has claimed it'
                what += f', {source!r} is refused'
                reason = f'two controllers command {what}; deactivate one of them'
                self._remember(source, reason, spoofed=False)
                raise CompetingError(reason)

    def refuse_rejected(self, source: str) -> None:
        """Raise ArmError where a source was rejected in the last REJECTION_TIME."""
        if source in self.rejections:
            rejection = self._rejections[source]
            if rejection.spoofed:  # the publisher that speaks may be either of the two
                rejection.since = self._wall()
            after = f'{source!r} gets no claim for {REJECTION_TIME:g} s after a rejection'
            raise ArmError(f'{after}: {rejection.reason}')


def _check_length(source: str) -> None:
    if len(source) > _LONGEST_NAME:
        what = f'a command source has a name of {len(source)} characters'
        raise ArmError(f'{what}; allowed: {_LONGEST_NAME}')
