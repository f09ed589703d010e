"""The supervisor: starts from rest, keeps limits, stops, and says why with numbers."""

import re
from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from field import TURNTABLE

from arm_controllers.drive_convention import DriveConvention
from arm_controllers.laws.pd import PD
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Stepping
from arm_dynamics.robots import find_urdf
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.loop.loop import Loop
from arm_sim.simulation.plant import PlantParameters
from arm_tools.driving.presets import PRESETS, drives_of, period_of
from arm_tools.driving.supervised_law import SupervisedLaw
from arm_tools.driving.supervisor import Supervisor
from arm_tools.driving.supervisor_parameters import SupervisorNodeParameters, SupervisorParameters
from arm_tools.driving.supervisor_state import DRIVING, STOPPED, WAITING

DT = 0.002
MODEL = RobotModel.from_urdf(find_urdf('planar_3r'))
Q = np.array([0.4, -0.6, 0.5])
STILL = np.zeros(3)


class Run:
    """A supervisor with readings that the test sets."""

    def __init__(self, interface='effort', **limits):
        self.own = Supervisor(MODEL, SupervisorParameters(**limits), interface)
        self.settings = interface, tuple(limits.items())
        self.state = self.own.start(Q, STILL, DT)
        self.sent = self.state.sent

    def step(self, q=Q, v=STILL, command=None, **others):
        command = self.own.holding(q) if command is None else command
        self.sent, self.state = self.own(self.state, q, v, command, DT, **others)
        return self.sent

    def driving(self):
        self.state = driven(*self.settings)
        self.sent = self.state.sent
        return self

    @property
    def why(self):
        assert self.state.phase == STOPPED
        return '; '.join(self.own.reasons(self.state))


@cache
def driven(interface, limits):
    """Return the memory after 2 s at rest; several tests begin there."""
    run = Run(interface, **dict(limits))
    for _ in range(round(2.0 / DT)):
        run.step()
    assert run.state.phase == DRIVING
    return run.state


def test_the_law_begins_only_after_the_rest_time_at_rest():
    run = Run()
    for _ in range(round(0.4 / DT)):
        run.step()
    run.step(v=STILL + 0.03)
    for _ in range(round(0.45 / DT)):
        run.step()
    assert run.state.phase == WAITING
    for _ in range(round(0.06 / DT)):
        run.step()
    assert run.state.phase == DRIVING


def test_the_ramp_begins_at_the_command_that_holds_the_arm_and_ends_at_the_law():
    run = Run('position', speed_share=1.0, state_age_limit=10.0)  # readings stand still
    commands = [run.step(command=Q + 0.05) for _ in range(round(1.6 / DT))]
    np.testing.assert_array_equal(commands[0], Q)
    np.testing.assert_allclose(commands[-1], Q + 0.05, rtol=0, atol=1e-15)
    # A cubic from rest to rest moves at most 1.5 times the mean speed.
    assert np.abs(np.diff(commands, axis=0)).max() < 1.51 * 0.05 / 1.0 * DT


@pytest.mark.slow
def test_effort_commands_keep_torque_and_torque_rate_without_a_stop():
    run = Run(torque_rate=(2000.0,), torque_share=0.5).driving()
    before = run.sent
    sent = run.step(command=before + 20.0)
    np.testing.assert_allclose(sent, before + 2000.0 * DT, rtol=1e-12)
    limited = run.own.limited(STILL + 1e6, run.own.torque_limit, DT)
    np.testing.assert_array_equal(limited, 0.5 * MODEL.effort_limit)


