"""The joint states of a recording by their publishers, and which of them are the measured ones.

A topic has a stream for each order of joints, frame, and presence of efforts in its messages; what
a node that was started again published continues the stream.
"""

import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_tools.readers.column_names import of_fewer, renamed, renaming
from arm_tools.readers.findings import Doubt
from arm_tools.readers.other_encodings import refuse_others, with_names
from arm_tools.readers.read_options import ReadRun
from arm_tools.readers.recorded_messages import Recorded
from arm_tools.readers.ros_messages import IMAGE, JOINT_STATE, decoder, seconds

COMMANDS = 'joint_commands'  # the end of the topics whose JointStates are commands
STATES = '/joint_states'  # the end of the topics of states, behind an arm's namespace
_STAMP = slice(4, 12)  # of a serialised message that begins with a header
_SAME = 1e-9  # positions and efforts nearer than this are equal
_ALTERNATE = 3.0  # step to the next state over the step to the one after: two publishers
_BACK = 0.01  # share of stamps that go back from which on there are two publishers,
_CLOCKS = 3  # beyond so many, which are clocks set back and restarts
_UNSTAMPED = 0.1  # share of stamps of zero from which on these are none
_LEAST = 20  # states from which on these are counted
_OTHER_CLOCK = 1.0  # offset of two clocks that is named [s]


@dataclass(frozen=True)
class Stream:
    """Joint states of one publisher.

    Attributes:
        topic: with `#2` and so on for further publishers.
        numbers: (m,) of the messages in the recording.
        stamps, received: (m,) times of the headers and of receipt [s].
        q, v, effort: (m, n) as recorded; NaN where there is none.
    """

    topic: str
    numbers: Array
    stamps: Array
    received: Array
    q: Array
    v: Array
    effort: Array

    @property
    def with_effort(self) -> bool:
        """Return whether an effort was measured, which changes."""
        whole = (column[np.isfinite(column)] for column in self.effort.T)
        return any(len(each) > 1 and np.ptp(each) > 0.0 for each in whole)

    def described(self) -> str:
        """Return topic and size."""
        span = float(np.ptp(self.received)) or float(np.ptp(self.stamps))
        rate = f', {(len(self.stamps) - 1) / span:.4g} Hz' if span > 0.0 else ''
        efforts = 'with efforts' if self.with_effort else 'without changing efforts'
        return f'{self.topic} ({len(self.stamps)} states{rate}, {efforts})'


_ARRAYS = 'numbers', 'stamps', 'received', 'q', 'v', 'effort'  # of a Stream


class _Publisher(NamedTuple):
    """By what the messages of publishers on one topic differ."""

    topic: str
    joints: tuple[str, ...]
    frame: str
    has_effort: bool


def streams_of(
    messages: Iterable[Recorded], joint_names: Sequence[str], commands: bool = False
) -> list[Stream]:
    """Return the streams of the messages that have all these joints.

    Raises:
        ArmError: there is none.
    """
    decoded, wanted = decoder(JOINT_STATE), set(joint_names)
    others: dict[tuple[str, ...], str] = {}  # topics, by names of other joints
    states: defaultdict[_Publisher, list[tuple[object, ...]]] = defaultdict(list)
    damaged: dict[str, ArmError] = {}  # by topic
    kinds: dict[str, str] = {}  # by topic
    for number, message in enumerate(messages):
        kinds.setdefault(message.topic, message.kind)
        if message.kind != JOINT_STATE or message.topic.endswith(COMMANDS) != commands:
            continue
        try:
            state = decoded(message.data)
        except ArmError as error:
            damaged.setdefault(message.topic, error)
            continue
        if not wanted.issubset(state.name):
            others.setdefault(tuple(state.name), message.topic)  # of another arm, or a gripper
            continue
        order = [state.name.index(name) for name in joint_names]
        none = np.full(len(order), np.nan)
        values = [x[order] if len(x) else none for x in (state.position, state.velocity)]
        has_effort = len(state.effort) > 0
        effort = state.effort[order] if has_effort else none
        publisher = _Publisher(message.topic, tuple(state.name), state.header.frame_id, has_effort)
        row = number, seconds(state), 1e-9 * message.time_ns, *values, effort
        states[publisher].append(row)
    for topic, why in damaged.items():  # a gripper's are no harm
        if not states or topic in {x.topic for x in states}:
            raise ArmError(f'{topic}: {why}')
    if not states:
        refuse_others(kinds)
        raise _no_states(joint_names, others, kinds, commands)
    streams: list[Stream] = []
    for publisher, rows in states.items():
        for name in joint_names:
            if (count := publisher.joints.count(name)) > 1:
                what = f'a state has the joint {name!r} {count} times'
                raise ArmError(f'{publisher.topic}: {what}')
        columns = [np.array(column) for column in zip(*rows, strict=True)]
        streams = _added(streams, Stream(publisher.topic, *columns))
    return streams


