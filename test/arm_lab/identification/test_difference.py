"""Differences of two recordings whose causes are known; the command; refusals."""

import json
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from identification_samples import some_motion
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.difference import difference
from arm_lab.identification.signals import MotionSamples
from arm_tools.commands import compare_recordings as command

COULOMB = np.array([3.0, 2.0, 4.0, 0.5, 0.6, 0.7])
VISCOUS = np.array([2.0, 5.0, 1.0, 0.3, 0.2, 0.1])
TIMES = np.arange(0.0, 12.0, 0.004)


@pytest.fixture(scope='module')
def arm():
    return load_arm('ur5e')


@pytest.fixture(scope='module')
def motion(arm):
    return some_motion(arm, 7)


def point_mass_torque(model, mass, state):
    """Return J^T m (a - g) of a point mass at the tool frame, which no inertia tensor enters."""
    pin_model, data, frame = model.pin_model, model.pin_data, model.frame_id()
    axes = pin.LOCAL_WORLD_ALIGNED
    jacobian = pin.computeFrameJacobian(pin_model, data, state[0], frame, axes)[:3]
    pin.forwardKinematics(pin_model, data, *state)
    a = pin.getFrameClassicalAcceleration(pin_model, data, frame, axes).linear
    return jacobian.T @ (mass * (a - pin_model.gravity.linear))


def recorded(model, motion, times=TIMES, lags=0.0, mass=0.0, coulomb=0.0, viscous=0.0, begin=0.0):
    """Return the recording of an arm that is `lags` [s] late, with more mass and friction."""
    q, v, tau = (np.empty((len(times), model.nv)) for _ in range(3))
    for lag in set(np.broadcast_to(lags, model.nv).tolist()):
        late = np.broadcast_to(lags, model.nv) == lag
        states = motion.states(times + begin - lag)
        torques = [
            model.inverse_dynamics(*x) + point_mass_torque(model, mass, x)
            for x in zip(*states, strict=True)
        ]
        for into, values in zip((q, v, tau), (*states[:2], np.array(torques)), strict=True):
            into[:, late] = values[:, late]
    return MotionSamples(times, q, tau + coulomb * np.clip(v / 0.05, -1.0, 1.0) + viscous * v)


def test_an_arm_whose_last_link_has_no_inertia_about_its_axis_is_compared(arm, motion):
    tree = ElementTree.fromstring(arm.urdf)
    inertia = tree.find("link[@name='wrist_3_link']/inertial/inertia")
    for name in ('izz', 'ixz', 'iyz'):
        inertia.set(name, '0')
    thin = RobotModel(ElementTree.tostring(tree, encoding='unicode'))
    assert thin.mass_matrix(np.zeros(6))[5, 5] < 1e-12
    plain = recorded(thin, motion, TIMES[:1000])
    rubbing = recorded(thin, motion, TIMES[:1000], coulomb=COULOMB)
    found = difference(thin, rubbing, plain, 10.0)
    assert_allclose(found.coulomb, COULOMB, rtol=0.05)


@pytest.fixture(scope='module')
def simulated(arm, motion):
    return recorded(arm, motion)


def test_equal_recordings_have_no_difference_and_no_causes(arm, simulated):
    found = difference(arm, simulated, simulated)
    for values in (found.q, found.tau, found.q_aligned, found.tau_aligned, found.joint_lags):
        assert_allclose(values, 0.0, atol=1e-12)
    assert (found.start, found.lag) == (0.0, 0.0)
    assert_allclose([found.mass, *found.coulomb, *found.viscous], 0.0, atol=1e-9)
    assert np.isnan(found.shares).all()


def test_a_delay_of_3_4_ms_is_found_within_a_microsecond_and_explains_everything(
    arm, motion, simulated
):
    found = difference(arm, recorded(arm, motion, lags=0.0034), simulated)
    assert_allclose([found.lag, *found.joint_lags], 0.0034, atol=1e-6)
    assert_allclose(found.shares, np.eye(6)[:, :1] + np.zeros(6), atol=1e-4)
    _, v, _ = motion.states(found.times)
    assert_allclose(found.q, -0.0034 * v, atol=2e-4)  # to first order in the delay
    assert_allclose(found.q_aligned, 0.0, atol=1e-6)


