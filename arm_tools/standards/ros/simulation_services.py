"""The services of simulation_interfaces, ROS's standard for simulators, at the simulator."""

import re
from collections.abc import Callable

import numpy as np
from rclpy.node import Node

from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.messages import prefix_of, set_components, set_stamp
from arm_controllers.ros.pose_messages import pose_to_message
from arm_controllers.ros.ros_types import AnyMessage, Kind, Request, Response
from arm_controllers.ros.running import end_node
from arm_controllers.ros.services import RefusedError, refused, serve
from arm_dynamics.checks import ArmError
from arm_sim.ros.simulator_service import RunningSimulator
from arm_tools.standards.entities import BOX, SPHERE, Entities, Volume
from arm_tools.standards.ros.late_service import IsDone, LateService
from arm_tools.standards.ros.object_services import ObjectServices
from arm_tools.standards.ros.steps_action import StepsAction
from arm_tools.standards.steps import Steps

try:
    from simulation_interfaces import action, msg, srv
except ImportError:
    action = msg = srv = None

_ABSENT = 'simulation_interfaces is not installed, or not yet: its services are not offered'
_LOOK = 0.002  # period of counting the steps [s]


class SimulationServices:
    """Serves simulation_interfaces for a clock and its arm; logs a line where not installed."""

    def __init__(self, simulator: RunningSimulator):
        node, clock = simulator.node, simulator.clock
        if srv is None:
            Log(node).info(_ABSENT)
            return
        self._clock, self._prefix = clock, prefix_of(node)
        self._entities = Entities(clock.simulation, simulator.payload, self._prefix)
        self._stopped = clock.paused
        self._objects = ObjectServices(node, clock, self._entities)
        answers = {
            'GetSimulatorFeatures': self._fill_features,
            'GetSimulationState': self._fill_state,
            'SetSimulationState': self._set_state,
            'ResetSimulation': self._reset,
            'GetEntities': self._fill_entities,
            'GetEntityInfo': self._fill_info,
            'GetEntityState': self._fill_motion,
            'GetEntitiesStates': self._fill_motions,
            **self._objects.services,
        }
        for name, answer in answers.items():
            words = re.sub('(?<!^)(?=[A-Z])', '_', name).lower()
            self._serve(node, getattr(srv, name), words, answer)
        self._timer = node.create_timer(_LOOK, self._look)
        self._timer.cancel()
        wake = self._timer.reset
        self._late = LateService(node, srv.StepSimulation, '~/step_simulation', self._step, wake)
        self._action = StepsAction(node, action.SimulateSteps, msg.Result, clock, wake)

    def _look(self) -> None:
        under_way = self._late.look(), self._action.look()
        if not any(under_way):
            self._timer.cancel()

    def _serve(
        self, node: Node, kind: Kind, name: str, answer: Callable[[Request, Response], None]
    ) -> None:
        def fill(request: Request, response: Response) -> None:
            if hasattr(response, 'result'):
                _say(response, msg.Result.RESULT_OK)
            try:
                answer(request, response)
            except ArmError as error:
                code = getattr(error, 'code', msg.Result.RESULT_OPERATION_FAILED)
                _say(response, code, shortened(str(error)))

        serve(node, kind, f'~/{name}', fill)

    def _fill_features(self, request: Request, response: Response) -> None:
        has = msg.SimulatorFeatures
        response.features.features = [
            has.ENTITY_CATEGORIES, has.ENTITY_BOUNDS_BOX, has.ENTITY_STATE_GETTING,
            has.ENTITY_INFO_GETTING,
            has.SIMULATION_RESET, has.SIMULATION_RESET_TIME, has.SIMULATION_RESET_STATE,
            has.SIMULATION_RESET_SPAWNED,
            has.SIMULATION_STATE_GETTING, has.SIMULATION_STATE_SETTING, has.SIMULATION_STATE_PAUSE,
            has.STEP_SIMULATION_SINGLE, has.STEP_SIMULATION_MULTIPLE,
            has.STEP_SIMULATION_ACTION, has.SPAWNING, has.SPAWNING_RESOURCE_STRING, has.DELETING,
            has.ENTITY_STATE_SETTING, has.ENTITY_BOUNDS, has.SPAWNABLES, has.NAMED_POSES,
            has.POSE_BOUNDS,
        ]  # fmt: skip
        response.features.spawn_formats = ['urdf', 'yaml']

    # Time

    @property
    def _state(self) -> int:
        state, clock = msg.SimulationState, self._clock
        if not clock.paused:
            return state.STATE_PLAYING
        at_start = self._stopped and clock.simulation.steps == 0
        return state.STATE_STOPPED if at_start else state.STATE_PAUSED

    def _fill_state(self, request: Request, response: Response) -> None:
        response.state.state = self._state

    def _set_state(self, request: Request, response: Response) -> None:
        state, clock, wanted = msg.SimulationState, self._clock, request.state.state
        if wanted == self._state:
            raise RefusedError(response.ALREADY_IN_TARGET_STATE, 'it is in that state already')
        if wanted == state.STATE_PLAYING and clock.fault:
            raise RefusedError(response.STATE_TRANSITION_ERROR, clock.fault)
        if wanted in (state.STATE_PLAYING, state.STATE_PAUSED):
            self._stopped = False
            clock.pause(wanted == state.STATE_PAUSED)
        elif wanted in (state.STATE_STOPPED, state.STATE_QUITTING):
            self._stopped = True
            clock.pause(True)
            clock.reset()
            if wanted == state.STATE_QUITTING:
                end_node()
        else:
            allowed = 'STOPPED (0), PLAYING (1), PAUSED (2), QUITTING (3)'
            raise _unsupported(f'state is {wanted}; allowed: {allowed}')

    def _reset(self, request: Request, response: Response) -> None:
        asked = request.scope or request.SCOPE_ALL
        scopes = (request.SCOPE_TIME, request.SCOPE_STATE, request.SCOPE_SPAWNED)
        time, state, spawned = (bool(asked & each) for each in scopes)
        if asked > sum(scopes) and asked != request.SCOPE_ALL:
            words = 'allowed: TIME (1), STATE (2), SPAWNED (4) and sums, ALL (255)'
            raise _unsupported(f'scope is {asked}; {words}')
        if spawned and not state:
            self._objects.check_rest()
        if time or state:
            self._stopped &= time and state
            self._clock.reset(time, state)
        if spawned:
            self._objects.remove_spawned()

    def _step(self, request: Request, response: Response) -> IsDone:
        """Begin the requested number of control periods."""
        try:
            steps = Steps(self._clock, request.steps)
        except ArmError as error:
            _say(response, msg.Result.RESULT_OPERATION_FAILED, shortened(str(error)))
            return lambda: True
        _say(response, msg.Result.RESULT_OK)

        def is_done() -> bool:
            if steps.ended and steps.failure:
                _say(response, msg.Result.RESULT_OPERATION_FAILED, steps.failure)
            return steps.ended

        return is_done

    # Entities

    def _fill_entities(self, request: Request, response: Response) -> None:
        filters, bounds, inside = request.filters, request.filters.bounds, None
        if filters.tags.tags or bounds.type not in (bounds.TYPE_EMPTY, BOX, SPHERE):
            raise _unsupported('filters by tags and by convex hulls are not supported')
        if bounds.type:
            points = [[each.x, each.y, each.z] for each in bounds.points]
            inside = Volume(bounds.type, np.array(points))
        categories = [each.category for each in filters.categories]
        response.entities = self._entities.names(filters.filter, categories, inside)

    def _fill_info(self, request: Request, response: Response) -> None:
        with refused(msg.Result.RESULT_NOT_FOUND):
            found = self._entities.get(request.entity)
        response.info.category.category = int(found.category)
        response.info.description = found.description

    def _fill_motion(self, request: Request, response: Response) -> None:
        with refused(msg.Result.RESULT_NOT_FOUND):
            response.state = self._motion(request.entity)

    def _fill_motions(self, request: Request, response: Response) -> None:
        self._fill_entities(request, response)
        response.states = [self._motion(name) for name in response.entities]

    def _motion(self, name: str) -> AnyMessage:
        """Return an EntityState in the base frame; accelerations are not known: NaN."""
        pose, velocity = self._entities.motion(name)
        state, simulation = msg.EntityState(), self._clock.simulation
        state.header.frame_id = self._prefix + simulation.model.base_frame
        set_stamp(state.header.stamp, simulation.time_ns)
        state.pose = pose_to_message(pose, '').pose
        set_components(velocity, state.twist.linear, state.twist.angular)
        unknown = np.full(6, np.nan)
        set_components(unknown, state.acceleration.linear, state.acceleration.angular)
        return state


def _unsupported(words: str) -> RefusedError:
    return RefusedError(msg.Result.RESULT_FEATURE_UNSUPPORTED, words)


def _say(response: Response, code: int, words: str = '') -> None:
    response.result.result, response.result.error_message = code, words
