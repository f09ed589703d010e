"""controller_manager's services over topics: lists, switches and loads, while the arm moves."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
import rclpy
from action_msgs.msg import GoalStatus
from arm_system import ACTIVE, HOME, INACTIVE, NAMES, goal, lockstep_arm
from builtin_interfaces.msg import Duration
from lifecycle_msgs.msg import State
from long_wait import AGAIN, ask
from rcl_interfaces.msg import ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from repository import ROOT
from std_msgs.msg import String

from arm_controllers.ros.qos import LATCHED_QOS
from arm_tools.standards.ros import controller_manager_node

srv = controller_manager_node.srv
needs_services = pytest.mark.skipif(
    srv is None,
    reason='no controller_manager_msgs: ./ws builds it, and a ROS 2 gets it by rosdep',
)

FIRST, SECOND, FRESH = (
    f'{law}_controller' for law in ('computed_torque', 'pd', 'independent_joint')
)
STUBBORN = 'stubborn_controller'
LOADED = 'momentum_observer_controller'
FAR = HOME + np.array([0.6, 0.2, -0.3, 0.2, 0.2, 0.3])
EFFORTS = [f'{name}/effort' for name in NAMES]
# The services that rqt_joint_trajectory_controller looks for, and those of `ros2 control`.
SERVICES = [
    'list_controllers',
    'list_controller_types',
    'load_controller',
    'unload_controller',
    'switch_controller',
    'reload_controller_libraries',
    'configure_controller',
    'cleanup_controller',
    'list_hardware_components',
    'list_hardware_interfaces',
    'set_hardware_component_state',
]


def kind_of(service):
    return getattr(srv, ''.join(word.title() for word in service.split('_')))


class Stubborn(LifecycleNode):
    """A controller that can be configured and does not become active."""

    def on_activate(self, state):
        return TransitionCallbackReturn.FAILURE


class Managed:
    """An arm under FIRST, with two other controllers, and calls of the manager's services."""

    def __init__(self, system):
        self.system = system
        # Kept: ROS can lose the first answer to a client that has just come.
        self.clients = {
            name: system.node.create_client(kind_of(name), f'/controller_manager/{name}')
            for name in SERVICES
        }

    def ask(self, service, **request):
        """Return an answer; only lists are asked for again if it is lost."""
        request = kind_of(service).Request(**request)
        again = AGAIN if service.startswith('list_') else math.inf
        return ask(
            lambda here: self.system.wait(here, f'answer of {service}'),
            self.clients[service],
            request,
            again,
        )

    def until(self, answer, holds, what):
        """Ask until the answer is such; return it: who is silent for a second is unknown."""
        found = []

        def is_so():
            found[:] = [answer()]
            return holds(found[0])

        self.system.wait(is_so, what)
        return found[0]

    def listed(self):
        return {each.name: each for each in self.ask('list_controllers').controller}

    def states(self):
        """Return all states."""
        return self.until(
            lambda: {name: each.state for name, each in self.listed().items()},
            lambda found: 'unknown' not in found.values(),
            'states of all controllers',
        )

    def switch(self, activate=(), deactivate=(), strictness=2):
        wanted = {'activate_controllers': [*activate], 'deactivate_controllers': [*deactivate]}
        request = {'strictness': strictness, 'timeout': Duration(sec=60)} | wanted
        return self.until(
            lambda: self.ask('switch_controller', **request),
            lambda answer: 'is unknown' not in answer.message,
            'switch of controllers that are known',
        )

    def done(self, service, name):
        """Have something done to a controller that may be slow to answer."""
        self.until(
            lambda: self.ask(service, name=name), lambda reply: reply.ok, f'{service} {name}'
        )

    def switched(self, *args, **strictness):
        """Switch; again where the one to come has heard late that the other is gone."""
        return self.until(
            lambda: self.switch(*args, **strictness), lambda answer: answer.ok, 'switch'
        )

    def follow(self, controller, goal):
        """Send a goal at once: who is switched to takes it."""
        status, result = self.system.follow(controller, goal)
        assert status == GoalStatus.STATUS_SUCCEEDED, result.error_string

    def until_states(self, **states):
        self.system.wait(
            lambda: (now := self.states()) == now | states, f'controllers that are {states}'
        )


@pytest.fixture(scope='module')
def arm():
    with lockstep_arm('pd') as system:
        system.controller('independent_joint', autostart=False)
        system.start('controller_manager', 'actuator:=torque')
        stubborn = Stubborn(STUBBORN, context=system.context)
        system.executor.add_node(stubborn)
        managed = Managed(system)
        fresh = {FRESH: 'unconfigured', STUBBORN: 'unconfigured'}
        managed.until_states(**fresh | {FIRST: 'active', SECOND: 'inactive'})
        yield managed
        assert 'Exception' not in system.log('controller_manager')
        stubborn.destroy_node()