@pytest.mark.parametrize('share', [0.5, 0.999, 1.001, 3.0])
def test_a_command_is_limited_exactly_where_its_row_is_beyond(share):
    run = Run(torque_rate=(1000.0,)).driving()
    command = run.sent + np.array([share * 1000.0 * DT, 0.0, 0.0])
    sent = run.step(command=command)
    rows = dict(zip([x.name for x in run.own.checks], run.state.seen.swapaxes(0, 1), strict=True))
    value, limit = rows['rate of the torque']
    np.testing.assert_allclose(value, [share * 1000.0, 0.0, 0.0], atol=1e-9)
    assert (value > limit).any() == (sent != command).any() == (share > 1.0)
    np.testing.assert_array_equal(rows['torque'], [np.abs(command), 0.9 * MODEL.effort_limit])
    assert run.state.phase == DRIVING
    position = Supervisor(MODEL, SupervisorParameters(), 'position')
    assert 'torque' not in [x.name for x in position.checks]


JUMP = np.array([0.0, 0.05, 0.0])
FAST = np.array([0.0, 0.0, 0.9]) * MODEL.velocity_limit


@pytest.mark.parametrize(
    ('reading', 'line'),
    [
        ({'q': Q + JUMP}, r"joint 'joint_2': jump of the position is 0.05 rad; allowed: 0.02$"),
        ({'v': FAST}, r"joint 'joint_3': jump of the speed is [\d.]+ rad/s; allowed: "),
        ({'command': STILL + np.nan}, r"joint 'joint_1': command is nan N.m; allowed: 1e\+09"),
        ({'age': 0.2}, r'^age of the newest state is 0.2 s; allowed: 0.05$'),
        ({'silence': 0.3}, r"^age of the law's newest command is 0.3 s; allowed: 0.05$"),
        ({'reference': Q + 4 * JUMP}, r"joint 'joint_2': tracking error is 0.2 rad; allowed"),
    ],
)  # fmt: skip
def test_a_reading_beyond_a_limit_stops_the_law_and_the_reason_has_numbers(reading, line):
    run = Run().driving()
    run.step(**reading)
    assert re.search(line, run.why), run.why
    assert np.isfinite(run.sent).all()
    assert bool(run.state.blind) == any(x in line for x in ('newest state', 'jump'))


def test_a_speed_that_grows_beyond_its_limit_stops_the_law():
    run = Run().driving()
    run.step(v=0.5 * FAST)
    assert run.state.phase == DRIVING
    run.step(v=FAST)
    assert re.match(r"joint 'joint_3': speed is 9 rad/s; allowed: 8", run.why)
    assert not run.state.blind


def test_a_stop_begins_at_the_newest_reading_that_can_be_used():
    q, v = Q + 0.001, STILL + 0.4
    run = Run().driving()
    run.step(q=q, v=v, stop=True)
    np.testing.assert_array_equal((run.state.stop_q, run.state.stop_v), (q, v))
    run = Run().driving()
    run.step(q=q, v=v)
    run.step(q=q + JUMP, v=v + 0.1)
    np.testing.assert_array_equal((run.state.stop_q, run.state.stop_v), (q, v))


@pytest.mark.slow
def test_the_speed_is_that_at_the_end_of_the_latency_and_of_the_turn_of_the_torque():
    run, v = Run(torque_rate=(1e4,), deceleration=(5.0,)).driving(), np.array([1.0, -2.0, 2.5])
    tau = run.sent + 5.0
    run.step(v=v, command=tau)
    data = MODEL.pin_model.createData()
    a = pin.aba(MODEL.pin_model, data, Q, v, tau - MODEL.friction_torque(v))
    braking = np.diagonal(MODEL.mass_matrix(Q)) * 5.0
    later = 0.008 + DT + (np.abs(MODEL.mass_matrix(Q) @ a) + braking) / (0.5 * 1e4)
    rows = dict(zip([x.name for x in run.own.checks], run.state.seen[0], strict=True))
    expected = np.maximum(np.abs(v), np.abs(v + a * later))
    np.testing.assert_allclose(rows['speed'], expected, rtol=1e-9)


