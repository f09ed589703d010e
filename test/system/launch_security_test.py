"""What the permission files allow is what the nodes open, as a running graph shows it."""

import re
import signal
from importlib.metadata import distribution

import pytest
from arm_system import ArmSystem
from lifecycle_msgs.msg import Transition
from permissions import allowed, full, opened
from scripts import load_script


@pytest.fixture(scope='module')
def security():
    return load_script('tools/security.py')


SPACE = '/left'


# Without simulation_interfaces.
OF_THE_STANDARD = (
    'delete_entity',
    'get_entity_bounds',
    'get_named_pose_bounds',
    'get_named_poses',
    'get_spawnables',
    'set_entity_state',
    'spawn_entity',
    'get_entities',
    'get_entities_states',
    'get_entity_info',
    'get_entity_state',
    'get_simulation_state',
    'get_simulator_features',
    'reset_simulation',
    'set_simulation_state',
    'step_simulation',
)
# Of sensors and of actuators of an MJCF, which the arm below does not have.
OF_SENSORS = (
    'actuator_states',
    'contact_switches/*',
    'force_torque_sensor_broadcaster/wrench',
    'imu_sensor_broadcaster/imu',
    'mjcf_sensors',
)
# Not used by the nodes below, or too short to be seen: a motion model's goals, a simulated clock.
NOT_SEEN = {
    ('topics', 'subscribe', '/clock'),
    ('topics', 'subscribe', 'joint_commands'),
    ('topics', 'subscribe', 'joint_states'),  # a simulator's, at its start
    ('topics', 'subscribe', '/parameter_events'),
    ('topics', 'subscribe', 'simulator/joint_trajectory'),
    ('topics', 'subscribe', 'simulator/controller_state'),
    *(('topics', 'subscribe', f'*/{x}') for x in ('image_raw', 'camera_info')),  # no cameras
    ('topics', 'subscribe', 'simulator/objects'),  # without constraints.clearance
    ('topics', 'publish', 'simulator/controller_state'),
    *(('services', 'reply', f'simulator/{name}') for name in OF_THE_STANDARD),
    ('actions', 'execute', 'simulator/simulate_steps'),  # without simulation_interfaces
    ('topics', 'publish', '/tf'),  # without tf2_msgs
    ('topics', 'publish', '/tf_static'),
    *(('services', 'request', x) for x in ('compute_ik', 'compute_ik_path')),  # tasks of poses
    ('services', 'request', 'simulator/get_parameters'),
    ('services', 'request', 'simulator/list_parameters'),
    ('services', 'request', 'inverse_kinematics/get_parameters'),
    ('services', 'request', 'inverse_kinematics/list_parameters'),
    ('topics', 'subscribe', 'simulator/goals'),
    ('topics', 'subscribe', 'simulator/results'),
    ('topics', 'publish', 'simulator/goals'),
    ('topics', 'publish', 'simulator/objects'),  # without a scene
    ('topics', 'publish', 'simulator/results'),
    *(('topics', 'publish', name) for name in OF_SENSORS),
    ('topics', 'publish', 'simulator/wrench_goal'),
    ('topics', 'subscribe', 'actuator_commands'),
    ('topics', 'subscribe', 'force_torque_sensor_broadcaster/wrench'),
    ('services', 'reply', 'force_torque_sensor_broadcaster/tare'),
    ('actions', 'execute', 'simulator/follow_joint_trajectory'),
    ('actions', 'call', 'simulator/follow_joint_trajectory'),
}


