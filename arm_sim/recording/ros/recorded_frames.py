"""The frames of a recording: /tf of the states, computed outside the control loop."""

from std_msgs.msg import String

from arm_controllers.ros.frame_messages import FrameMessages
from arm_controllers.ros.messages import deserialized
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.recording.ros.recordings import Recordings

_TF = 'tf2_msgs/msg/TFMessage'
_EVERY_NS = 20_000_000  # of simulated time


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