@pytest.mark.slow
def test_states_at_another_rate_keep_the_law_from_beginning_or_stop_it():
    run = Run()
    for _ in range(1000):
        run.step(gap=2.0 * DT)
    assert run.state.phase == WAITING
    run = Run().driving()
    for _ in range(100):
        run.step(gap=2.0 * DT)
    assert 'mean period of the states' in run.why


@pytest.mark.slow
def test_readings_that_freeze_stop_the_law_where_they_flickered_before():
    rng = np.random.default_rng(1)
    run = Run()
    for _ in range(1000):
        run.step(q=Q + 1e-6 * rng.normal(size=3))
    for _ in range(24):
        run.step()
    assert run.state.phase == DRIVING
    for _ in range(3):
        run.step()
    assert 'a reading has not moved' in run.why
    assert run.state.blind
    quiet = Run().driving()  # without noise readings at rest may be equal
    assert not quiet.state.flickers.any()


@pytest.mark.slow
def test_one_joint_that_no_longer_flickers_stops_the_law_and_is_named():
    rng = np.random.default_rng(1)
    run = Run()
    for k in range(1030):
        noise = 1e-6 * rng.normal(size=3)
        noise[1] *= k < 1000
        run.step(q=Q + noise)
    assert re.match("^joint 'joint_2': time in which a reading has not moved", run.why)
    assert run.state.blind


@pytest.mark.slow
def test_a_coarse_encoder_between_two_counts_does_not_flicker():
    rng = np.random.default_rng(1)
    run = Run()
    for _ in range(1000):
        run.step(q=Q + 1e-4 * rng.integers(2, size=3))
    for _ in range(100):
        run.step()
    assert run.state.phase == DRIVING


@pytest.mark.parametrize('share', [0.0, -1.0])
def test_velocities_that_do_not_move_the_positions_stop_the_law(share):
    run, speed = Run('position', ramp_time=0.2).driving(), 0.2
    for k in range(1, 200):
        aim = Q + speed * k * DT
        run.step(q=aim, v=STILL + share * speed, command=aim, reference=aim)
        if run.state.phase == STOPPED:
            break
    assert 'difference of the way of the positions from that of the velocities' in run.why
    assert run.state.blind
    assert speed * k * DT < 0.04


def test_readings_that_fail_during_a_stop_are_named():
    run = Run().driving()
    run.step(stop=True)
    assert run.state.phase == STOPPED
    assert not run.state.blind
    run.step(v=1.1 * MODEL.velocity_limit)
    assert run.state.blind
    assert any('jump of the speed' in each for each in run.own.reasons(run.state, True))


def test_an_arm_that_gets_faster_in_a_stop_is_not_braked_by_its_readings():
    run = Run().driving()
    run.step(stop=True)
    run.step(v=0.5 * MODEL.velocity_limit)
    assert not run.state.blind
    run.step(v=1.05 * MODEL.velocity_limit)
    assert run.state.blind
    assert not run.own.reasons(run.state, True)


class Led(Run):
    """Readings that follow the way of joint 2 by three periods, rounded, or frozen."""

    ahead, late, grain = 0.0, (0.0, 0.0, 0.0), 1e-12
    frozen, differences = False, True

    def lead(self, way, most=3000):
        """Lead the arm along `way` [rad], a value per period; return how many periods it drove."""
        for k, ahead in enumerate(way[:most]):
            aim = Q + np.array([0.0, ahead, 0.0])
            speed = np.array([0.0, (ahead - self.ahead) / DT, 0.0])
            self.ahead, before = ahead, self.state.q
            if not self.frozen:
                self.late = *self.late[1:], ahead
            q = Q + np.array([0.0, round(self.late[0] / self.grain) * self.grain, 0.0])
            v = (q - before) / DT if self.differences else speed * (not self.frozen or k == 0)
            holds = self.own.holding(q)
            command = {'position': aim, 'velocity': speed, 'effort': holds}[self.own.interface]
            self.step(q=q, v=v, command=command, reference=aim)
            if self.state.phase == STOPPED:
                return k
        return len(way)


