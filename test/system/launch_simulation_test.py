"""simulation_interfaces over topics: state, steps, resets and entities of an arm in lock-step."""

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from arm_system import HOME, MODEL, ArmSystem, goal, seconds
from geometry_msgs.msg import Vector3
from long_wait import AGAIN, ask
from rclpy.action import ActionClient
from repository import ROOT
from visualization_msgs.msg import MarkerArray

from arm_controllers.ros.qos import STATE_QOS
from arm_tools.standards.ros import simulation_services

srv = simulation_services.srv
needs_services = pytest.mark.skipif(
    srv is None,
    reason='no simulation_interfaces: ./ws builds it, and a ROS 2 gets it by rosdep',
)

# Versions of the standard before 1.0, and parts of it, have none for objects.
OBJECTS = ' '.join(
    name for name in (
        'spawn_entity', 'delete_entity', 'set_entity_state', 'get_entity_bounds',
        'get_spawnables', 'get_named_poses', 'get_named_pose_bounds',
    ) if srv and hasattr(srv, ''.join(word.title() for word in name.split('_')))
)  # fmt: skip
needs_objects = pytest.mark.skipif(
    not OBJECTS, reason='this simulation_interfaces has no SpawnEntity'
)
CONTROLLER = 'computed_torque_controller'
STOPPED, PLAYING, PAUSED = 0, 1, 2
UNSUPPORTED, OK, NOT_FOUND, FAILED, ALREADY = 0, 1, 2, 4, 101
PAYLOAD = 0.5
SERVICES = (
    'get_simulator_features get_simulation_state set_simulation_state reset_simulation '
    'step_simulation get_entities get_entity_info get_entity_state get_entities_states'
)


class Simulated:
    """An arm under a controller, and calls of its simulator's services."""

    def __init__(self, system):
        self.system = system
        # Kept: ROS can lose the first answer to a client that has just come.
        self.clients = {
            name: system.node.create_client(self.kind(name), f'/simulator/{name}')
            for name in f'{SERVICES} {OBJECTS}'.split()
        }

    @staticmethod
    def kind(name):
        return getattr(srv, ''.join(word.title() for word in name.split('_')))

    def request(self, name):
        return self.kind(name).Request()

    def ask(self, name, request=None, **fields):
        """Return an answer; only what changes nothing is asked again if it is lost."""
        return ask(
            lambda here: self.system.wait(here, f'answer of {name}'),
            self.clients[name],
            request or self.kind(name).Request(**fields),
            AGAIN if name.startswith('get_') else math.inf,
        )

    def state(self):
        return self.ask('get_simulation_state').state.state

    def set_state(self, state):
        request = self.request('set_simulation_state')
        request.state.state = state
        return self.ask('set_simulation_state', request).result

    def now(self):
        """The simulated time."""
        return seconds(self.ask('get_entity_state', entity='tip').state.header.stamp)


@pytest.fixture(scope='module')
def arm():
    with ArmSystem('lockstep') as system:
        system.simulator('start_paused:=true', f'payload:={PAYLOAD}')
        system.controller('computed_torque')
        yield Simulated(system)
        system.assert_alive()


def tip_of(arm):
    """Return where the tip is now (3,)."""
    place = arm.ask('get_entity_state', entity='tip').state.pose.position
    return np.array([place.x, place.y, place.z])


@needs_services
def test_features_are_those_that_are_there(arm):
    features = arm.ask('get_simulator_features').features
    assert {6, 10, 12, 20, 21, 22, 23, 24, 25, 26, 31, 32, 33} <= set(features.features)
    objects = {0, 1, 2, 3, 5, 9, 11, 14} & set(features.features)
    assert objects == ({0, 1, 2, 3, 5, 9, 11, 14} if OBJECTS else set())
    assert not {4, 7, 13, 40, 50} & set(features.features)


@needs_services
def test_states_follow_one_another_as_the_standard_says(arm):
    assert arm.state() == STOPPED
    assert arm.set_state(STOPPED).result == ALREADY
    assert arm.set_state(PAUSED).result == OK
    assert arm.state() == PAUSED
    assert arm.now() == 0.0
    assert arm.set_state(PLAYING).result == OK
    assert arm.state() == PLAYING
    arm.system.wait_for_motion_control(CONTROLLER)
    assert arm.set_state(PAUSED).result == OK
    at = arm.now()
    assert at > 0.0
    assert arm.now() == at
    answer = arm.set_state(4)
    assert answer.result == UNSUPPORTED
    assert answer.error_message.startswith('state is 4; allowed: STOPPED (0), PLAYING (1)')
    assert arm.set_state(STOPPED).result == OK
    assert (arm.state(), arm.now()) == (STOPPED, 0.0)


