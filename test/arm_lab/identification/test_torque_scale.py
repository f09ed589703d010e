"""What is between a recorded torque, a voltage and the joint: scales and motors, found."""

import json
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from identification_samples import exact_samples, read_samples, serialized, some_motion
from mcap.writer import Writer
from numpy.testing import assert_allclose
from scripts import load_script

from arm_dynamics import ArmError
from arm_dynamics.compiled import FRICTIONLESS
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.motors import DCMotors
from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.identified_arm import with_parameters
from arm_lab.identification.motor_constants import motor_constants
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.identification.torque_scale import Carrying, torque_scales
from arm_sim.robot import Robot
from arm_tools.commands import identify as command
from arm_tools.commands.identified_drives import motors_of
from arm_tools.commands.identified_files import write_arm
from arm_tools.readers.recorded_samples import read_voltages

STUDY = load_script('benchmarks/identification.py')
KNOWN = IdentificationParameters()


def off(samples, scale):
    return MotionSamples(samples.times, samples.q, samples.effort * scale)


def recordings(plant, regressor, motion, scale, masses, noise=0.01):
    """Return a recording with each payload, torques off by `scale`, with noise."""
    for number, mass in enumerate(masses):
        arm = with_error(plant, ModelError(payload=mass))
        samples = exact_samples(arm, motion, 16.0, noise=noise, seed=number)
        yield Carrying(off(samples, scale), mass)


@pytest.mark.slow
def test_a_known_payload_shows_every_scale_of_an_arm_that_is_thirty_percent_off():
    model = load_arm('planar_3r')
    plant, scale = STUDY.other_arm(model, seed=5), np.array([1.3, 0.7, 1.3])
    regressor, motion = JointRegressor(model), some_motion(model, 7)
    bare, loaded = recordings(plant, regressor, motion, scale, (0.0, 1.0))
    found = torque_scales(regressor, [bare, loaded], KNOWN)
    assert found.shown.all()
    assert_allclose(found.values, scale, rtol=0.01)
    assert (np.abs(np.log(found.values / scale)) < 4.0 * found.errors).all()
    true = identify(regressor, off(bare.samples, 1.0 / found.values), KNOWN)
    better = with_parameters(regressor, true.pi)
    unseen = some_motion(model, 6, 5.0)
    assert STUDY.torque_error(better, plant, unseen).max() < 0.01


def test_a_joint_that_stands_still_has_no_scale_and_the_others_do():
    model, scale = load_arm('planar_3r'), np.array([1.3, 0.7, 1.3])
    moves = some_motion(model, 7).states
    motion = SimpleNamespace(states=lambda t: [x * [1.0, 0.0, 1.0] for x in moves(t)])
    recorded = Carrying(off(exact_samples(model, motion, 16.0, noise=0.01), scale))
    found = torque_scales(JointRegressor(model), [recorded], KNOWN, links_known=True)
    assert found.shown.tolist() == [True, False, True]
    assert_allclose(found.values[found.shown], scale[found.shown], rtol=0.01)
    still = Carrying(off(recorded.samples, 0.0))
    with pytest.raises(ArmError, match='torque is always 0; torques are needed; .*hardly moves'):
        torque_scales(JointRegressor(model), [still], KNOWN, links_known=True)


@pytest.mark.slow
def test_a_load_that_is_no_point_makes_no_scale_wrong():
    model = load_arm('ur5e')
    plant, scale = STUDY.other_arm(model, seed=5), np.array([1.3, 0.7, 1.3, 0.7, 1.3, 0.7])
    center, edges = np.array([0.05, -0.04, 0.06]), np.array([0.1, 0.15, 0.2])
    frame = plant.pin_model.frames[plant.frame_id()]
    box = pin.Inertia.FromBox(3.0, *edges)
    load = frame.placement.act(pin.Inertia(3.0, center, box.inertia)).toDynamicParameters()
    pi = JointRegressor(plant).parameters()
    pi[10 * (frame.parentJoint - 1) : 10 * frame.parentJoint] += load
    heavy = with_parameters(JointRegressor(plant), pi)
    motion = some_motion(model, 3)
    made = [
        exact_samples(arm, motion, 16.0, noise=0.01, seed=k)
        for k, arm in enumerate((plant, heavy))
    ]
    recorded = [Carrying(off(each, scale), kg) for each, kg in zip(made, (0.0, 3.0), strict=True)]
    found = torque_scales(JointRegressor(model), recorded, KNOWN)
    assert found.shown.all()
    assert_allclose(found.values, scale, rtol=0.01)
    assert_allclose(found.center, center, atol=2e-3)