def test_every_node_may_open_what_it_opens_and_little_else(security, tmp_path):
    task, policy = 'sinusoid_task', security.policy(security.nodes(), ['', SPACE])
    not_seen = {(*kind, full(each, SPACE)) for *kind, each in NOT_SEEN}
    names = ('simulator', 'servo_controller', 'inverse_kinematics', 'pd_controller', task)
    seen = {name: set() for name in names}

    def unseen(name):
        found = allowed(policy, name, SPACE) - seen[name] - not_seen
        return {entry for entry in found if '_controller' not in entry[2]}

    with ArmSystem(actuator='servo', namespace=SPACE) as system:
        system.simulator()
        system.controller('servo')
        system.controller('pd', 'mode:=realtime', autostart=False)
        system.start('inverse_kinematics')
        assert system.change('pd_controller', Transition.TRANSITION_CONFIGURE)
        system.wait(lambda: 'left/inverse_kinematics' in system.values, 'inverse kinematics')

        def look():
            for name in names:
                seen[name] |= opened(system.node, name, SPACE)
            seen['pd_controller'] |= opened(system.node, 'pd_controller_goals', SPACE)
            seen[task] |= opened(system.node, f'{task}_recorder', SPACE)
            return not system.alive(task)

        # The graph may need seconds to show a node, more than the task takes: let it wait.
        system.processes['simulator'].send_signal(signal.SIGSTOP)
        system.start(task, 'controller:=servo', f'output_dir:={tmp_path}', 'cycles:=10.0')
        known = ('services', 'request', full('simulator/reset', SPACE))
        system.wait(lambda: look() or known in seen[task], 'the task on the graph')
        system.processes['simulator'].send_signal(signal.SIGCONT)
        system.wait(look, 'end of the task')
        assert (tmp_path / 'report.json').exists(), system.log(task)
        # What stays may be shown later still: a node's part of the graph is one message.
        stay = names[:-1]
        system.wait(lambda: look() and not any(map(unseen, stay)), 'what the nodes may open')
    for name in names:
        assert {each for each in seen[name] if '/test_client/' not in each[2]} - allowed(
            policy, name, SPACE
        ) == set()
        assert unseen(name) == set()


def test_every_node_that_is_installed_has_an_enclave(security):
    installed = {script.name for script in distribution('arm_sim').entry_points}
    kinds = r'simulator|composed|viewer|view|plot|camera|recorder|inverse_kinematics'
    kinds += r'|tip_servo|linear_move|plan_motion|supervisor|\w+_(controller|manager|task)'
    enclaves = {each.get('path') for each in security.policy(security.nodes()).iter('enclave')}
    named = {f'/arm_sim/{name}' for name in installed if re.fullmatch(kinds, name)}
    assert named == enclaves


def test_without_sros2_the_policy_is_written_and_it_is_said_what_is_missing(
    security, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(security.sys, 'argv', ['security.py', str(tmp_path / 'keys')])
    monkeypatch.setattr(
        security.subprocess, 'run', lambda *_, **__: type('Done', (), {'returncode': 2})
    )
    assert security.main() == 1
    assert 'ros-jazzy-sros2' in capsys.readouterr().err
    assert '/arm_sim/simulator' in (tmp_path / 'keys' / 'policy.xml').read_text()


def test_arms_in_namespaces_have_enclaves_of_their_own_and_what_is_no_namespace_is_refused(
    security, tmp_path, monkeypatch, capsys
):
    commands = []
    done = type('Done', (), {'returncode': 0})
    monkeypatch.setattr(
        security.subprocess, 'run', lambda words, **_: commands.append(words) or done
    )
    monkeypatch.setattr(security.sys, 'argv', ['', str(tmp_path), 'left', 'cell/right'])
    assert security.main() == 0
    made = {words[-1] for words in commands if words[2] == 'create_enclave'}
    kinds = security.processes(security.nodes())
    wanted = {f'/arm_sim/{space}/{name}' for space in ('left', 'cell/right') for name in kinds}
    assert made == wanted
    policy = (tmp_path / 'policy.xml').read_text()
    assert set(re.findall('ns="(.*?)"', policy)) == {'/left', '/cell/right'}

    monkeypatch.setattr(security.sys, 'argv', ['', str(tmp_path), 'no space'])
    assert security.main() == 2
    assert "namespace is 'no space'" in capsys.readouterr().err