def _no_states(
    joints: Sequence[str],
    others: Mapping[tuple[str, ...], str],
    kinds: Mapping[str, str],
    commands: bool,
) -> ArmError:
    """Return the error where no message has all joints; `others`: topics, by names of joints."""
    seen, kind = {x for names in others for x in names}, 'commands' if commands else 'states'
    if seen.issuperset(joints):
        have = '; '.join(f'{topic} has {", ".join(names)}' for names, topic in others.items())
        return ArmError(
            f'no message has all of {", ".join(joints)}: {have}; record a topic whose {kind} have '
            'all joints of the arm, or --robot with joints:= names those of one topic'
        )
    has = ', '.join(sorted(seen)) or 'none'
    if not seen and JOINT_STATE not in kinds.values():
        topics = (f'{topic} ({of})' for topic, of in islice(kinds.items(), 6))
        has = f'none, but {", ".join(topics)}' if kinds else has
    sent = [x for x, of in kinds.items() if of == JOINT_STATE and x.endswith(COMMANDS)]
    if sent and not commands:
        has += f'; {", ".join(sent)} has commands, which are no states'
    remedy = renamed(joints, seen) or (f'; {x}' if (x := of_fewer(joints, seen)) else '')
    remedy = remedy or '; --robot names the arm that was recorded' * bool(seen)
    return ArmError(f'no joint {kind} of {", ".join(joints)}; it has {has}{remedy}')


def _added(streams: list[Stream], new: Stream) -> list[Stream]:
    """Return the streams with one more, which may continue one of its topic."""
    of_topic = [each for each in streams if each.topic.partition('#')[0] == new.topic]
    for old in of_topic:
        first, second = sorted([old, new], key=lambda each: each.received[0])
        if first.received[-1] < second.received[0]:
            pairs = ((vars(first)[x], vars(second)[x]) for x in _ARRAYS)
            whole = Stream(old.topic, *map(np.concatenate, pairs))
            return [whole if each is old else each for each in streams]
    number = f'#{len(of_topic) + 1}' if of_topic else ''
    return [*streams, replace(new, topic=f'{new.topic}{number}')]


def measured(streams: Sequence[Stream], how: ReadRun, effort: bool) -> tuple[Stream, list[str]]:
    """Return the stream of measured states, and lines on how it was chosen.

    Args:
        streams: of one arm.
        how: which topic, if it is known.
        effort: whether efforts are needed.

    Raises:
        ArmError: there is no such topic, or it is not clear which one is measured.
    """
    described = '; '.join(each.described() for each in streams)
    if how.topic:
        chosen = [each for each in streams if each.topic == how.topic]
        if not chosen:
            raise ArmError(f'has no joint states of the arm on {how.topic!r}; it has {described}')
        lines = [f'topic: {chosen[0].described()}, as --topic says']
    else:
        chosen = _different(streams)
        if len(chosen) > 1:
            chosen = [each for each in chosen if each.with_effort]
        if len(chosen) != 1:
            raise ArmError(
                f'{len(streams)} publishers have states of this arm: {described}; which of them '
                'is measured is not clear: --topic names it'
            )
        lines = [f'topic: {chosen[0].described()}']
        others = [each.described() for each in streams if each is not chosen[0]]
        if others:
            others_too = f'not read: {"; ".join(others)} (--topic reads it)'
            lines = [Doubt(f'{lines[0]} is measured; {others_too}')]
    if np.isnan(chosen[0].q).all():
        lacking = f'the joint states on {chosen[0].topic} have no positions, which are needed'
        others = [each.topic for each in streams if not np.isnan(each.q).all()]
        if others:
            lacking += (
                f'; {others[0]} has positions, but no efforts: record a topic with both, or write '
                'both at the same times as a CSV'
            )
        raise ArmError(lacking)
    if effort and np.isnan(chosen[0].effort).all():
        raise ArmError('its joint states have no effort, which is needed')
    return chosen[0], lines


def _different(streams: Sequence[Stream]) -> list[Stream]:
    """Return the streams without copies of others."""
    found: list[Stream] = []
    for each in streams:
        if not any(_equal(each, other) for other in found):
            found.append(each)
    return found


def _equal(one: Stream, other: Stream) -> bool:
    if len(one.q) != len(other.q):
        return False
    pairs = (one.q, other.q), (one.effort, other.effort)
    return all(np.allclose(*pair, rtol=0.0, atol=_SAME, equal_nan=True) for pair in pairs)