def test_each_joint_has_its_own_delay(arm, motion, simulated):
    lags = np.array([0.0034, 0.001, 0.0034, 0.001, 0.001, 0.0034])
    found = difference(arm, recorded(arm, motion, lags=lags), simulated)
    assert_allclose(found.joint_lags, lags, atol=1e-6)
    assert 0.001 < found.lag < 0.0034


@pytest.mark.slow
def test_a_kilogram_at_the_tool_is_found_within_a_gram(arm, motion, simulated):
    found = difference(arm, recorded(arm, motion, mass=1.0), simulated)
    assert_allclose(found.mass, 1.0, atol=1e-3)
    assert_allclose(found.shares[2, :5], 1.0, atol=1e-3)  # linear in the mass
    fewer = difference(arm, simulated, recorded(arm, motion, mass=1.0))
    assert_allclose(fewer.mass, -1.0, atol=1e-3)


def test_added_friction_is_found_within_a_hundredth(arm, motion, simulated):
    real = recorded(arm, motion, coulomb=COULOMB, viscous=VISCOUS)
    found = difference(arm, real, simulated)
    assert_allclose(found.coulomb, COULOMB, rtol=0.01)
    assert_allclose(found.viscous, VISCOUS, rtol=0.01)
    assert_allclose(found.shares[3], 1.0, atol=1e-4)
    assert_allclose(found.mass, 0.0, atol=1e-3)


@pytest.mark.slow
def test_all_causes_are_found_together_at_other_rates_with_noise_and_a_later_start(
    arm, motion, simulated
):
    rng, times = np.random.default_rng(3), np.arange(0.0, 12.0, 0.003)
    late = recorded(arm, motion, times, 0.0034, 1.0, COULOMB, VISCOUS)
    noise = rng.standard_normal((2, *late.q.shape))
    real = MotionSamples(times + 1.7e9, late.q + 1e-5 * noise[0], late.effort + 0.1 * noise[1])
    found = difference(arm, real, simulated)
    assert_allclose(found.joint_lags, 0.0034, atol=1e-4)
    assert_allclose(found.mass, 1.0, atol=0.02)
    assert_allclose(found.coulomb, COULOMB, rtol=0.05)
    assert_allclose(found.shares.sum(axis=0), 1.0, atol=1e-12)
    assert (found.shares[5] < 0.01).all()
    earlier = recorded(arm, motion, lags=0.0034, mass=1.0, begin=0.5)
    found = difference(arm, earlier, simulated)
    assert_allclose(found.start, 0.0034 - 0.5, atol=1e-6)
    assert_allclose([found.lag, *found.joint_lags], 0.0, atol=1e-6)
    assert_allclose(found.mass, 1.0, atol=1e-3)


class Sagging:
    """A motion that is 5 % smaller and has another offset, as under a soft law."""

    def __init__(self, motion):
        self.motion = motion

    def states(self, times):
        q, v, a = self.motion.states(times)
        return 0.95 * q + 0.02, 0.95 * v, 0.95 * a


@pytest.mark.slow
def test_the_torque_of_another_motion_is_a_part_of_its_own(arm, motion, simulated):
    other = Sagging(motion)
    found = difference(arm, recorded(arm, other), simulated)
    assert_allclose(found.shares[1], 1.0, atol=1e-4)
    real = recorded(arm, other, lags=0.0034, mass=1.0, coulomb=COULOMB, viscous=VISCOUS)
    found = difference(arm, real, simulated)
    assert_allclose(found.joint_lags, 0.0034, atol=1e-4)
    assert_allclose(found.mass, 1.0, atol=1e-3)
    assert_allclose(found.coulomb, COULOMB, rtol=0.01)
    assert (found.shares[5] < 1e-4).all()


def test_a_torque_that_no_cause_explains_is_the_rest(arm, motion, simulated):
    ripple = 5.0 * np.sin(40.0 * TIMES)[:, np.newaxis]
    real = MotionSamples(simulated.times, simulated.q, simulated.effort + ripple)
    found = difference(arm, real, simulated)
    assert (found.shares[5] > 0.95).all()
    assert_allclose(found.tau.max(axis=0), 5.0, rtol=0.05)


def other_links(model):
    """Return the arm with two links heavier and one lighter."""
    return with_error(model, ModelError(mass_scale=(1.0, 1.3, 0.8, 1.2, 1.0, 1.0)))


