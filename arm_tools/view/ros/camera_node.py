"""The node of `camera:=FILE`: cameras, rendered at the simulated time of their pictures."""

import time
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Time
from numpy.typing import NDArray
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import UInt8MultiArray

from arm_controllers.ros import object_messages
from arm_controllers.ros.frame_messages import TFMessage, Transforms
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import prefix_of, stamp_at
from arm_controllers.ros.nodes import Node, taken
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.parameters import parameter
from arm_sim.ros import loop_messages
from arm_sim.ros.loop_messages import OBJECTS, STATE
from arm_tools.view.cameras import Camera, CameraPictures, read_cameras
from arm_tools.view.ros.described_arm import subscribe_to_arm
from arm_tools.view.ros.view_parameters import ShownArmParameters
from arm_tools.view.scene import Scene
from arm_tools.view.shown_objects import looks, poses

_PICTURES = QoSProfile(depth=10, durability=LATCHED_QOS.durability)  # the first for a recorder
_NEWEST = QoSProfile(depth=1)
_TIMED = 20  # pictures after which their time is stated


@dataclass(frozen=True)
class CameraParameters(ShownArmParameters):
    """Parameters of the node."""

    cameras: str = parameter('', 'YAML file with the list of the cameras')
    mode: str = parameter(
        'lockstep',
        "'lockstep': every picture is published, and time waits for it; 'realtime': pictures that "
        'would be late are left out',
        one_of=('lockstep', 'realtime'),
    )


class CameraNode(Node):
    """Publishes pictures with the stamps of the states that they show.

    A picture shows the first state at or after each multiple of the camera's period.
    """

    def __init__(self) -> None:
        """Read the cameras and wait for an arm; OpenGL begins with its first state.

        Raises:
            ArmError: what `read_cameras` refuses.
        """
        super().__init__('camera')
        self.parameters = p = declare_parameters(self, CameraParameters)
        self._log, prefix = Log(self), prefix_of(self)
        cameras = read_cameras(Path(p.cameras).expanduser())
        self._outputs = [_CameraOutput(self, each, prefix) for each in cameras]
        names = ', '.join(each.name for each in cameras)
        size = 1e-6 * sum(each.bytes_per_second for each in cameras)
        self._log.info(f'{names}: {size:.3g} MB of pictures per simulated second')
        self._scene: Scene | None = None
        self._objects: list[ObjectShape] = []
        self._early: list[bytes] = []
        self._pending: tuple[Array, int] | None = None
        self._time_ns, self._lockstep = -1, p.mode == 'lockstep'
        self._taking, self._taken, self._said = 0.0, 0, False  # [s], pictures, their time
        self._progress: Publisher | None = None
        if self._lockstep:
            self._progress = self.create_publisher(Time, 'simulator/rendered_until', CONTROL_QOS)
        subscribe_to_arm(self, p.tool_frame, self._log, self._show_arm, 'cameras')
        qos = STATE_QOS if self._lockstep else _NEWEST
        topic = loop_messages.TOPIC
        # The loop's messages have the objects when these move; this topic has them at once.
        kind, name = object_messages.MarkerArray, object_messages.TOPIC
        self._first_objects: Subscription | None = self.create_subscription(
            kind, name, self._on_first_objects, STATE_QOS, raw=True
        )
        kind = UInt8MultiArray
        self._batches = self.create_subscription(kind, topic, self._on_batch, qos, raw=True)

    def _show_arm(self, model: RobotModel) -> None:
        self._reader = JointStateReader(model.joint_names, ('position',))
        self._model = model
        self._build()

    def _on_first_objects(self, raw: bytes) -> None:
        if self._first_objects is None or self._objects:
            return
        try:
            self._show_objects(raw)
        except ArmError as error:
            self._log.warning(f'{object_messages.TOPIC}: {error}')

    def _build(self) -> None:
        """Make the scene and its pictures, again where the objects are others."""
        self._scene = Scene(self._model, self.parameters, self._objects)
        for each in self._outputs:
            each.look_at(self._scene)

    def _on_batch(self, raw: bytes) -> None:
        """Take the pictures of a batch of states, as soon as arm and objects are known."""
        self._early.append(raw)
        lacks_objects = self._first_objects is not None and not self._objects
        if self._scene is None or (lacks_objects and self.count_publishers(object_messages.TOPIC)):
            return
        if self._first_objects is not None:
            self.destroy_subscription(self._first_objects)
            self._first_objects = None
        batches, self._early, before_ns = self._early, [], self._time_ns
        for batch in batches:
            try:
                self._on_messages(batch)
            except ArmError as error:
                self._log.warning(f'{loop_messages.TOPIC}: {error}')
        self._finish()
        if self._progress is not None and self._time_ns != before_ns:
            self._progress.publish(stamp_at(self._time_ns))

    def _on_messages(self, batch: bytes) -> None:
        for what, data in loop_messages.gathered(batch):
            if what == OBJECTS:
                self._show_objects(data)
            elif what == STATE:
                if self._lockstep:
                    self._finish()  # the objects of a state come behind it, in the same batch
                self._pending = self._new(data) or self._pending

    def _finish(self) -> None:
        """Take the pictures of the last state, whose objects are known now."""
        state, self._pending = self._pending, None
        if state is None:
            return
        begin = time.monotonic()
        self._taken += sum(each.take(*state) for each in self._outputs)
        self._taking += time.monotonic() - begin
        if self._taken >= _TIMED and self._lockstep and not self._said:
            self._said = True
            each = self._taking / self._taken
            second = each * sum(output.rate for output in self._outputs)
            self._log.info(
                f'a picture takes {1e3 * each:.3g} ms on this machine: a simulated second takes '
                f'{second:.2g} s or more; a lower rate, width or height of a camera shortens it'
            )

    def _new(self, raw: bytes) -> tuple[Array, int] | None:
        """Return positions (n,) and stamp [ns] of a state that is no repetition."""
        reader = self._reader
        reader.open(raw)
        if reader.time_ns == self._time_ns:
            return None
        if reader.time_ns < self._time_ns:  # a reset
            for each in self._outputs:
                each.shown = -1
        self._time_ns = reader.time_ns
        return reader.values('position').copy(), reader.time_ns

    def _show_objects(self, raw: bytes) -> None:
        before, self._objects = self._objects, object_messages.shapes_of(raw)
        if self._scene is None:
            return
        if looks(self._objects) != looks(before):
            self._build()
        self._scene.place(poses(self._objects))

    def destroy_node(self) -> None:
        """Publish the last pictures of a lock-step, and release OpenGL."""
        while self._lockstep and self._scene is not None and (raw := taken(self._batches)):
            self._on_batch(raw)
        for each in self._outputs:
            each.close()
        super().destroy_node()


