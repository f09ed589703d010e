"""Friction beyond viscous and Coulomb is found where it is, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from arms import load_arm
from identification_samples import STUDY, exact_samples, some_motion

from arm_dynamics.model import STANDSTILL
from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.friction_models import FrictionTerm, friction_terms, stribeck_torque
from arm_lab.identification.regressor import JointRegressor
from arm_tools.commands import identify as command
from arm_tools.commands.identified_friction import Friction, friction_notes

NOISE = 0.003  # of torques


@pytest.fixture(scope='module')
def recorded():
    """Return a model, an arm that the model does not know, and an exact recording of the arm."""
    model = load_arm('planar_3r')
    arm, motion = STUDY.other_arm(model, seed=2), some_motion(model, 3)
    samples = exact_samples(arm, motion, 24.0, noise=NOISE)
    return model, arm, motion.states(samples.times), samples


def more(kind, arm, states, times):
    """Return a further term (m,) of the middle joint's friction, and its numbers."""
    q, v, a = states
    own = v[:, 1]
    dry = np.clip(own / STANDSTILL, -1.0, 1.0)
    if kind == 'Stribeck':
        return 0.2 * np.exp(-((own / 0.3) ** 2)) * dry, (0.2, 0.3)
    if kind == 'load':
        free = arm.with_joints(arm.armature, np.zeros(3), np.zeros(3))
        links = [free.inverse_dynamics(*state)[1] for state in zip(q, v, a, strict=True)]
        return 0.1 * np.abs(links) * dry, (0.1, 0.0)
    friction = arm.damping[1] * own + arm.friction[1] * dry
    return -0.3 * times / times[-1] * friction, (-0.3, 0.0)


@pytest.mark.quick(1)
@pytest.mark.parametrize('kind', ['', 'Stribeck', 'load', 'drift'])
def test_a_term_is_found_on_its_joint_with_its_numbers(recorded, kind):
    model, arm, states, samples = recorded
    p, wanted = IdentificationParameters(), (0.0, 0.0)
    if kind:
        extra, wanted = more(kind, arm, states, samples.times)
        samples = replace(samples, effort=samples.effort + extra[:, np.newaxis] * np.eye(3)[1])
    found = identify(JointRegressor(model), samples, p)
    terms = friction_terms(found, samples, p.cutoff, p.prior)
    assert [(term.joint, term.kind) for term in terms] == [(1, kind)] * bool(kind)
    for term in terms:
        np.testing.assert_allclose((term.size, term.speed), wanted, rtol=0.2)
        assert term.after < 0.7 * term.before
    if kind == 'Stribeck':
        torque = stribeck_torque(samples, p.cutoff, terms)
        assert STUDY.rms(torque[:, 1] - extra) < 0.1 * STUDY.rms(extra)


@pytest.mark.slow
def test_the_part_whose_error_is_printed_chooses_no_term(recorded):
    model, arm, states, samples = recorded
    p = IdentificationParameters()
    extra, _ = more('Stribeck', arm, states, samples.times)
    samples = replace(samples, effort=samples.effort + extra[:, np.newaxis] * np.eye(3)[1])
    found = identify(JointRegressor(model), samples, p)
    (term,) = friction_terms(found, samples, p.cutoff, p.prior)
    other = np.random.default_rng(0).normal(size=found.rows.tau.shape)
    tau = np.where(found.train[:, np.newaxis], found.rows.tau, other)
    changed = replace(found, rows=replace(found.rows, tau=tau))
    (same,) = friction_terms(changed, samples, p.cutoff, p.prior)
    assert same[:2] == term[:2]
    np.testing.assert_allclose(same[2:4], term[2:4], rtol=1e-6)
    assert same.alone
    assert same.after > 0.9  # and says honestly that it explains nothing there
    assert term.after < 0.1


@pytest.mark.quick(1)
@pytest.mark.parametrize('jump', [-75.0, 1.7e9])
def test_clocks_that_are_set_in_the_held_back_part_change_no_finding(jump):
    model = load_arm('planar_3r')
    samples = exact_samples(STUDY.other_arm(model, seed=2), some_motion(model, 3), 80.0)
    samples.times[int(0.9 * len(samples.times)) :] += jump
    p = IdentificationParameters()
    found = identify(JointRegressor(model), samples, p)
    assert np.ptp(found.rows.times[~found.train]) > 50.0  # both clocks are in this part
    assert friction_terms(found, samples, p.cutoff, p.prior) == []


def test_a_term_that_is_not_written_is_said_to_be_left_out(recorded):
    model, _, _, samples = recorded
    found = identify(JointRegressor(model), samples, IdentificationParameters())
    terms = [FrictionTerm(j, 'Stribeck', 0.2, 0.3, 0.02, 0.01) for j in (0, 1)]
    written = {'joints.static_friction': [0.0, 0.2, 0.0]}
    first, second = friction_notes(Friction(found, terms, written, frozenset({1})))
    assert first.endswith('left out')
    assert second.endswith('joints.static_friction has it')


@pytest.mark.slow
def test_identify_writes_stribeck_friction_and_says_what_no_file_has(recorded, tmp_path):
    _, arm, states, samples = recorded
    effort = samples.effort.copy()
    effort[:, 1] += more('Stribeck', arm, states, samples.times)[0]
    file = tmp_path / 'x.npz'
    np.savez(file, t=samples.times, q=samples.q, effort=effort)
    called = command.identify(str(file), robot='planar_3r')
    (line,) = (line for line in called.notes if line.startswith('friction of'))
    assert 'Stribeck' in line
    assert 'joints.static_friction has it' in line
    called.write(tmp_path, '')
    text = (tmp_path / 'planar_3r_identified.yaml').read_text()
    simulator = yaml.safe_load(text)['simulator']['ros__parameters']
    static, coulomb = simulator['joints.static_friction'], called.found.pi[36:39]
    np.testing.assert_allclose(static - coulomb, [0.0, 0.2, 0.0], atol=0.03)
    np.testing.assert_allclose(simulator['joints.stribeck_velocity'][1], 0.3, rtol=0.2)
    np.testing.assert_allclose(coulomb[1], arm.friction[1], rtol=0.2)

    np.savez(file, t=samples.times, q=samples.q, effort=samples.effort + 0.1 * (
        np.abs(samples.effort) * np.sign(states[1])) * [0, 0, 1])  # fmt: skip
    called = command.identify(str(file), robot='planar_3r')
    (line,) = (line for line in called.notes if line.startswith('friction of'))
    assert 'of the load' in line
    assert 'no parameter file has this' in line