def test_scales_far_from_one_are_found_from_torques_of_pinocchio_alone(monkeypatch):
    benchmark = load_script('benchmarks/foreign_scales.py')
    monkeypatch.setattr(benchmark, 'SECONDS', 12.0)
    scale, center, found = benchmark.estimated(2, some_motion(load_arm('ur5e'), 1))
    assert_allclose(found.values, scale, rtol=0.01)  # whole steps of Gauss-Newton diverge here
    assert_allclose(found.center, center, atol=2e-3)


def test_a_scale_that_the_estimate_does_not_reach_is_not_shown():
    model = load_arm('planar_3r')
    regressor, scale = JointRegressor(model), np.array([1.3, 1.3, 1e-8])
    both = recordings(model, regressor, some_motion(model, 7), scale, (0.0, 1.0))
    found = torque_scales(regressor, list(both), KNOWN)
    assert found.shown.tolist() == [True, True, False]


def test_joints_that_share_links_are_found_by_one_whose_torque_is_right():
    model = load_arm('planar_3r')
    plant, scale = STUDY.other_arm(model, seed=5), np.array([1.3, 1.0, 0.7])
    regressor = JointRegressor(model)
    (bare,) = recordings(plant, regressor, some_motion(model, 7), scale, (0.0,))
    found = torque_scales(regressor, [bare], KNOWN, right=1)
    assert found.shown.all()
    assert_allclose(found.values, scale, rtol=0.02)


def test_links_that_are_known_determine_the_scales_in_one_recording():
    model = load_arm('planar_3r')
    plant = with_error(model, ModelError(friction=(0.5,), damping=(0.3,), armature=(0.01,)))
    regressor, scale = JointRegressor(model), np.array([1.3, 0.7, 1.3])
    (bare,) = recordings(plant, regressor, some_motion(model, 7), scale, (0.0,))
    found = torque_scales(regressor, [bare], KNOWN, links_known=True)
    assert_allclose(found.values, scale, rtol=0.01)
    assert_allclose(found.pi[10 * 3 + 3 : 13 * 3], [0.3] * 3 + [0.5] * 3, rtol=0.05)


def test_an_unknown_load_at_the_tool_makes_no_interval_too_small():
    model = load_arm('planar_3r')
    regressor, scale = JointRegressor(model), np.array([0.3, 0.1, 0.2])
    (heavy,) = recordings(model, regressor, some_motion(model, 7), scale, (0.4,))
    recorded = [Carrying(heavy.samples)]
    open_, bare = (
        torque_scales(regressor, recorded, KNOWN, links_known=True, tool_known=known)
        for known in (False, True)
    )
    assert (np.abs(np.log(bare.values / scale)) > 10.0 * bare.errors).all()
    assert open_.shown.all()
    assert (np.abs(np.log(open_.values / scale)) < 2.0 * open_.errors).all()


@pytest.mark.slow
def test_a_scale_that_nothing_determines_is_reported_as_not_shown():
    model = load_arm('ur5e')
    plant, scale = STUDY.other_arm(model, seed=5), np.full(6, 1.3)
    regressor = JointRegressor(model)
    # The payload is on the last joint's axis: it turns it without torque.
    both = list(recordings(plant, regressor, some_motion(model, 3), scale, (0.0, 3.0)))
    found = torque_scales(regressor, both, KNOWN)
    assert found.shown[:4].all()
    assert_allclose(found.values[:4], 1.3, rtol=0.01)
    assert not torque_scales(regressor, both[:1], KNOWN).shown.any()


@pytest.mark.slow
def test_currents_become_torques_by_the_links_or_by_a_known_load(tmp_path):
    model, rng = load_arm('ur5e'), np.random.default_rng(4)
    plant = with_error(model, ModelError(friction=(2.0,), damping=(1.0,), armature=(0.05,)))
    constants, files = rng.uniform(5.0, 15.0, 6), []
    for mass in (0.0, 3.0):
        arm = with_error(plant, ModelError(payload=mass)) if mass else plant
        samples = exact_samples(arm, some_motion(model, 3), 16.0, noise=0.003)
        files.append(str(tmp_path / f'{mass:g}.npz'))
        np.savez(files[-1], t=samples.times, q=samples.q, effort=samples.effort / constants)
    for options in ({}, {'loaded': files[1], 'loaded_mass': 3.0}):
        found = command.identify(files[0], robot='ur5e', efforts='current', **options)
        scale = {name: np.array(x) for name, x in found.numbers['torque_scale'].items()}
        shown = scale['shown']
        assert shown[:3].all()
        off = np.abs(scale['values'] * constants - 1.0)
        assert (off < 3.0 * scale['errors'] + 0.002)[shown].all()


