"""A policy from an ONNX file: its equation, its bits for many arms, its derivatives, refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from optional import optional
from policies import layers_of, policy_file
from scipy.interpolate import CubicSpline

from arm_controllers.latency import latency_of
from arm_controllers.laws import law_class
from arm_controllers.laws.policy import Policy, PolicyParameters
from arm_controllers.measurement import Measurement
from arm_controllers.policy_file import PolicyFile
from arm_controllers.policy_layout import PolicyLayout
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_together
from arm_lab.experiments.ranges import Ranges
from arm_lab.tuning.linear_law import WARM_UP, linear_law
from arm_sim.loop.measures import rms, track
from arm_sim.robot import Robot

MODEL, DT = Robot.load('planar_3r').model, 1e-3


def law_of(file, model=MODEL):
    return Policy(model, PolicyParameters(policy=file))


def command_of(file, model, period):
    law, (measured, reference) = law_of(file, model), moving()
    return law(law.start(measured, reference), measured, reference, period)


def moving(arms=()):
    rng, reference = np.random.default_rng(1), Reference(3, arms)
    reference.row[:] = rng.normal(size=reference.row.shape)
    reference.effort[:] = 0.0
    q = reference.q + 0.01 * rng.normal(size=(*arms, 3))
    return Measurement(q, rng.normal(size=(*arms, 3))), reference


def test_the_command_is_the_law_plus_the_scaled_answer_of_the_network(tmp_path):
    file, layout = policy_file(tmp_path / 'p.onnx')
    law, (measured, reference) = law_of(file), moving()
    kind = law_class('computed_torque')
    base = kind(MODEL, kind.Parameters(**layout.parameters))((), measured, reference, DT)[0]
    state, (q, v) = law.start(measured, reference), measured[:2]
    integral, last = np.zeros(3), np.zeros(3)
    for _ in range(3):
        e = reference.q - q
        seen = [100 * e, 10 * (reference.v - v), 1000 * integral, reference.q, reference.v]
        x = np.clip(np.concatenate([*seen, 0.1 * reference.a, last]), -10.0, 10.0)
        for w, b in layers_of(layout):
            x = np.tanh(x @ w + b)
        command, state = law(state, measured, reference, DT)
        assert_allclose(command, base + np.array(layout.scale) * x, atol=1e-12)
        integral, last = np.clip(integral + DT * e, -0.01, 0.01), x
    assert np.abs(command - base).max() > 0.1


@pytest.mark.parametrize('exact', [True, False])
def test_an_arm_of_many_gets_the_bits_of_the_arm_alone(tmp_path, exact):
    file, layout = policy_file(tmp_path / 'p.onnx', exact)
    run = PolicyFile(file)
    observations = np.random.default_rng(0).normal(size=(5, 7, layout.size))
    many = run(observations)
    assert many.shape == (5, 7, 3)
    for index in np.ndindex(5, 7):
        assert_array_equal(run(observations[index]), many[index])
    law, (measured, reference) = law_of(file, BatchModel(MODEL)), moving((4,))
    commands, _ = law(law.start(measured, reference), measured, reference, DT)
    for k in range(4):
        one = Reference(3)
        one.row[:] = reference.row[k]
        own = Measurement(measured.q[k], measured.v[k])
        alone, _ = law(law.start(own, one), own, one, DT)
        assert_array_equal(commands[k], alone)


@pytest.mark.parametrize(('exact', 'tolerance'), [(True, 1e-6), (False, 1e-2)])
def test_margins_see_the_derivatives_of_the_network(tmp_path, exact, tolerance):
    layout = policy_file(tmp_path / 'p.onnx')[1]
    w = 0.02 * np.random.default_rng(2).normal(size=(layout.size, 3))
    file, _ = policy_file(tmp_path / 'q.onnx', exact, [(w, np.zeros(3))])

    def reference(t, reference):
        reference.row[:] = 0.0

    kind, scale = law_class('computed_torque'), np.array(layout.scale)
    base = linear_law(kind(MODEL, kind.Parameters(**layout.parameters)), reference, WARM_UP, DT)
    found = linear_law(law_of(file), reference, WARM_UP, DT)
    position, velocity = -100.0 * w[:3].T, -10.0 * w[3:6].T
    expected = base.d + scale[:, np.newaxis] * np.hstack([position, velocity])
    assert_allclose(found.d, expected, atol=tolerance * np.abs(expected).max())
    memory = scale[:, np.newaxis] * np.hstack([1000.0 * w[6:9].T, w[18:].T])
    assert_allclose(found.c, memory, atol=tolerance * np.abs(memory).max())


@pytest.mark.slow
def test_a_monte_carlo_runs_a_policy_as_a_batch_or_one_by_one(tmp_path):
    file, _ = policy_file(tmp_path / 'p.onnx')
    case = Experiment('planar_3r', 'sinusoid', f'policy:{file}', ranges=Ranges(friction=0.0))
    together = run_together(case, (case.law, 'computed_torque'), range(2))
    assert (np.abs(together[0, 0] / together[1, 0] - 1.0) > 0.1).all()
    loaded = case.load()
    for k in range(2):
        record = loaded.on(case.ranges.draw(loaded.robot.model, 0, k)).run()
        error = track(loaded.robot.model, record).error
        assert_allclose(together[0, 0, k], 1e3 * rms(error), rtol=1e-6)


@pytest.mark.parametrize('latency', ['0', '0.002', '0.0015..0.0045'])
def test_a_slow_policy_acts_on_its_last_chunk_that_has_arrived(tmp_path, latency):
    rng, chunk = np.random.default_rng(5), 4
    layout = policy_file(tmp_path / 'p.onnx')[1]
    w = 0.05 * rng.normal(size=(layout.size, 3 * chunk))
    file, _ = policy_file(tmp_path / 'q.onnx', True, [(w, np.zeros(3 * chunk))], chunk)
    law = Policy(BatchModel(MODEL), PolicyParameters(file, latency, latency_seed=2, execute=3))
    kind = law_class('computed_torque')
    base = kind(BatchModel(MODEL), kind.Parameters(**layout.parameters))
    seen, arrivals, begun = [], {}, 0
    for k in range(20):
        measured, reference = moving((2,))
        measured.q[:] += 1e-3 * rng.normal(size=(2, 3))
        if k == 0:
            state, memory = law.start(measured, reference), layout.start(measured)
        seen.append(layout.observe(law.model, memory, measured, reference))
        free = not arrivals or max(arrivals) <= k
        if free and k >= begun + 3 * bool(arrivals):
            late = latency_of(latency)(2, len(arrivals))
            assert latency != '0.002' or late == 0.002
            begun, arrival = k, k + int(np.ceil(late / DT - 1e-9))
            arrivals[arrival] = k
        action = np.zeros((2, 3))
        if known := [at for at in arrivals if at <= k]:
            since = arrivals[max(known)]
            part = 3 * min(k - since, chunk - 1)
            action = np.tanh(seen[since] @ w[:, part : part + 3])
        command, state = law(state, measured, reference, DT)
        expected = base((), measured, reference, DT)[0] + np.array(layout.scale) * action
        assert_allclose(command, expected, atol=1e-12)
        memory = layout.remember(law.model, memory, measured, reference, action)
    assert len(arrivals) in ((7,) if latency == '0' else range(4, 8))
    with pytest.raises(ArmError, match='this policy answers late or in chunks'):
        linear_law(Policy(MODEL, law.parameters), lambda t, reference: None, WARM_UP, DT)


@pytest.mark.parametrize('latency', ['0', 0.003, '0.002..0.01'])
def test_a_law_below_follows_positions_on_a_spline_through_what_has_arrived(tmp_path, latency):
    rng, chunk, rate = np.random.default_rng(5), 4, 250.0
    layout = policy_file(tmp_path / 'p.onnx')[1]
    w = 0.05 * rng.normal(size=(layout.size, 3 * chunk))
    layers = [(w, np.zeros(3 * chunk))]
    file, _ = policy_file(tmp_path / 'q.onnx', True, layers, chunk, rate)
    law = Policy(BatchModel(MODEL), PolicyParameters(file, latency, latency_seed=2, execute=6))
    kind = law_class('computed_torque')
    base = kind(BatchModel(MODEL), kind.Parameters(**layout.parameters))
    chunks, arrival, begun, joins = 0, None, -6, []
    points, own = None, Reference(3, (2,))

    def at(t):
        """Position, velocity, acceleration of the last spline, or of rest after its end."""
        if t < times[-1]:
            return np.array([spline(t, order) for order in range(3)])
        return np.array([rest, 0.0 * rest, 0.0 * rest])

    for k in range(60):
        measured, reference = moving((2,))
        measured.q[:] += 1e-3 * rng.normal(size=(2, 3))
        if k == 0:
            ends = [reference.q, reference.q + reference.v / rate / 2]  # brakes until then
            times, rest = [0.0, 1.0 / rate], ends[1]
            spline = CubicSpline(times, ends, bc_type=((1, reference.v), (1, 0.0 * rest)))
            state, memory = law.start(measured, reference), layout.start(measured)
        for _ in range(2):  # what arrives, then what begins and has no latency
            if arrival == k:
                due = begun * DT + np.arange(1, chunk + 1) / rate
                left = due > k * DT + 1e-9
                now, arrival = at(k * DT), None
                knots, times = np.concatenate([now[:1], points[left]]), [k * DT, *due[left]]
                spline = CubicSpline(times, knots, bc_type=((1, now[1]), (1, 0.0 * rest)))
                rest = knots[-1]
                joins.append(k)
            if arrival is None and k - begun >= 6:
                begun, late = k, latency_of(latency)(2, chunks)
                chunks, arrival = chunks + 1, k + int(np.ceil(late / DT - 1e-9))
                seen = layout.observe(law.model, memory, measured, reference)
                points = np.tanh(seen @ w).reshape(2, chunk, 3).swapaxes(0, 1)
        for part, value in zip((own.q, own.v, own.a), at(k * DT), strict=True):
            part[:] = value
        command, state = law(state, measured, reference, DT)
        assert_allclose(command, base((), measured, own, DT)[0], atol=1e-6)
        memory = layout.remember(law.model, memory, measured, reference, own.q)
    assert len(joins) >= 5
    with pytest.raises(ArmError, match='this policy answers late or in chunks'):
        linear_law(Policy(MODEL, law.parameters), lambda t, reference: None, WARM_UP, DT)


@pytest.mark.slow
def test_a_latency_from_the_call_or_a_file_has_the_same_bits_for_one_seed(tmp_path):
    file, _ = policy_file(tmp_path / 'p.onnx')
    slow = tmp_path / 'slow.yaml'
    slow.write_text(
        "policy_controller: {ros__parameters: {latency: '0.01..0.03', latency_seed: 1}}"
    )
    number = tmp_path / 'number.yaml'
    number.write_text('policy_controller: {ros__parameters: {latency: 0.01}}')
    case = Experiment('planar_3r', 'sinusoid', f'policy:{file}', frequency=2.0)

    def checksum(case):
        return case.load().run().checksum()

    drawn = replace(case, latency='0.01..0.03')
    sums = [checksum(each) for each in (case, drawn, replace(drawn, latency_seed=1))]
    assert len(set(sums)) == 3
    assert checksum(replace(case, config=str(slow))) == sums[2]
    fixed = checksum(replace(case, latency='0.01'))
    assert fixed == checksum(replace(case, latency=0.01))
    assert fixed == checksum(replace(case, config=str(number)))
    with pytest.raises(ArmError, match="latency is for law 'policy'"):
        _ = replace(drawn, law='pd').load().law_parameters


def graph_of(nodes, inputs, outputs, path, layout):
    optional('onnx', 'onnx>=1.17')
    import onnx
    from onnx import helper

    def tensors(shapes):
        kind = onnx.TensorProto.FLOAT
        return [helper.make_tensor_value_info(name, kind, x) for name, x in shapes.items()]

    graph = helper.make_graph(nodes(helper), 'g', tensors(inputs), tensors(outputs))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    helper.set_model_props(model, {'arm_sim': layout.text()})
    onnx.save(model, str(path))
    return str(path)


@pytest.mark.parametrize(
    ('inputs', 'output', 'says'),
    [
        ({'x': [21]}, [3], r'an input \[21\] and an output \[3\]; .* with an axis of rows'),
        ({'x': ['n', 21], 'h': ['n', 8]}, ['n', 3], '1 inputs besides .* and 0 outputs'),
        ({'x': [4_000_000_000, 21]}, [4_000_000_000, 3], 'allowed: at most 10000'),
    ],
)
def test_a_graph_of_another_shape_is_refused_in_one_line(tmp_path, inputs, output, says):
    _, layout = policy_file(tmp_path / 'p.onnx')

    def nodes(helper):
        first = helper.make_node('Constant', [], ['i'], value_ints=[0, 1, 2])
        return [first, helper.make_node('Gather', ['x', 'i'], ['y'], axis=len(output) - 1)]

    path = graph_of(nodes, inputs, {'y': output}, tmp_path / 'q.onnx', layout)
    with pytest.raises(ArmError, match=says) as error:
        PolicyFile(path)
    assert '\n' not in str(error.value)


def test_files_that_do_not_fit_are_refused_in_one_line(tmp_path):
    import onnx

    file, layout = policy_file(tmp_path / 'p.onnx')
    other, text = tmp_path / 'other.onnx', layout.text()

    def refused(pattern, text=text, model=MODEL, period=DT):
        found = onnx.load(file)
        del found.metadata_props[:]
        if text:
            entry = found.metadata_props.add()
            entry.key, entry.value = 'arm_sim', text
        onnx.save(found, str(other))
        with pytest.raises(ArmError, match=pattern) as error:
            command_of(str(other), model, period)
        assert '\n' not in str(error.value)

    refused('has a control period of 0.001 s; the controller has 0.002 s', period=2e-3)
    refused('is for the joints joint_1, .*; the arm has shoulder', model=Robot.load('ur5e').model)
    refused("has no metadata 'arm_sim'", '')
    refused('is no policy layout', '[]')
    refused('is no policy layout', text.replace('"scale"', '"scales"'))
    refused('layout version 7; this release reads 1', text.replace('"version": 1', '"version": 7'))
    refused('takes 21 .* its layout has 27 and 3', replace(layout, wrench=True).text())
    refused('is no policy layout', text.replace('"rate": 0.0', '"rate": "fast"'))
    refused('rate is -1; it must be finite, >= 0', text.replace('"rate": 0.0', '"rate": -1'))
    refused('does not command effort', text.replace('computed_torque', 'servo'))

    def changed(**values):
        return json.dumps(json.loads(text) | values)

    refused('parameters is None in its metadata', changed(parameters=None))
    refused(r'period is \[\] in its metadata', changed(period=[]))
    refused('period is 0; it must be finite, >= 1e-06', changed(period=0.0))
    refused(r'scale is \[\]; it must be a finite number for each of its 3', changed(scale=[]))
    refused('law is 7 in its metadata', changed(law=7))
    refused('no policy layout', '[' * 100_000)
    for path, reason in (
        ('', 'needs its file'),
        (str(tmp_path / 'none.onnx'), 'there is no such file'),
        (__file__, 'is no ONNX file'),
    ):
        with pytest.raises(ArmError, match=reason):
            PolicyFile(path)
    assert PolicyLayout.of_text(text, '').text() == text
    with pytest.raises(ArmError, match='pd has no variants'):
        _ = Experiment('planar_3r', 'step', 'pd:x').load().law_parameters


@pytest.mark.parametrize('name', ['version', 'scale', 'period', 'rate'])
@pytest.mark.parametrize('digits', [20, 400, 5000])
def test_a_number_of_a_layout_that_is_too_large_is_refused_in_one_line(name, digits):
    layout = PolicyLayout(('a',), 'pd', {}, (1.0,), 0.002)
    value = f'[1{"0" * digits}]' if name == 'scale' else f'1{"0" * digits}'
    text = json.dumps(json.loads(layout.text()) | {name: 'HERE'}).replace('"HERE"', value)
    if (name, digits) == ('scale', 20):  # a large torque
        assert PolicyLayout.of_text(text, 'policy').scale == (1e20,)
        return
    with pytest.raises(ArmError, match=f'^policy: .*{name}'):
        PolicyLayout.of_text(text, 'policy')


def network(path, layout, nodes, answer=('action', 11, None)):
    """Write an ONNX file of nodes (operator, inputs, outputs, attributes); return its path."""
    import onnx
    from onnx import helper

    from arm_lab.gym.export import add_layout

    rng, n = np.random.default_rng(1), len(layout.joint_names)
    weights = onnx.numpy_helper.from_array(0.05 * rng.normal(size=(layout.size, n)), 'W')
    made = [helper.make_node(*each[:3], **(each[3:] or ({},))[0]) for each in nodes]
    name, kind, shape = answer
    given = [helper.make_tensor_value_info('x', 11, ['rows', layout.size])]
    answers = [helper.make_tensor_value_info(name, kind, shape or ['rows', n])]
    graph = helper.make_graph(made, 'policy', given, answers, [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    add_layout(model, layout)
    onnx.save(model, str(path))
    return str(path)


MEAN = ('ReduceMean', ['x'], ['mean'], {'axes': [0], 'keepdims': 1})


@pytest.mark.parametrize(
    ('nodes', 'kind', 'words'),
    [
        (
            [MEAN, ('MatMul', ['mean', 'W'], ['action'])],
            11,
            r'gives actions of shape \(1, 3\) for 16 observations; they must be \(16, 3\)$',
        ),
        (
            [
                MEAN,
                ('Sub', ['x', 'mean'], ['centred']),
                ('MatMul', ['centred', 'W'], ['action']),
            ],
            11,
            'gives the actions .* for the same observation; they must be equal',
        ),
        (
            [
                ('MatMul', ['x', 'W'], ['y']),
                ('RandomNormalLike', ['y'], ['noise'], {'scale': 0.1}),
                ('Add', ['y', 'noise'], ['action']),
            ],
            11,
            'gives the actions .* for the same observation; they must be equal',
        ),
        (
            [('MatMul', ['x', 'W'], ['y']), ('Cast', ['y'], ['action'], {'to': 7})],
            7,
            r'gives actions of type tensor\(int64\); allowed: tensor\(float\), tensor\(double\)$',
        ),
    ],
)
def test_actions_that_are_none_of_an_observation_alone_are_refused(tmp_path, nodes, kind, words):
    _, layout = policy_file(tmp_path / 'other.onnx')
    file = network(tmp_path / 'p.onnx', layout, nodes, ('action', kind, None))
    with pytest.raises(ArmError, match=rf"^policy '.*p\.onnx' {words}"):
        PolicyFile(file)


def test_an_infinite_action_is_none(tmp_path):
    _, layout = policy_file(tmp_path / 'other.onnx')
    nodes = [
        ('MatMul', ['x', 'W'], ['y']),
        ('Mul', ['y', 'y'], ['z']),
        *[('Mul', ['z'] * 2, ['z1']), ('Mul', ['z1'] * 2, ['z2']), ('Exp', ['z2'], ['action'])],
    ]
    policy = PolicyFile(network(tmp_path / 'p.onnx', layout, nodes))
    assert np.isnan(policy(np.full(layout.size, 1e3))).all()
    np.testing.assert_array_equal(policy(np.zeros(layout.size)), 1.0)


def test_a_file_that_onnxruntime_cannot_read_is_one_line_without_its_sources(tmp_path):
    import onnx

    file, _ = policy_file(tmp_path / 'p.onnx')
    model = onnx.load(file)
    model.ir_version = 99
    onnx.save(model, file)
    with pytest.raises(ArmError, match=r'reads: Unsupported model IR version: 99') as error:
        PolicyFile(file)
    assert '::' not in str(error.value)