@needs_services
def test_the_lists_say_what_rqt_and_moveit_look_for(arm):
    offered = dict(arm.system.node.get_service_names_and_types())
    for name in SERVICES:
        wanted = [f'controller_manager_msgs/srv/{kind_of(name).__name__}']
        assert offered[f'/controller_manager/{name}'] == wanted
    listed = arm.until(
        arm.listed,
        lambda found: (
            found[FIRST].claimed_interfaces
            and all(each.update_rate and each.state != 'unknown' for each in found.values())
        ),
        'joints',
    )
    for name, each in listed.items():
        assert each.type == 'joint_trajectory_controller/JointTrajectoryController'
        assert each.required_command_interfaces == EFFORTS
        assert each.claimed_interfaces == (EFFORTS if name == FIRST else [])
        assert f'{NAMES[0]}/velocity' in each.required_state_interfaces
        assert each.update_rate == 500
    assert list(arm.ask('list_controller_types').types) == [listed[FIRST].type]


@needs_services
def test_a_false_simulator_that_answers_for_its_parameters_changes_and_ends_nothing(arm):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(arm.system.domain))
    false = rclpy.create_node('simulator', context=context, start_parameter_services=False)
    requests = []

    def answer(request, response):
        requests.append(request)
        wrong = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.0)
        response.values = [wrong] * len(request.names)
        return response

    false.create_service(GetParameters, '/simulator/get_parameters', answer)
    description = false.create_publisher(String, 'robot_description', LATCHED_QOS)
    description.publish(String(data='<robot name="false"/>'))
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(false)
    try:
        for _ in range(5):
            executor.spin_once(timeout_sec=0.1)
            listed = arm.listed()
            assert {each.update_rate for each in listed.values()} == {500}
            assert list(listed[FIRST].required_command_interfaces) == EFFORTS
    finally:
        false.destroy_node()
        context.try_shutdown()
    assert requests == []
    arm.system.assert_alive()


@needs_services
def test_a_repeated_request_for_a_load_under_way_waits_and_answers_true(arm):
    client = arm.clients['load_controller']
    request = client.srv_type.Request(name=LOADED)
    arm.ask('list_controller_types')  # the client is connected
    answers = [client.call_async(request) for _ in range(3)]
    arm.ask('list_controller_types')  # others are served meanwhile
    assert not any(each.done() for each in answers)
    arm.system.wait(lambda: all(each.done() for each in answers), 'answers')
    assert [each.result().ok for each in answers] == [True] * 3
    for _ in range(2):  # it can be loaded again at once
        arm.done('unload_controller', LOADED)
        assert LOADED not in arm.listed()
        assert arm.ask('load_controller', name=LOADED).ok
    arm.done('unload_controller', LOADED)


@needs_services
def test_the_simulator_is_the_hardware(arm):
    def claimed(answer):
        return answer and all(each.is_claimed for each in answer.command_interfaces)

    component = arm.until(
        lambda: next(iter(arm.ask('list_hardware_components').component), None),
        claimed,
        'hardware',
    )
    assert (component.name, component.type, component.rw_rate) == ('simulator', 'system', 500)
    assert component.state.id == State.PRIMARY_STATE_ACTIVE
    interfaces = arm.until(lambda: arm.ask('list_hardware_interfaces'), claimed, 'interfaces')
    assert component.command_interfaces == interfaces.command_interfaces
    assert [each.name for each in interfaces.command_interfaces] == EFFORTS
    assert all(each.is_available and each.is_claimed for each in interfaces.command_interfaces)
    assert len(interfaces.state_interfaces) == 3 * len(NAMES)
    target = State(label='active')
    assert arm.ask('set_hardware_component_state', name='simulator', target_state=target).ok
    target = State(label='inactive')
    answer = arm.ask('set_hardware_component_state', name='simulator', target_state=target)
    assert (answer.ok, answer.state.label) == (False, 'active')


@needs_services
@pytest.mark.parametrize(
    ('activate', 'deactivate', 'strictness', 'reason'),
    [
        (['pd'], [FIRST], 2, f"no controller 'pd'; there is: {FIRST}, {FRESH}, {SECOND}, "),
        ([SECOND], ['nobody'], 2, "no controller 'nobody'"),
        ([FRESH], [FIRST], 2, f"'{FRESH}' is unconfigured; only from inactive can it be activ"),
        ([SECOND], [], 2, f"'{SECOND}' requires {EFFORTS[0]}, which '{FIRST}' has"),
        ([SECOND], [FIRST], 9, 'strictness is 9; allowed: BEST_EFFORT (1), STRICT (2)'),
        (['nobody'], [SECOND], 1, "no controller 'nobody'"),
    ],
)
def test_what_is_refused_is_reported_in_one_line_and_changes_nothing_while_the_arm_moves(
    arm, activate, deactivate, strictness, reason
):
    _, end = arm.system.send(FIRST, goal([1.0], [FAR if len(activate[0]) % 2 else HOME]))
    before = arm.states()
    answer = arm.until(
        lambda: arm.switch(activate, deactivate, strictness),
        lambda answer: answer.ok or answer.message.startswith(reason),
        reason,
    )
    assert not answer.ok
    assert '\n' not in answer.message
    assert arm.states() == before
    assert arm.system.result(end, 'end of the goal').status == GoalStatus.STATUS_SUCCEEDED
    assert answer.message[:400] in arm.system.log('controller_manager')