@needs_services
@pytest.mark.parametrize('steps', [1, 50, 0])
def test_an_answer_to_a_step_comes_when_time_has_gone_on_so_far_and_is_paused_again(arm, steps):
    if arm.state() == PLAYING:
        assert arm.set_state(PAUSED).result == OK
    before = arm.now()
    assert arm.ask('step_simulation', steps=steps).result.result == OK
    assert arm.now() == pytest.approx(before + steps * 0.002, abs=1e-9)
    assert arm.state() == (STOPPED if before == steps == 0 else PAUSED)


@needs_services
def test_steps_are_refused_while_time_runs_and_end_where_time_is_reset(arm):
    assert arm.set_state(PLAYING).result == OK
    answer = arm.ask('step_simulation', steps=1).result
    assert (answer.result, answer.error_message) == (FAILED, 'not paused: pause it')
    assert arm.set_state(PAUSED).result == OK
    client = arm.clients['step_simulation']
    endless = client.call_async(client.srv_type.Request(steps=10**12))
    answer = arm.ask('step_simulation', steps=1).result
    assert (answer.result, answer.error_message) == (FAILED, 'steps are under way')
    assert arm.set_state(STOPPED).result == OK
    answer = arm.system.result(endless, 'end of the steps').result
    assert answer.result == FAILED
    assert answer.error_message.startswith('stopped in between: ')


@pytest.fixture(scope='module')
def action(arm):
    """The client of the action, heard and hearing: first answers and feedback get lost."""
    if arm.state() == PLAYING:
        assert arm.set_state(PAUSED).result == OK
    kind, heard = simulation_services.action.SimulateSteps, []
    client = ActionClient(
        arm.system.node, kind, '/simulator/simulate_steps', feedback_sub_qos_profile=STATE_QOS
    )
    service = SimpleNamespace(
        service_is_ready=client.server_is_ready,
        call_async=lambda goal: client.send_goal_async(goal, heard.append),
    )
    while not heard:
        ask(lambda here: arm.system.wait(here, 'answer'), service, kind.Goal(steps=1))
        arm.system.spin(0.5)
    yield client
    client.destroy()


def stepped(arm, action, count, heard=0, cancel=False):
    """Send a goal of a number of steps; return its status, result and feedback.

    The result is asked for when so much feedback has been heard; then no more of it is.
    """
    received = []

    def on_feedback(message):
        received.append((message.feedback.completed_steps, message.feedback.remaining_steps))

    goal = simulation_services.action.SimulateSteps.Goal(steps=count)
    sent = action.send_goal_async(goal, feedback_callback=on_feedback)
    handle = arm.system.result(sent, 'answer to the goal')
    arm.system.wait(lambda: len(received) >= heard, 'feedback of the steps')
    if cancel:
        arm.system.result(handle.cancel_goal_async(), 'answer to the cancel')
    answer = arm.system.result(handle.get_result_async(), 'end of the steps')
    return answer.status, answer.result.result, received