PARTS = dict(zip(command.PARTS, range(6), strict=True))
PAYLOAD, FRICTION = {'mass': 1.0}, {'coulomb': COULOMB, 'viscous': VISCOUS}


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ('named', 'change', 'links'),
    [
        (['payload'], PAYLOAD, False),
        (['friction'], FRICTION, False),
        (['model'], {}, True),
        (['delay'], {'lags': 0.02}, False),
        (['payload', 'friction'], PAYLOAD | FRICTION, False),
        (['friction', 'model'], FRICTION, True),
        (['payload', 'model'], PAYLOAD, True),
    ],
)
def test_the_shares_name_what_was_changed_and_nothing_else(
    arm, motion, simulated, named, change, links
):
    real = recorded(other_links(arm) if links else arm, motion, **change)
    found = difference(arm, real, simulated)
    sizes = (found.tau**2).mean(axis=0)
    shares = np.nansum(found.shares * sizes, axis=1) / sizes.sum()
    assert_allclose(shares.sum(), 1.0, atol=1e-6)
    injected = sum(shares[PARTS[name]] for name in named)
    assert injected > 0.97
    assert all(shares[PARTS[name]] > 0.02 for name in named)
    others = [shares[k] for name, k in PARTS.items() if name not in named]
    assert_allclose(others, 0.0, atol=0.03)
    assert_allclose(found.mass, change.get('mass', 0.0), atol=0.1)


def test_another_motion_other_joints_and_an_arm_at_rest_are_refused(arm, motion, simulated):
    other = recorded(arm, some_motion(arm, 8))
    with pytest.raises(ArmError, match='not of the same motion.*it must be 0.5 or more'):
        difference(arm, other, simulated)
    fewer = MotionSamples(simulated.times, simulated.q[:, :5], simulated.effort[:, :5])
    with pytest.raises(ArmError, match="the real recording has not the 6 joints of 'ur5e'"):
        difference(arm, fewer, simulated)
    still = MotionSamples(simulated.times, 0.0 * simulated.q, simulated.effort)
    with pytest.raises(ArmError, match='no joint of the simulated recording moves'):
        difference(arm, simulated, still)


def write_csv(path, names, samples):
    columns = ['time', *(f'{x}.{what}' for what in ('position', 'effort') for x in names)]
    table = np.column_stack([samples.times, samples.q, samples.effort])
    np.savetxt(path, table, delimiter=',', header=','.join(columns), comments='')


@pytest.mark.slow
def test_the_command_reads_two_formats_and_writes_what_it_prints(
    arm, motion, simulated, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    np.savez('sim.npz', t=simulated.times, q=simulated.q, effort=simulated.effort)
    real = recorded(arm, motion, lags=0.0034, mass=1.0)
    degrees = MotionSamples(real.times, np.degrees(real.q), real.effort)
    write_csv('real.csv', arm.joint_names, degrees)
    assert command.main(['real.csv', 'sim.npz', '--units', 'deg']) == 0
    said = capsys.readouterr().out
    assert '3.40 ms later' in said
    numbers = json.loads((tmp_path / 'compared/comparison.json').read_text())
    assert_allclose(numbers['joint_delays_s'], 0.0034, atol=1e-6)
    assert_allclose(numbers['mass_kg'], 1.0, atol=1e-3)
    assert f'payload, real minus simulated: {numbers["mass_kg"]:.4g} kg at tool0' in said
    parts = [numbers[f'share_{part}'] for part in command.PARTS]
    assert_allclose(np.sum(parts, axis=0), 1.0, atol=1e-12)
    found = difference(arm, real, simulated)
    assert_allclose(numbers['torque_rms'], np.sqrt((found.tau**2).mean(axis=0)), rtol=1e-4)
    assert_allclose(numbers['position_max'], np.abs(found.q).max(axis=0), rtol=1e-6)
    assert (tmp_path / 'compared/comparison.png').stat().st_size > 10_000
    write_csv('other.csv', [f'my_{name}' for name in arm.joint_names], real)
    assert command.main(['other.csv', 'sim.npz']) == 1
    error = capsys.readouterr().err
    assert error.startswith("compare_recordings: recording 'other.csv': has no column")
    assert error.count('\n') == 1