@needs_services
def test_a_strict_switch_in_motion_ends_one_controllers_goal_and_the_other_moves_on(arm):
    _, end = arm.system.send(FIRST, goal([60.0], [FAR if arm.system.q[0] < -1.4 else HOME]))
    arm.system.wait(lambda: np.abs(arm.system.v).max() > 0.005, 'motion')
    reply = arm.switched([SECOND], [FIRST])
    assert (reply.ok, reply.message) == (True, 'switched')
    answer = arm.system.result(end, 'end of the goal')
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'the controller was deactivated' in answer.result.error_string
    states = arm.states()
    assert (states[FIRST], states[SECOND]) == ('inactive', 'active')
    assert arm.listed()[SECOND].claimed_interfaces == EFFORTS
    arm.follow(SECOND, goal([2.0], [HOME]))


@needs_services
def test_a_switch_whose_second_half_fails_is_taken_back(arm):
    (active,) = (name for name, state in arm.states().items() if state == 'active')
    arm.done('configure_controller', STUBBORN)
    answer = arm.switch([STUBBORN], [active])
    assert not answer.ok
    assert answer.message == (
        f'{STUBBORN!r} did not become active; its log says why; all are as they were before'
    )
    states = arm.states()
    assert (states[active], states[STUBBORN]) == ('active', 'inactive')
    arm.system.diagnostics.clear()
    arm.system.words(active, 'holding')
    arm.follow(active, goal([2.0], [FAR]))


@needs_services
def test_best_effort_does_its_part_and_force_auto_makes_room(arm):
    (active,) = (name for name, state in arm.states().items() if state == 'active')
    other = SECOND if active == FIRST else FIRST
    answer = arm.switched([other, 'nobody'], [active, FRESH], strictness=1)
    assert f"'{FRESH}' is unconfigured; " in answer.message
    assert "no controller 'nobody'; there is: " in answer.message
    states = arm.states()
    assert (states[active], states[other]) == ('inactive', 'active')
    arm.switched([active], strictness=4)
    states = arm.states()
    assert (states[active], states[other]) == ('active', 'inactive')


@needs_services
def test_a_controller_is_loaded_configured_activated_and_unloaded_by_name(arm):
    assert arm.ask('load_controller', name=LOADED).ok
    assert arm.states()[LOADED] == 'unconfigured'
    assert not arm.ask('load_controller', name=LOADED).ok
    arm.done('configure_controller', LOADED)
    arm.system.wait(
        lambda: (
            arm.ask('cleanup_controller', name=LOADED).ok or arm.states()[LOADED] == 'unconfigured'
        ),
        'cleanup',
    )
    assert arm.states()[LOADED] == 'unconfigured'
    arm.done('configure_controller', LOADED)
    arm.switched([LOADED], strictness=4)
    arm.follow(LOADED, goal([2.0], [HOME]))
    assert not arm.ask('unload_controller', name=LOADED).ok
    arm.switched([FIRST], [LOADED])
    arm.system.wait(
        lambda: arm.ask('unload_controller', name=LOADED).ok or LOADED not in arm.states(),
        'unload',
    )
    assert LOADED not in arm.states()
    for service, name, reason in (
        ('load_controller', LOADED.replace('r', 'rr'), f"nearest known: '{LOADED}'"),
        ('configure_controller', 'nobody', "no controller 'nobody'; there is: "),
        ('unload_controller', FRESH, f"'{FRESH}' was not loaded by this node"),
        ('unload_controller', FIRST, f"'{FIRST}' is active; it must be unconfigured or inactive"),
        ('load_controller', FIRST, f"'{FIRST}' is there already"),
    ):

        def message(service=service, name=name, reason=reason):
            assert not arm.ask(service, name=name).ok
            log = arm.system.log('controller_manager')
            return f'{service}: ' in log and reason in log

        arm.system.wait(message, reason)
    assert not arm.ask('reload_controller_libraries').ok
    assert arm.system.lifecycle(FIRST) == ACTIVE
    assert arm.system.lifecycle(SECOND) == INACTIVE


def test_the_environment_that_ws_makes_has_the_services():
    """Where `.ros` of this checkout is in use, nothing of the above may be left out."""
    own = ROOT / '.ros'
    assert srv or not Path(sys.prefix).is_relative_to(own)