@needs_services
def test_the_action_makes_the_steps_and_reports_each(arm, action):
    if arm.state() == PLAYING:
        assert arm.set_state(PAUSED).result == OK
    before = arm.now()
    status, result, feedback = stepped(arm, action, 50, heard=50)
    assert (status, result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    assert feedback == [(k, 50 - k) for k in range(1, 51)]
    assert arm.now() == pytest.approx(before + 50 * 0.002, abs=1e-9)
    assert arm.set_state(PLAYING).result == OK
    status, result, _ = stepped(arm, action, 1)
    assert (status, result.result) == (GoalStatus.STATUS_ABORTED, FAILED)
    assert result.error_message == 'not paused: pause it'


@needs_services
def test_a_cancel_of_the_action_pauses_time_at_the_step_that_it_reports(arm, action):
    if arm.state() == PLAYING:
        assert arm.set_state(PAUSED).result == OK
    before = arm.now()
    status, result, _ = stepped(arm, action, 10**12, heard=5, cancel=True)
    assert (status, result.result) == (GoalStatus.STATUS_CANCELED, FAILED)
    made = round((arm.now() - before) / 0.002)
    assert result.error_message == f'stopped in between: {made} of {10**12} steps were made'
    assert made >= 5
    assert arm.now() == pytest.approx(before + made * 0.002, abs=1e-9)
    assert stepped(arm, action, 1)[0] == GoalStatus.STATUS_SUCCEEDED


@needs_services
@pytest.mark.parametrize('scope', [0, 255, 1, 2, 3, 4, 8, 9])
def test_a_reset_has_the_scopes_that_are_requested_and_the_controller_holds_then(arm, scope):
    time, state = (scope in (0, 255) or (scope < 8 and bool(scope & bit)) for bit in (1, 2))
    arm.set_state(PLAYING)
    arm.system.wait_for_motion_control(CONTROLLER)
    arm.system.send(CONTROLLER, goal([2.0], [HOME + 0.5]))
    arm.system.wait(lambda: np.abs(arm.system.states[-1][1] - HOME).max() > 0.1, 'motion')
    assert arm.set_state(PAUSED).result == OK
    before, q = arm.now(), tip_of(arm)
    message = arm.ask('reset_simulation', scope=scope).result
    assert message.result == (UNSUPPORTED if scope in (8, 9) else OK)
    assert message.error_message.startswith(f'scope is {scope}; ' if scope in (8, 9) else '')
    assert arm.now() == (0.0 if time else before)
    np.testing.assert_array_equal(tip_of(arm) == q, not state)
    if scope in (1, 2):
        home = MODEL.forward_kinematics(HOME).translation
        assert arm.set_state(PLAYING).result == OK
        arm.system.wait(lambda: arm.system.now > arm.system.states[0][0], 'time')
        arm.system.wait(lambda: np.abs(arm.system.v).max() < 1e-4, 'rest')
        assert (np.abs(tip_of(arm) - home).max() < 0.02) == state


@needs_services
def test_entities_are_where_the_joints_put_them_and_as_fast(arm):
    assert arm.set_state(PLAYING).result == OK
    arm.system.wait_for_motion_control(CONTROLLER)
    arm.system.send(CONTROLLER, goal([4.0], [HOME + 0.3]))
    arm.system.wait(lambda: np.abs(arm.system.v).max() > 0.05, 'motion')
    assert arm.set_state(PAUSED).result == OK
    answer = arm.ask('get_entities_states')
    names = list(answer.entities)
    assert set(names) == {'arm', 'tip', 'payload', *MODEL.frame_names}
    stamp = seconds(answer.states[0].header.stamp)
    arm.system.wait(lambda: abs(arm.system.now - stamp) < 1e-9, 'the newest state')
    _, q, v = arm.system.states[-1]
    frames = {'arm': MODEL.base_frame, 'tip': MODEL.tip_frame, 'payload': MODEL.tip_frame}
    for name, state in zip(names, answer.states, strict=True):
        pose, frame = state.pose, frames.get(name, name)
        wanted = MODEL.forward_kinematics(q, frame)
        place = [pose.position.x, pose.position.y, pose.position.z]
        np.testing.assert_allclose(place, wanted.translation, atol=1e-12)
        turn = wanted.rotation
        x, y, z, w = (getattr(pose.orientation, axis) for axis in 'xyzw')
        first = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)]
        np.testing.assert_allclose(first, turn[:, 0], atol=1e-12)
        parts = (state.twist.linear, state.twist.angular)
        velocity = [getattr(part, axis) for part in parts for axis in 'xyz']
        np.testing.assert_allclose(velocity, MODEL.jacobian(q, frame) @ v, atol=1e-12)
        assert state.header.frame_id == MODEL.base_frame
        assert np.isnan(state.acceleration.linear.x)
    assert np.abs(velocity).max() > 0.0 or names[-1] == MODEL.base_frame


@needs_services
def test_entities_are_found_by_name_and_category_and_others_are_refused(arm):
    request = arm.request('get_entities')
    request.filters.filter = '^(tip|pay.*)$'
    assert set(arm.ask('get_entities', request).entities) == {'tip', 'payload'}
    request.filters.filter = ''
    kind = type(arm.ask('get_entity_info', entity='arm').info.category)
    request.filters.categories = [kind(category=kind.CATEGORY_ROBOT)]
    assert list(arm.ask('get_entities', request).entities) == ['arm']
    request.filters.filter = '('
    answer = arm.ask('get_entities', request).result
    assert answer.result == FAILED
    assert "filter '(' is no regular expression" in answer.error_message
    request.filters.filter, request.filters.tags.tags = '', ['blue']
    assert arm.ask('get_entities', request).result.result == UNSUPPORTED
    request = arm.request('get_entities')
    request.filters.bounds.type, tip = 3, tip_of(arm).tolist()
    points = [dict(zip('xyz', tip, strict=True)), {'x': 1e-3}]
    request.filters.bounds.points = [Vector3(**each) for each in points]
    found = set(arm.ask('get_entities', request).entities)
    assert {'tip', 'payload'} <= found < {'arm', 'tip', 'payload', *MODEL.frame_names}
    request.filters.bounds.points.pop()
    assert arm.ask('get_entities', request).result.result == FAILED
    request.filters.bounds.type = 2
    assert arm.ask('get_entities', request).result.result == UNSUPPORTED
    info = arm.ask('get_entity_info', entity='payload').info
    assert info.category.category == kind.CATEGORY_DYNAMIC_OBJECT
    assert info.description == f'{PAYLOAD:g} kg at the tool frame'
    for service in ('get_entity_info', 'get_entity_state'):
        answer = arm.ask(service, entity='chair').result
        assert answer.result == NOT_FOUND
        assert answer.error_message.startswith("unknown entity 'chair'; nearest known: ")


