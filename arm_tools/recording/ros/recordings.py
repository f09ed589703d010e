"""The recordings of a recorder, one after another, each with description and frames of the arm."""

from collections.abc import Callable, Mapping
from pathlib import Path

from std_msgs.msg import String

from arm_controllers.ros import object_messages
from arm_controllers.ros.cdr import exact, is_native, stamp_ns
from arm_controllers.ros.frame_messages import FrameMessages
from arm_controllers.ros.messages import deserialized
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_tools.recording.mcap_file import McapFile
from arm_tools.recording.ros.schemas import message_class, schema_text

_TF = 'tf2_msgs/msg/TFMessage'
_EVERY_NS = 20_000_000  # of simulated time, between frames
# Types of which thousands of messages are recorded; nodes of this package serialise them without
# uninitialised memory.
_EXACT = {
    'sensor_msgs/msg/JointState',
    'control_msgs/msg/JointTrajectoryControllerState',
    _TF,
    object_messages.KIND,
}


def file_time_ns(data: bytes) -> int:
    """Return the stamp of a message [ns]; raise ArmError for a negative one."""
    time_ns = stamp_ns(data)
    if time_ns < 0:
        raise ArmError(f'a message has the stamp {time_ns * 1e-9:g} s; recordings begin at 0')
    return time_ns


class Recordings:
    """Writes messages; the first error ends the recording and is reported once.

    Attributes:
        now_ns: stamp of the newest state [ns]; -1 before the first one.
        began_ns: stamp of the recording's first state [ns].
        failed: whether an error has ended the recording.
    """

    def __init__(
        self,
        path: Callable[[int], Path],
        bag: bool,
        facts: Mapping[str, str],
        fail: Callable[[str], None],
    ):
        """Prepare the recordings.

        Args:
            path, bag: as for `Recorder`.
            facts: metadata of each recording.
            fail: is called with the reason when an error ends the recording.
        """
        self._path, self._bag, self._facts, self._report = path, bag, facts, fail
        self._file: McapFile | None = None
        self._kept: list[tuple[str, str, bytes]] = []
        self._number = 0
        self.now_ns, self.began_ns, self.failed = -1, -1, False

    @property
    def name(self) -> str:
        """Name of the last recording's file or folder; '' if there is none."""
        return self._path(self._number - 1).name if self._number and not self.failed else ''

    @property
    def begun(self) -> bool:
        """Whether a recording is being written."""
        return self._file is not None

    def begin(self, time_ns: int) -> None:
        """Begin the next recording at this time [ns]."""
        self.end()
        if self.failed:
            return
        path = self._path(self._number)
        self._number += 1
        self.now_ns = self.began_ns = time_ns
        try:
            self._file = McapFile(path, self._bag)
            self._file.add_metadata('arm_sim', self._facts)
        except OSError as error:
            self._fail(path, error)
        for each in self._kept:
            self.write(*each)

    def keep(self, topic: str, kind: str, data: bytes) -> None:
        """Write a message with which the next recordings begin as well."""
        self._kept.append((topic, kind, data))
        self.write(topic, kind, data)

    def write(
        self,
        topic: str,
        kind: str,
        data: bytes,
        time_ns: int | None = None,
        exact_already: bool = False,
    ) -> None:
        """Write a message at a time [ns], by default the present one, if there is a recording.

        `exact_already`: there is no uninitialised memory between its fields.
        """
        file = self._file
        if file is None:
            return
        if not exact_already and kind not in _EXACT and is_native(data):
            data = exact(data, message_class(kind))
        try:
            if topic not in file.counts:
                latched = kind == 'std_msgs/msg/String' or topic == '/tf_static'
                file.open_channel(topic, kind, schema_text(kind), latched)
            file.write(topic, data, self.now_ns if time_ns is None else time_ns)
        except OSError as error:
            self._fail(file.path, error)

    def write_about_state(
        self, topic: str, kind: str, stamp_of: Callable[[bytes], int], data: bytes
    ) -> None:
        """Write a message about a state at its stamp; the state may have come long before it."""
        time_ns = stamp_of(data)
        if time_ns >= self.began_ns:
            self.write(topic, kind, data, time_ns)

    def end(self, facts: Mapping[str, Mapping[str, str]] | None = None) -> None:
        """End the recording with facts by name."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            for name, each in (facts or {}).items():
                file.add_metadata(name, each)
            file.close()
        except OSError as error:
            self._fail(file.path, error)

    def _fail(self, path: Path, error: OSError) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.abandon()
        self.failed = True
        why = error.strerror or str(error)
        self._report(f'recording {str(path)!r} ends here: {why}; the arm goes on')


class RecordedFrames:
    """Writes the poses of an arm's links, 50 times per simulated second."""

    def __init__(self, description: bytes, prefix: str, files: Recordings):
        """Write the poses of fixed links.

        Args:
            description: a serialised robot_description.
            prefix: of the frames' names.
            files: receive the frames.

        Raises:
            ArmError: the bytes are no message, or the text describes no arm.
        """
        model = RobotModel.from_description(deserialized(description, String).data)
        self._frames = FrameMessages(model, prefix)
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._files, self._last_ns = files, -_EVERY_NS
        files.keep('/tf_static', _TF, self._frames.standing)

    def follow(self, state: bytes, time_ns: int) -> None:
        """Write the frames of a serialised state with this stamp [ns], if they are due."""
        if 0 <= time_ns - self._last_ns < _EVERY_NS:  # less than 0: after a reset
            return
        try:
            self._reader.open(state)
            message = self._frames.at(self._reader.values('position'), self._reader.time_ns)
        except ArmError:  # states of another arm
            return
        self._last_ns = time_ns
        self._files.write('/tf', _TF, message)
