"""Services of simulation_interfaces for objects: spawned, deleted, moved, listed."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.ros.messages import components, prefix_of
from arm_controllers.ros.pose_messages import pose_from_message, pose_to_message
from arm_controllers.ros.ros_types import AnyMessage, Request, Response
from arm_controllers.ros.services import RefusedError, refused
from arm_dynamics.checks import ArmError, Array, finite
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.scene import SceneObject, objects_text, read_objects, read_scene
from arm_tools.standards.entities import Entities
from arm_tools.standards.spawning import described_object, free_name, placed, spawnables

try:
    from simulation_interfaces import msg
except ImportError:
    msg = None

_FASTEST, _FARTHEST = 1000.0, 1000.0  # [m/s | rad/s], [m]
Answer = Callable[[Request, Response], None]


class ObjectServices:
    """Changes the objects of a simulation by its parameters `scene` and `objects`."""

    def __init__(self, node: Node, clock: Clock, entities: Entities):
        self._node, self._clock, self._entities = node, clock, entities
        self._prefix = prefix_of(node)
        self._first = self._parameters

    @property
    def services(self) -> dict[str, Answer]:
        """The functions that answer, by the service."""
        return {
            'SpawnEntity': self._spawn,
            'DeleteEntity': self._delete,
            'SetEntityState': self._set_state,
            'GetEntityBounds': self._fill_bounds,
            'GetSpawnables': self._fill_spawnables,
            'GetNamedPoses': self._fill_poses,
            'GetNamedPoseBounds': self._fill_pose_bounds,
        }

    @property
    def _parameters(self) -> dict[str, str]:
        return {name: self._node.get_parameter(name).value for name in ('scene', 'objects')}

    def remove_spawned(self) -> None:
        """Bring back the objects that were there at the start. Raises ArmError if refused."""
        if self._parameters != self._first:
            self._set(**self._first)

    def _set(self, **values: str) -> None:
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        done = self._node.set_parameters_atomically(parameters)
        if not done.successful:
            raise ArmError(done.reason)

    # Requests

    def _spawn(self, request: Request, response: Response) -> None:
        if not (request.uri or request.resource_string):
            raise RefusedError(response.NO_RESOURCE, 'uri and resource_string are empty')
        self.check_rest()
        unknown = response.UNSUPPORTED_FORMAT if request.uri else response.RESOURCE_PARSE_ERROR
        with refused(unknown):
            made = described_object(request.uri, request.resource_string)
        taken = [each.removeprefix(self._prefix) for each in self._entities.all()]
        wanted = request.name.removeprefix(self._prefix) or made.name
        with refused(response.NAME_NOT_UNIQUE if wanted in taken else response.NAME_INVALID):
            name = free_name(wanted, taken, request.allow_renaming)
        with refused(response.INVALID_POSE):
            pose = self._frame(request.initial_pose.header.frame_id)
            pose = pose * _pose(request.initial_pose.pose)
        objects = read_objects(self._parameters['objects'], 'objects')
        self._set(objects=objects_text([*objects, placed(made, name, pose)]))
        response.entity_name = self._prefix + name

    def _delete(self, request: Request, response: Response) -> None:
        name = self._object(request.entity)
        self.check_rest()
        now = self._parameters
        of_scene: tuple[SceneObject, ...] = ()
        if not now['scene'].endswith('.xml'):
            of_scene = read_scene(now['scene'])
        spawned = read_objects(now['objects'], 'objects')
        if name in [each.name for each in spawned]:
            of_scene = ()
        elif name in [each.name for each in of_scene]:
            now['scene'] = ''
        else:
            raise ArmError(f'{name!r} belongs to the MJCF scene and stays')
        left = [each for each in (*of_scene, *spawned) if each.name != name]
        self._set(scene=now['scene'], objects=objects_text(left))

    def _set_state(self, request: Request, response: Response) -> None:
        name = self._object(request.entity)
        self.check_rest()
        state = request.state
        with refused(response.INVALID_POSE):
            frame = self._frame(state.header.frame_id)
            pose = frame * _pose(state.pose)
        twist = finite('twist', components(state.twist.linear, state.twist.angular), (6,))
        velocity = (twist.reshape(2, 3) @ frame.rotation.T).ravel()
        if np.abs(velocity).max() > _FASTEST:
            raise ArmError(f'twist is {twist.tolist()}; allowed: {_FASTEST:g} m/s and rad/s')
        self._clock.simulation.plant.scene.move(name, pin.SE3ToXYZQUAT(pose), velocity)
        self._clock.output.show_objects()

    def check_rest(self) -> None:
        """Refuse while the arm moves and time runs."""
        with refused(msg.Result.RESULT_INCORRECT_STATE):
            self._clock.check_rest()

    def _object(self, entity: str) -> str:
        """Return the name of an object without the namespace; refuse other entities."""
        name = entity.removeprefix(self._prefix)
        with refused(msg.Result.RESULT_NOT_FOUND):
            self._entities.get(self._prefix + name)
        if name not in self._entities.objects():
            raise ArmError(f'{entity!r} is a part of the arm, which only its controllers move')
        return name

    def _frame(self, frame: str) -> pin.SE3:
        """Return the pose of a frame in the base frame: of an entity or of the base itself."""
        own = frame.removeprefix(self._prefix)
        if own in ('', 'world', self._clock.simulation.model.base_frame):
            return pin.SE3.Identity()
        return self._entities.motion(self._prefix + own)[0]

    def _fill_bounds(self, request: Request, response: Response) -> None:
        name = self._object(request.entity)
        _fill_box(response.bounds, self._clock.simulation.plant.scene.bounds(name))

    def _fill_spawnables(self, request: Request, response: Response) -> None:
        for uri, each in spawnables().items():
            what = f'{each.shape}, {each.mass:g} kg' if each.mass else f'{each.shape}, fixed'
            response.spawnables.append(msg.Spawnable(uri=uri, description=what))
        if request.sources:
            response.result.error_message = f'unknown sources: {", ".join(request.sources)[:200]}'

    def _fill_poses(self, request: Request, response: Response) -> None:
        if request.tags.tags:
            code = msg.Result.RESULT_FEATURE_UNSUPPORTED
            raise RefusedError(code, 'filters by tags are not supported')
        for name in self._entities.objects():
            pose, _ = self._entities.motion(self._prefix + name)
            found = msg.NamedPose(name=name, description=f'where the object {name} is now')
            found.pose = pose_to_message(pose, '').pose
            response.poses.append(found)

    def _fill_pose_bounds(self, request: Request, response: Response) -> None:
        self._fill_bounds(type('', (), {'entity': request.name}), response)


def _pose(message: AnyMessage) -> pin.SE3:
    pose = pose_from_message(message)
    if np.abs(pose.translation).max() > _FARTHEST:
        raise ArmError(f'position is {pose.translation}; allowed: within {_FARTHEST:g} m')
    return pose


def _fill_box(bounds: AnyMessage, corners: Array) -> None:
    """Fill Bounds with the lower and the upper corner (2, 3) of a box."""
    from geometry_msgs.msg import Vector3

    bounds.type = bounds.TYPE_BOX
    bounds.points = [Vector3(x=x, y=y, z=z) for x, y, z in corners[::-1].tolist()]