@pytest.mark.slow
def test_the_constants_of_motors_thirty_percent_off_are_found(tmp_path, capsys, monkeypatch):
    robot, fits = Robot.load('five_joint_arm'), []
    given = (10.0, 10.0, 10.0, 1.0, 1.0)
    kt = tuple(x * s for x, s in zip(given, (1.3, 0.7, 1.3, 0.7, 1.3), strict=True))
    ra = (0.7, 1.3, 0.7, 1.3, 1.3)
    drop, half = (0.5, 0.0, 0.5, 0.0, 0.05), (1.0,) * 3 + (0.1,) * 2  # with brushes and without
    motors = DCMotors(kt, (), ra, drop, half)
    plant = STUDY.other_arm(robot.model, seed=5)
    samples, voltage = STUDY.driven_by_voltages(
        robot, plant, motors, some_motion(robot.model, 7), 6.0
    )
    file, options = (
        tmp_path / 'x.npz',
        ['--robot', 'five_joint_arm', '--output-dir', str(tmp_path)],
    )
    np.savez(file, t=samples.times, q=samples.q, effort=samples.effort, voltage=voltage)

    def fitted(*given):
        fits.append(motor_constants(*given))
        return fits[-1]

    monkeypatch.setattr('arm_tools.commands.identified_drives.motor_constants', fitted)
    assert command.main([str(file), *options, '--torque-reference', 'links']) == 0
    (found,) = fits
    assert_allclose(found.back_emf, kt, rtol=0.01)
    # Within a period a motor answers to the voltage, which the filter of its speed hides.
    assert_allclose(found.resistance, ra, rtol=0.06)
    assert_allclose(found.conductance, np.array(kt) / ra, rtol=0.06)
    assert_allclose(found.brush_drop, drop, rtol=0.1, atol=1e-3)
    said = capsys.readouterr().out
    assert 'torque scale, recorded over true' in said
    assert "five_joint_arm_identified.yaml has 'implicitfast'" in said
    assert 'task:=sinusoid controller:=motor_computed_torque robot:=' in said  # no cube
    parameters = json.loads((tmp_path / 'identified.json').read_text())
    assert_allclose(parameters['motors']['back_emf'], found.back_emf)
    written = Robot.load('five_joint_arm', tmp_path / 'five_joint_arm_identified.yaml')
    parameters = written.parameters('simulator')
    assert_allclose(parameters['armature_resistance'], found.resistance)
    assert parameters['integrator'] not in FRICTIONLESS  # as the one in the arm's own file is
    assert (written.model.friction > 0.0).all()


@pytest.mark.slow
def test_an_arm_without_friction_keeps_the_step_that_has_none(tmp_path):
    robot = Robot.load('five_joint_arm')
    samples = exact_samples(robot.model, some_motion(robot.model, 7), 10.0, noise=0.01)
    found = identify(JointRegressor(robot.model), samples, KNOWN)
    files = write_arm(tmp_path, robot, found, {}, {})
    assert files.notes == ["integrator 'lagged_euler' has no friction: none was found"]
    written = Robot.load(str(files.urdf), files.config)
    assert not written.model.damping.any()
    assert not written.model.friction.any()
    assert written.parameters('simulator')['integrator'] == 'lagged_euler'


def in_mcap(file, states, commands, names='ab'):
    """Write states (time, q, effort) and commands (time, volts) of joints."""
    with file.open('wb') as stream:
        writer = Writer(stream)
        writer.start()
        schema = writer.register_schema('sensor_msgs/msg/JointState', 'ros2msg', b'')
        for topic, rows in (
            ('/joint_states', [serialized(round(t * 1e9), names, *each) for t, *each in states]),
            ('/joint_commands', [serialized(round(t * 1e9), names, [], u) for t, u in commands]),
        ):
            channel = writer.register_channel(topic, 'cdr', schema)
            for row in rows:
                writer.add_message(channel, 0, row, 0)
        writer.finish()