class _CameraOutput:
    """The topics of a camera.

    Attributes:
        rate: pictures per simulated second [Hz].
        shown: number of the camera's period that was shown last.
    """

    def __init__(self, node: Node, camera: Camera, prefix: str):
        self._node, self._camera, self.rate, self.shown = node, camera, camera.rate, -1
        self._pictures: CameraPictures | None = None
        self._prefix, self._frame = prefix, f'{prefix}{camera.name}_optical_frame'
        kinds = ('color', 'depth') if camera.depth else ('color',)
        self._publishers = [
            [
                node.create_publisher(kind, f'{camera.name}/{part}/{topic}', _PICTURES)
                for kind, topic in ((Image, 'image_raw'), (CameraInfo, 'camera_info'))
            ]
            for part in kinds
        ]
        self._info = _camera_info(camera)
        if TFMessage is not None:
            self._frames = node.create_publisher(TFMessage, '/tf_static', LATCHED_QOS)

    def look_at(self, scene: Scene) -> None:
        """Take the pictures of this scene from now on."""
        self.close()
        self._pictures = CameraPictures(self._camera, scene)
        if TFMessage is not None:
            link = self._camera.link or scene.model.base_frame
            frame = Transforms([(link, f'{self._camera.name}_optical_frame')], self._prefix)
            self._frames.publish(frame.at([pin.SE3ToXYZQUAT(self._camera.optical)], 0))

    def take(self, q: Array, time_ns: int) -> bool:
        """Publish the picture of a state, if one is due; return whether it was."""
        number = int(time_ns * self.rate * 1e-9 + 1e-6)
        if number == self.shown or self._pictures is None:
            return False
        self.shown = number
        pictures = self._pictures.take(q)
        for (images, infos), pixels in zip(self._publishers, pictures, strict=False):
            assert pixels is not None  # a camera without depth has one publisher
            message = _image(pixels)
            for each in (message, self._info):
                each.header.frame_id = self._frame
                each.header.stamp = stamp_at(time_ns)
            images.publish(message)
            infos.publish(self._info)
        return True

    def close(self) -> None:
        if self._pictures is not None:
            self._pictures.close()
            self._pictures = None


def _image(pixels: NDArray[np.uint8] | NDArray[np.float32]) -> Image:
    """Return colours (h, w, 3) of uint8 or depth (h, w) of float32 as a message."""
    height, width = pixels.shape[:2]
    encoding = 'rgb8' if pixels.dtype == np.uint8 else '32FC1'
    data = array('B', np.ascontiguousarray(pixels).tobytes())
    step = len(data) // height
    return Image(height=height, width=width, encoding=encoding, step=step, data=data)


def _camera_info(camera: Camera) -> CameraInfo:
    k = camera.intrinsics
    found = CameraInfo(height=camera.height, width=camera.width)
    found.distortion_model, found.d = 'plumb_bob', [0.0] * 5
    found.k, found.r = k.ravel(), np.eye(3).ravel()
    found.p = np.hstack([k, np.zeros((3, 1))]).ravel()
    return found