def pose_at(request, x, y, z):
    """Fill the pose of a request; return the request."""
    pose = getattr(request, 'initial_pose', None) or request.state
    pose.pose.position.x, pose.pose.position.y, pose.pose.position.z = x, y, z
    return request


@needs_objects
def test_objects_are_spawned_moved_listed_and_deleted_and_a_reset_removes_them(arm):
    shown = []
    arm.system.node.create_subscription(MarkerArray, '/simulator/objects', shown.append, STATE_QOS)
    assert arm.set_state(STOPPED).result in (OK, ALREADY)
    uris = {each.uri for each in arm.ask('get_spawnables').spawnables}
    assert 'blocks/heavy_block' in uris

    def spawn(**fields):
        request = arm.kind('spawn_entity').Request(name='cube', **fields)
        return arm.ask('spawn_entity', pose_at(request, 1.5, 0.2, 0.5))

    assert spawn(uri='blocks/heavy_block').result.result == OK
    assert spawn(uri='blocks/heavy_block').result.result == 101
    made = spawn(resource_string='{name: a, size: [0.1, 0.1, 0.1]}', allow_renaming=True)
    assert made.result.result == OK, made.result.error_message
    assert made.entity_name == 'cube_2'
    for fields, code in (
        ({}, 104), ({'uri': 'nothing'}, 103), ({'resource_string': '{'}, 106),
        ({'resource_string': '<robot/>'}, 106),
    ):  # fmt: skip
        answer = spawn(**fields).result
        assert answer.result == code
        assert answer.error_message
        assert '\n' not in answer.error_message

    def names():
        return {each.ns for message in shown[-1:] for each in message.markers if not each.action}

    arm.system.wait(lambda: names() == {'cube', 'cube_2'}, 'objects')
    lower, upper = arm.ask('get_entity_bounds', entity='cube').bounds.points[::-1]
    assert (lower.x, upper.z) == pytest.approx((-0.04, 0.04))
    assert {each.name for each in arm.ask('get_named_poses').poses} == {'cube', 'cube_2'}
    request = pose_at(arm.kind('set_entity_state').Request(entity='cube'), 1.6, 0.0, 0.8)
    request.state.twist.linear.y = 0.5
    assert arm.ask('set_entity_state', request).result.result == OK
    assert arm.ask('step_simulation', steps=50).result.result == OK
    state = arm.ask('get_entity_state', entity='cube').state
    assert state.twist.linear.z == pytest.approx(-0.981, abs=1e-3)
    assert state.pose.position.y == pytest.approx(0.05, abs=1e-6)
    assert state.pose.position.z == pytest.approx(0.8 - 0.5 * 9.81 * 0.01, abs=2e-3)
    for entity, code in (('tip', FAILED), ('chair', NOT_FOUND), ('cube_2', FAILED)):
        request.entity = entity
        assert arm.ask('set_entity_state', request).result.result == code
    assert arm.set_state(PLAYING).result == OK
    arm.system.wait_for_motion_control(CONTROLLER)
    arm.system.send(CONTROLLER, goal([4.0], [HOME + 0.3]))
    arm.system.wait(lambda: np.abs(arm.system.v).max() > 0.05, 'motion')
    answer = arm.ask('delete_entity', entity='cube').result
    assert (answer.result, answer.error_message[:13]) == (3, 'the arm moves')
    assert arm.set_state(PAUSED).result == OK
    now = arm.now()
    assert arm.ask('delete_entity', entity='cube').result.result == OK
    assert arm.ask('delete_entity', entity='cube').result.result == NOT_FOUND
    assert arm.now() == now
    assert 'cube_2' in arm.ask('get_entities').entities
    assert arm.ask('reset_simulation', scope=255).result.result == OK
    assert 'cube_2' not in arm.ask('get_entities').entities
    arm.system.wait(lambda: not names(), 'no objects')


def test_the_environment_that_ws_makes_has_the_services():
    """Where `.ros` of this checkout is in use, nothing of the above may be left out."""
    own = ROOT / '.ros'
    assert srv or not Path(sys.prefix).is_relative_to(own)