def test_the_voltage_that_acted_is_the_newest_command_before_a_state(tmp_path):
    times, volts = np.arange(1, 6) * 0.25, np.arange(10.0).reshape(5, 2)
    states = [(t, [t, -t], [t, 2.0 * t]) for t in times]
    file = tmp_path / 'x.mcap'
    # Each command answers the state of its stamp: what it makes is seen in the next one.
    in_mcap(file, states, zip(times, volts, strict=True))
    found = read_voltages(file, ['b', 'a'], read_samples(file, ['b', 'a']).times)
    assert_allclose(found[1:], volts[:-1, ::-1])
    assert np.isnan(found[0]).all()
    in_mcap(file, states, [(0.9, volts[1]), (1.1, volts[2]), (0.3, volts[3])])
    with pytest.raises(ArmError, match='the stamps of its joint commands go back'):
        read_voltages(file, ['a', 'b'], times)
    in_mcap(file, states, [])
    with pytest.raises(ArmError, match='no joint commands of a, b; it has none'):
        read_voltages(file, ['a', 'b'], times)


def test_voltages_of_tables_have_a_row_for_each_state(tmp_path):
    times, volts = np.arange(5) * 0.25, np.arange(10.0).reshape(5, 2)
    table = np.column_stack([volts, times])
    header = {'header': 'b.voltage,a.voltage,time', 'comments': '', 'delimiter': ','}
    np.savetxt(tmp_path / 'x.csv', table, **header)
    assert_allclose(read_voltages(tmp_path / 'x.csv', ['a', 'b'], times), volts[:, ::-1])
    with pytest.raises(ArmError, match=r"has no column 'c\.voltage'"):
        read_voltages(tmp_path / 'x.csv', ['c'], times)
    for name, message in (
        ('voltage', r'voltage has shape \(5, 2\); it must be \(4, 2\)'),
        ('volts', "has no 'voltage'"),
    ):
        np.savez(tmp_path / 'x.npz', **{name: volts})
        with pytest.raises(ArmError, match=message):
            read_voltages(tmp_path / 'x.npz', ['a', 'b'], times[1:])


@pytest.mark.slow
@pytest.mark.parametrize('kind', ['mcap', 'csv'])
def test_motors_are_found_from_what_was_recorded(kind, tmp_path):
    robot = Robot.load('five_joint_arm')
    names = robot.model.joint_names
    kt, ra = np.array([13.0, 7.0, 13.0, 0.7, 1.3]), np.array([0.7, 1.3, 0.7, 1.3, 1.3])
    motors = DCMotors(tuple(kt), (), tuple(ra))
    samples, voltage = STUDY.driven_by_voltages(
        robot, robot.model, motors, some_motion(robot.model, 7), 4.0
    )
    file = tmp_path / f'x.{kind}'
    if kind == 'csv':
        columns = [f'{n}.{x}' for x in ('position', 'effort', 'voltage') for n in names]
        table = np.column_stack([samples.times, samples.q, samples.effort, voltage])
        header = ','.join(['time', *columns])
        np.savetxt(file, table, delimiter=',', header=header, comments='', fmt='%.17g')
    else:
        sent = samples.times - (samples.times[1] - samples.times[0])
        rows = zip(samples.times, samples.q, samples.effort, strict=True)
        in_mcap(file, rows, zip(sent, voltage, strict=True), names)
    found, lacking = motors_of(str(file), robot, read_samples(file, names), KNOWN)
    assert not lacking
    assert_allclose(found.back_emf, kt, rtol=0.01)
    # Within a period a motor's own speed answers to the voltage, which the filter hides.
    assert_allclose(found.resistance, ra, rtol=0.08)
    assert_allclose(found.brush_drop, 0.0, atol=1e-3)


def test_a_motor_that_stands_still_is_named():
    times = np.arange(0.0, 4.0, 0.002)
    still = MotionSamples(times, np.zeros((2000, 1)), np.zeros((2000, 1)))
    with pytest.raises(ArmError, match="joint 'r1': its motor turned too little"):
        motor_constants(still, np.zeros((2000, 1)), 10.0, ('r1',))
    with pytest.raises(ArmError, match='0 samples have a voltage; the motors need 100'):
        motor_constants(still, np.full((2000, 1), np.nan), 10.0, ('r1',))


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--loaded', 'x.mcap'], '--loaded and --loaded-mass go together'),
        (['--torque-reference', 'r9'], "--torque-reference is 'r9'; allowed: r1"),
        (['--torque-reference', 'r1', '--payload'], '--payload looks for a payload'),
    ],
)
def test_what_determines_no_scale_is_refused_in_one_line(options, message, tmp_path, capsys):
    times, still = np.arange(0.0, 1.0, 0.01), np.zeros((100, 5))
    np.savez(tmp_path / 'x.npz', t=times, q=still, effort=still)
    where = ['--robot', 'five_joint_arm', '--output-dir', str(tmp_path)]
    assert command.main([str(tmp_path / 'x.npz'), *where, *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f'identify: {message}')
    assert error.count('\n') == 1
