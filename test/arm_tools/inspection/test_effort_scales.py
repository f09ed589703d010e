"""Efforts with known or found scales: identify and compare_recordings read torques."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from arms import load_arm
from identification_samples import exact_samples, some_motion

from arm_dynamics import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.torque_scale import TorqueScales
from arm_tools.commands import compare_recordings as command
from arm_tools.commands.identified_drives import TorqueScaleOptions, scales_of
from arm_tools.inspection.effort_scales import known_scales
from arm_tools.inspection.inspected import inspected
from arm_tools.inspection.known_efforts import EffortsAre

SCALES = np.array([0.09, 0.08, 0.1, 0.095, 0.096, 0.097])
COULOMB = np.array([3.0, 2.0, 4.0, 0.5, 0.6, 0.7])


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return model, real recording in amperes with friction and 1 kg, and a simulated one."""
    folder, model = tmp_path_factory.mktemp('x'), load_arm('ur5e')
    motion = some_motion(model, 3)
    loaded = with_error(model, ModelError(payload=1.0))
    real, sim = (exact_samples(arm, motion, 12.0) for arm in (loaded, model))
    dry = COULOMB * np.clip(np.gradient(real.q, real.times, axis=0) / 0.05, -1.0, 1.0)
    for name, samples, effort in (
        ('real', real, SCALES * (real.effort + dry)),
        ('bare', sim, SCALES * (sim.effort + dry)),
        ('sim', sim, sim.effort),
    ):
        np.savez(folder / f'{name}.npz', t=samples.times, q=samples.q, effort=effort)
    return model, folder


def compared(folder, real, simulated='sim', **options):
    files = {'real': str(folder / f'{real}.npz'), 'simulated': str(folder / f'{simulated}.npz')}
    return command.compared(command.Options(**files, efforts=EffortsAre(**options)))


def option(model, scales=SCALES):
    return ','.join(f'{n}={x}' for n, x in zip(model.joint_names, scales, strict=True))


def test_currents_are_compared_with_scales_that_are_known_or_of_the_links(files):
    model, folder = files
    with pytest.raises(ArmError, match='--effort-scales those that are known'):
        compared(folder, 'real')
    found = compared(folder, 'real', effort_scales=option(model)).found
    np.testing.assert_allclose(found.coulomb, COULOMB, rtol=0.1)
    np.testing.assert_allclose(found.mass, 1.0, atol=0.02)
    np.testing.assert_allclose(found.shares.sum(axis=0), 1.0, atol=1e-9)
    by_links = compared(folder, 'bare', efforts='current')
    assert any('from the weights of the links' in line for line in by_links.first)
    known = ~by_links.found.hidden
    assert known[[1, 2]].all()
    np.testing.assert_allclose(by_links.found.coulomb[known], COULOMB[known], rtol=0.1)


def test_a_joint_without_a_known_torque_is_named_and_changes_no_cause(files):
    model, folder = files
    some = option(model).partition(f',{model.joint_names[4]}')[0]
    called = compared(folder, 'real', effort_scales=some)
    found = called.found
    np.testing.assert_array_equal(found.hidden, [False] * 4 + [True] * 2)
    np.testing.assert_allclose(found.mass, 1.0, atol=0.02)
    assert np.isnan(found.shares[:, 4:]).all()
    (line,) = (x for x in called.notes if 'no torque is known' in x)
    assert line.startswith('wrist_2_joint, wrist_3_joint: ')
    assert called.numbers['without_torque'] == ['wrist_2_joint', 'wrist_3_joint']
    rows = command.listings(found, model)[1].rows
    assert set(rows[4][1:]) == {'-'}


def test_a_joint_whose_torque_the_simulated_recording_lacks_is_not_compared(files):
    model, folder = files
    arrays = dict(np.load(folder / 'sim.npz'))
    arrays['effort'] = arrays['effort'] * [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    np.savez(folder / 'short.npz', **arrays)
    found = compared(folder, 'real', 'short', effort_scales=option(model)).found
    np.testing.assert_array_equal(found.hidden, [False] * 5 + [True])
    np.testing.assert_allclose(found.mass, 1.0, atol=0.02)


def test_scales_come_from_a_file_of_identify_or_from_text(tmp_path):
    file = tmp_path / 'identified.json'
    scale = {'values': [0.1, 0.2], 'errors': [0.0, 0.0], 'shown': [True, False]}
    file.write_text(json.dumps({'joint_names': ['a', 'b'], 'torque_scale': scale}))
    np.testing.assert_array_equal(known_scales(str(file), ['b', 'a']), [np.nan, 0.1])
    np.testing.assert_array_equal(known_scales('b=2, a=0.5', ['a', 'b']), [0.5, 2.0])
    file.write_text(json.dumps({'joint_names': ['a'], 'torque_scale': None}))
    for bad, said in (
        (str(file), 'identify found no scales there'),
        ('missing.json', 'is no identified.json'),
        ('a', 'it must be JOINT=NUMBER'),
        ('a=0', 'a is 0'),
        ('c=1', r"is 'c'.*allowed: a, b"),
    ):
        with pytest.raises(ArmError, match=said):
            known_scales(bad, ['a', 'b'])


def test_links_give_no_scale_to_a_joint_that_they_hardly_load(files, monkeypatch):
    model, folder = files
    read = inspected(folder / 'bare.npz', model, efforts=EffortsAre(efforts='current'))
    light = np.array([True] * 5 + [False])
    read = SimpleNamespace(samples=read.samples, currents=True, shown=light, unused={})
    monkeypatch.setattr(
        'arm_tools.commands.identified_drives.torque_scales',
        lambda *_: TorqueScales(SCALES, 0.01 * SCALES, np.ones(6, dtype=bool), np.zeros(84)),
    )
    regressor = SimpleNamespace(model=model)
    known = SimpleNamespace(payload=False)
    found = scales_of(TorqueScaleOptions(), regressor, read, known, None)
    np.testing.assert_array_equal(found.shown, light)


def test_presets_and_columns_say_what_efforts_are(files, tmp_path):
    model, folder = files
    file = folder / 'bare.npz'
    found = inspected(file, model, efforts=EffortsAre(preset='ur'))
    assert found.currents
    assert any(x.startswith('preset ur: motor currents in A') for x in found.lines)
    assert not inspected(file, model, efforts=EffortsAre('torque', preset='ur')).currents
    found = inspected(folder / 'sim.npz', model, efforts=EffortsAre(preset='franka'))
    assert not found.open
    assert 'gravity: included, as --gravity says' in found.lines
    with pytest.raises(ArmError, match='nothing of the arm can be identified; record tau_J'):
        inspected(file, model, efforts=EffortsAre(preset='franka_external'))
    with pytest.raises(ArmError, match="preset is 'UR'; allowed: '', ur, "):
        inspected(file, model, efforts=EffortsAre(preset='UR'))
    archive = np.load(file)
    for name, currents in (('actual_current', True), ('actual_current_as_torque', False)):
        names = [f'{x}_{k}' for x in ('actual_q', name) for k in range(6)]
        effort = archive['effort'] / (1.0 if currents else SCALES)
        rows = np.column_stack([archive['t'], archive['q'], effort])
        header = ' '.join(['timestamp', *names])
        np.savetxt(tmp_path / 'x.csv', rows, header=header, comments='')
        found = inspected(tmp_path / 'x.csv', model)
        assert found.currents is currents
        assert not found.open