@pytest.mark.quick(1)
@pytest.mark.parametrize('interface', ['position', 'velocity', 'effort'])
@pytest.mark.parametrize('law_counts_turns', [False, True])
def test_readings_of_a_continuous_joint_may_be_angles(interface, law_counts_turns):
    own, way = Supervisor(TURNTABLE, SupervisorParameters(), interface), np.pi - 0.3
    state = own.start(np.array([way]), np.zeros(1), DT)
    for k in range(round(4.0 / DT)):
        speed = np.array([0.5 * (k * DT > 2.0)])
        way = way + speed * DT
        angle = np.arctan2(np.sin(way), np.cos(way))
        reference = np.array(way) if law_counts_turns or interface == 'position' else angle
        command = {'position': reference, 'velocity': speed, 'effort': np.zeros(1)}[interface]
        _, state = own(state, angle, speed, command, DT, reference)
    assert way > np.pi + 0.3
    assert state.phase == DRIVING, own.reasons(state)


def ramp(begin, end, count):
    """Return a way from rest to rest."""
    return begin + (end - begin) * (0.5 - 0.5 * np.cos(np.pi * np.arange(1, count + 1) / count))


INTERFACES = pytest.mark.parametrize('interface', ['position', 'velocity', 'effort'])


@pytest.mark.quick(1)
@INTERFACES
@pytest.mark.parametrize('differences', [True, False])
def test_positions_that_freeze_in_motion_stop_the_law_within_the_age_limit(interface, differences):
    run = Led(interface, ramp_time=0.2, state_age_limit=0.051).driving()
    run.differences = differences
    assert not run.state.flickers.any()
    way = ramp(0.0, 0.6, 500)
    assert run.lead(way[:300]) == 300
    run.frozen = True
    assert run.lead(way[300:]) == round(0.05 / DT)
    assert re.match('^time in which a reading has not moved where it should is 0.052 s', run.why)
    assert run.state.blind


@pytest.mark.quick(1)
@INTERFACES
def test_positions_that_freeze_at_rest_stop_the_law_once_it_leads_the_arm(interface):
    run = Led(interface, ramp_time=0.2).driving()
    run.frozen = True
    way = ramp(0.0, 0.4, 1000)
    k = run.lead(way)
    assert k < 1000
    assert 'a reading has not moved' in run.why
    assert run.state.blind
    least = 0.2 * 0.15
    speed = (way[k] - way[k - 1]) / DT
    assert least < way[k] < least + speed * (0.05 + 0.008 + 3 * DT)


@pytest.mark.slow
@INTERFACES
@pytest.mark.parametrize('grain', [1e-12, 1e-5, 1e-4])
def test_an_arm_that_moves_rests_and_rounds_its_positions_goes_on(interface, grain):
    run = Led(interface, ramp_time=0.2, speed_share=1.0).driving()
    run.grain = grain
    for begin, end, count in ((0.0, 0.3, 300), (0.3, 0.31, 3000), (0.31, 0.0, 200)):
        assert run.lead(ramp(begin, end, count)) == count
        assert run.lead([end] * 100) == 100


@pytest.mark.slow
def test_a_stop_brakes_a_position_command_at_its_deceleration_and_holds():
    run = Run('position', deceleration=(4.0,), tracking_error=(1.0,)).driving()
    speed, at = 0.8, Q.copy()
    for _ in range(50):
        at = at + np.array([0.0, speed * DT, 0.0])
        run.step(q=at, v=np.array([0.0, speed, 0.0]), command=at)
    run.step(q=at, v=np.array([0.0, speed, 0.0]), command=at, stop=True)
    start = run.state.stop_q[1]
    path = [run.step(q=at)[1] for _ in range(150)]
    np.testing.assert_allclose(path[-1] - start, speed**2 / (2 * 4.0), rtol=1e-9)
    assert np.abs(np.diff(path, 2)).max() < 4.0 * DT**2 * 1.001


