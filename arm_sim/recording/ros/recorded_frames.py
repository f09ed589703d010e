"""The frames of a recording: /tf of the states, computed outside the control loop."""

from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from arm_controllers.ros.frame_messages import FrameMessages, TFMessage
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.recording.ros.recordings import Recordings

_TF = 'tf2_msgs/msg/TFMessage'
_EVERY_NS = 20_000_000  # of simulated time


class RecordedFrames:
    """Writes the poses of an arm's links, 50 times per simulated second."""

    def __init__(self, model: RobotModel, prefix: str, files: Recordings):
        """Write the poses of fixed links; `prefix`: of the frames' names."""
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


def recorded_frames(description: bytes, prefix: str, files: Recordings) -> RecordedFrames | None:
    """Return the frames of a serialised robot_description; None where tf2_msgs is not installed.

    Raises:
        ArmError: the bytes are no message, or the text describes no arm.
    """
    if TFMessage is None:
        return None
    try:
        urdf = deserialize_message(description, String).data
    except RuntimeError as error:
        raise ArmError(str(error)) from None
    return RecordedFrames(RobotModel.from_description(urdf), prefix, files)