def timed(stream: Stream, how: ReadRun) -> tuple[Array, list[str]]:
    """Return times (m,) of a stream [s], and lines on the clock.

    Raises:
        ArmError: the states of several publishers are mixed.
    """
    stamps, received = stream.stamps, stream.received
    zeros = int((stamps == 0.0).sum())  # simulated time begins with one at each reset
    few = max(1.0, _UNSTAMPED * len(stamps))
    unstamped = len(stamps) > 1 and (zeros > few or np.ptp(stamps) == 0.0)
    by_receipt = how.clock == 'receive' or (how.clock == 'auto' and unstamped)
    times = received if by_receipt else stamps
    line = 'clock: stamps of the headers'
    if unstamped and by_receipt:
        what = (
            f'{zeros} of {len(stamps)} headers have no stamp' if zeros else 'all stamps are equal'
        )
        line = Doubt(f'clock: receive times of the recording, because {what} (--clock header)')
    elif by_receipt:
        line = 'clock: receive times of the recording, as --clock says'
    elif len(stamps) > 1 and (offset := abs(np.median(received - stamps))) > _OTHER_CLOCK:
        line = Doubt(
            f'{line}, {offset:.4g} s from the receive times (--clock receive reads these)'
        )
    lines, back = [line], int((np.diff(times) < -_SAME).sum())
    same = int((np.diff(times) == 0.0).sum())
    if same and not by_receipt:
        other = ' (--clock receive)' if same > len(times) // 2 else ''
        line = f'{same} of {len(times)} states have the stamp of the one before, not read{other}'
        lines.append(Doubt(f'clock: {line}'))
    if mixed := _mixed(stream, times, back):
        if not how.topic:
            raise ArmError(
                f'{stream.topic} has the states of several publishers, mixed: {mixed}; record one '
                'of them, or --clock receive where the stamps alone are wrong; --topic '
                f'{stream.topic} reads them as one'
            )
        lines.append(Doubt(f'publishers: {mixed}; read as one, as --topic says'))
    if back:
        times_back = 'once, which' if back == 1 else f'{back} times: each'
        lines[0] = Doubt(f'{line}; they go back {times_back} begins a new piece')
    return times, lines


def _mixed(stream: Stream, times: Array, back: int) -> str:
    """Return why a stream has the states of several publishers; '' where it has one's."""
    if len(times) < _LEAST:
        return ''
    one, two = (np.median(np.abs(stream.q[k:] - stream.q[:-k]), axis=0) for k in (1, 2))
    if (one > _ALTERNATE * np.maximum(two, _SAME)).any():
        return 'its positions jump from each state to the next'
    if back > max(_BACK * (len(times) - 1), _CLOCKS):
        return f'its stamps go back {back} times in {len(times)} states'
    return ''


def sampling(times: Array) -> list[str]:
    """Return a line on rate, jitter and holes of times (m,) [s]."""
    steps = np.diff(times)
    steps = steps[steps > 0.0]
    if not len(steps):
        return []
    period = float(np.median(steps))
    jitter = float(np.median(np.abs(steps - period)))
    holes = int((steps > 2.5 * period).sum())
    line = (
        f'sampling: {1.0 / period:.4g} Hz, median jitter {1e3 * jitter:.3g} ms, {holes} holes, '
        f'the longest {1e3 * float(steps.max()):.4g} ms; {len(times)} states'
    )
    return [Doubt(line) if holes else line]


def measured_states(
    messages: Sequence[Recorded], how: ReadRun
) -> tuple[list[Recorded], str, list[str]]:
    """Return the messages with the measured states alone, the arm's namespace, and findings.

    The states are on `STATES` of the namespace. Where receive times count, states, commands and
    pictures have them as stamps.

    Raises:
        ArmError: there is no such topic, or it is not clear which one is measured.
    """
    how.check_messages()
    if how.columns:
        messages = with_names(messages, renaming(how.columns))
    states = (x for x in messages if x.kind == JOINT_STATE)
    wanted = how.topic.partition('#')[0]
    first = next((x for x in states if wanted == x.topic or (
        not wanted and x.topic.endswith(STATES))), None)  # fmt: skip
    if first is None:
        raise ArmError(
            f'has no joint states on {wanted!r}' if wanted else 'it has no joint_states'
        )
    streams = streams_of(messages, decoder(JOINT_STATE)(first.data).name)
    stream, lines = measured(streams, how, effort=False)
    times, of_clock = timed(stream, how)
    topic = stream.topic.partition('#')[0]
    namespace = topic.removesuffix(STATES) if topic.endswith(STATES) else ''
    ours, found = set(stream.numbers.tolist()), []
    for number, each in enumerate(messages):
        if number in ours:
            found.append(each._replace(topic=f'{namespace}{STATES}'))
        elif each.topic not in (topic, f'{namespace}{STATES}'):
            found.append(each)
    if times is stream.received:
        found = [x if x.kind not in (JOINT_STATE, IMAGE) else _received(x) for x in found]
    return found, namespace, [*lines, *of_clock, *sampling(times)]


def _received(message: Recorded) -> Recorded:
    """Return a message that begins with a header, stamped with its time of receipt."""
    order = '<' if message.data[1] & 1 else '>'
    stamp = struct.pack(f'{order}iI', *divmod(message.time_ns, 10**9))
    data = message.data[: _STAMP.start] + stamp + message.data[_STAMP.stop :]
    return message._replace(data=data)