@pytest.mark.slow
def test_the_workspace_and_position_limits_count_the_way_of_a_stop():
    place = Run().own.tool_at(Q)
    box = (*(place - 1.0), *(place + np.array([0.005, 1.0, 1.0])))
    run = Run(workspace=box, workspace_margin=0.0).driving()
    run.step()
    assert run.state.phase == DRIVING
    jacobian = MODEL.jacobian(Q)[:2]
    v = np.linalg.pinv(jacobian) @ [0.3, 0.0]
    for _ in range(3):  # readings that move at this speed, the tool still inside
        run.step(q=run.state.q + v * DT, v=v)
    assert run.own.tool_at(run.state.q)[0] < box[3]
    assert 'way of the tool out of the workspace' in run.why


@pytest.mark.slow
def test_a_wild_law_in_the_loop_is_stopped_at_rest_inside_the_limits():
    class Wild(PD):
        def __call__(self, state, measured, reference, dt):
            tau, state = super().__call__(state, measured, reference, dt)
            return (MODEL.effort_limit if reference.effort[0] else tau), state

    def reference(t, row):
        row.row[:] = 0.0
        row.q[:] = Q
        row.effort[:] = float(t > 2.0)

    plant = AnalyticalPlant(MODEL, PlantParameters(timestep=DT, actuator='torque'))
    law = Wild(MODEL, PD.designed(MODEL, Q, 20.0, 1.0))
    own = Supervisor(MODEL, SupervisorParameters(), 'effort')
    loop = Loop(plant, SupervisedLaw(law, own), reference)
    fastest = []
    loop.run(4.0, [lambda step: fastest.append(np.abs(step.v).max())])
    state = loop.law_state[1]
    assert state.phase == STOPPED
    assert max(fastest) > 0.01
    assert max(fastest) < 0.8 * MODEL.velocity_limit.min()
    np.testing.assert_allclose(plant.v, 0.0, atol=1e-3)
    assert own.reasons(state)


def test_drives_that_compensate_gravity_are_held_by_no_torque():
    own = Supervisor(
        MODEL, SupervisorParameters(), 'effort',
        DriveConvention(effort_convention='gravity_compensated'),
    )  # fmt: skip
    np.testing.assert_allclose(own.start(Q, STILL, DT).sent, 0.0, atol=1e-12)


def test_a_preset_is_refused_for_a_law_that_commands_something_else():
    assert all(each.source for each in PRESETS.values())
    assert drives_of('franka', 'effort').torque_rate == 1000.0
    with pytest.raises(ArmError, match="^drives 'franka' take effort; the law commands position"):
        drives_of('franka', 'position')
    with pytest.raises(ArmError, match="unknown drives 'frank'; nearest known: 'franka'"):
        drives_of('frank')


def test_states_of_every_preset_have_a_period_that_nodes_take():
    for each in PRESETS.values():
        period = Stepping(timestep=period_of(each.rate)).period_ns
        np.testing.assert_allclose(period, 1e9 / each.rate, atol=0.5)


def test_a_workspace_must_be_a_box():
    with pytest.raises(ArmError, match='^workspace is .*; its first corner must be below'):
        SupervisorParameters(workspace=(0.0, 0.0, 1.0, 1.0, 1.0, 0.5))
    with pytest.raises(ArmError, match='^workspace is .*; it must be six finite numbers'):
        SupervisorParameters(workspace=(0.0, 0.0, 1.0))


def test_points_of_a_trajectory_are_positions_and_a_controller_has_a_name():
    with pytest.raises(ArmError, match="^output is 'trajectory'.*command_interface is 'effort'"):
        SupervisorNodeParameters(robot='ur5e', output='trajectory', command_interface='effort')
    with pytest.raises(ArmError, match="^controller is 'a b'; it must be the name of a node"):
        SupervisorNodeParameters(robot='ur5e', controller='a b')
