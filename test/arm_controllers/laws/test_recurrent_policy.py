"""Recurrent policies: their state is the law's state, alone, in batches and in environments."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from policies import policy_file, recurrent_file, recurrent_weights

from arm_controllers.laws import law_class
from arm_controllers.laws.policy import Policy, PolicyParameters
from arm_controllers.measurement import Measurement
from arm_controllers.policy_file import PolicyFile
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_lab.commands import run
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_together
from arm_lab.experiments.ranges import Ranges
from arm_lab.tuning.linear_law import WARM_UP, linear_law
from arm_sim.loop.measures import rms, track
from arm_sim.robot import Robot

MODEL, DT = Robot.load('planar_3r').model, 1e-3


@pytest.fixture
def layout(tmp_path):
    return policy_file(tmp_path / 'plain.onnx')[1]


def moving(k, arms=()):
    rng, reference = np.random.default_rng(k), Reference(3, arms)
    reference.row[:] = rng.normal(size=reference.row.shape)
    q = reference.q + 0.01 * rng.normal(size=(*arms, 3))
    return Measurement(q, rng.normal(size=(*arms, 3))), reference


def commands(law, arms=(), pick=None, count=4):
    """Return the commands (count, ..., 3) of a law from its start; `pick`: one of many arms."""
    state, found = None, []
    for k in range(count):
        measured, reference = moving(k, arms)
        if pick is not None:
            one = Reference(3)
            one.row[:] = reference.row[pick]
            measured, reference = Measurement(measured.q[pick], measured.v[pick]), one
        state = law.start(measured, reference) if state is None else state
        command, state = law(state, measured, reference, DT)
        found.append(command)
    return np.array(found)


@pytest.mark.parametrize(('rows', 'layers'), [('rows', False), (1, False), ('n', True), (1, True)])
def test_a_recurrent_policy_is_its_network_whose_state_begins_at_zero(
    tmp_path, layout, rows, layers
):
    file = recurrent_file(tmp_path / 'r.onnx', layout, rows, layers)
    law = Policy(MODEL, PolicyParameters(policy=file))
    assert law.file.recurrent
    kind = law_class('computed_torque')
    base = kind(MODEL, kind.Parameters(**layout.parameters))
    w, v, u = recurrent_weights(layout)
    h, memory, expected = np.zeros(5), layout.start(moving(0)[0]), []
    for k in range(4):
        measured, reference = moving(k)
        h = np.tanh(layout.observe(MODEL, memory, measured, reference) @ w + h @ v)
        action = np.tanh(h @ u)
        memory = layout.remember(MODEL, memory, measured, reference, action)
        torque = base((), measured, reference, DT)[0]
        expected.append(torque + np.array(layout.scale) * action)
    assert_allclose(commands(law), expected, atol=1e-12)
    assert_array_equal(commands(law), commands(law))  # a start is a reset


def test_an_arm_of_many_has_its_own_state_and_the_bits_of_the_arm_alone(tmp_path, layout):
    file = recurrent_file(tmp_path / 'r.onnx', layout)
    many = commands(Policy(BatchModel(MODEL), PolicyParameters(policy=file)), (20,))
    for k in (0, 7, 19):
        alone = commands(Policy(BatchModel(MODEL), PolicyParameters(policy=file)), (20,), k)
        assert_array_equal(many[:, k], alone)


def test_the_state_advances_with_each_inference_of_a_slow_policy_alone(tmp_path, layout):
    file = recurrent_file(tmp_path / 'r.onnx', layout)
    law = Policy(MODEL, PolicyParameters(policy=file, execute=2))
    measured, reference = moving(0)
    state, seen = law.start(measured, reference), []
    for k in range(4):
        _, state = law(state, *moving(k), DT)
        seen.append(state[2][0])
    assert_array_equal(seen[0], seen[1])
    assert_array_equal(seen[2], seen[3])
    assert (seen[1] != seen[2]).all()


def test_margins_see_the_state_of_the_network_as_memory(tmp_path, layout):
    """With the linearised observation the state follows h' = (1 - tanh^2) (V h + ...)."""
    law = Policy(MODEL, PolicyParameters(policy=recurrent_file(tmp_path / 'r.onnx', layout)))

    def rest(t, reference):
        reference.row[:] = 0.0

    found = linear_law(law, rest, WARM_UP, DT)
    # At rest h = 0: the memory is integral (3), last action (3) and state (5).
    assert_allclose(found.a[6:, 6:], recurrent_weights(layout)[1].T, atol=1e-6)


@pytest.mark.slow
def test_the_loop_the_batch_and_the_environment_run_it(tmp_path, layout):
    gymnasium = pytest.importorskip('gymnasium')
    import arm_lab.gym  # noqa: F401

    file = recurrent_file(tmp_path / 'r.onnx', layout)
    given = {'robot': 'planar_3r', 'law': 'computed_torque'}
    case = Experiment('planar_3r', 'sinusoid', f'policy:{file}', ranges=Ranges(friction=0.0))
    record = case.load().run()
    assert case.load().run().checksum() == record.checksum()
    env = gymnasium.make('arm_sim/Track-v0', **given)
    policy, states = PolicyFile(file), []
    observation, _ = env.reset(seed=0)
    hidden, ended = policy.start(), False
    while not ended:
        states.append(env.unwrapped.arms.loop.plant.q.copy())
        action, hidden = policy.step(observation, hidden)
        observation, _, lost, over, _ = env.step(action)
        ended = lost or over
    assert_array_equal(states, record.q)
    loaded = case.load()
    together = run_together(case, (case.law,), range(2))
    for k in range(2):
        alone = loaded.on(case.ranges.draw(loaded.robot.model, 0, k)).run()
        error = track(loaded.robot.model, alone).error
        assert_allclose(together[0, 0, k], 1e3 * rms(error), rtol=1e-6)


def renamed(what, shape):
    """Return a change of a graph: another shape of an input or an output."""

    def change(nodes, given, answers):
        (given if what in given else answers)[what] = shape

    return change


def doubled(nodes, given, answers):
    from onnx import helper

    nodes[-1] = helper.make_node('Concat', ['after', 'after'], ['next'], axis=1)
    answers['next'] = ['rows', 10]


def without_next(nodes, given, answers):
    del answers['next']


@pytest.mark.parametrize(
    ('changed', 'says'),
    [
        (without_next, '1 inputs besides the observation and 0 outputs besides the actions'),
        (
            renamed('h', [5]),
            r"further input 'h' \[5\] is followed by the output 'next' .*one axis",
        ),
        (
            doubled,
            r"'h' \['rows', 5\] is followed by the output 'next' \['rows', 10\]: a state needs",
        ),
    ],
)
def test_states_that_do_not_fit_are_refused_in_one_line(tmp_path, layout, changed, says):
    file = recurrent_file(tmp_path / 'r.onnx', layout, changed=changed)
    with pytest.raises(ArmError, match=says) as error:
        PolicyFile(file)
    assert '\n' not in str(error.value)


def test_a_recurrent_policy_is_not_called_without_its_state(tmp_path, layout):
    policy = PolicyFile(recurrent_file(tmp_path / 'r.onnx', layout))
    with pytest.raises(ArmError, match=r'is recurrent: step\(observation, state\)'):
        policy(np.zeros(layout.size))


def test_answers_that_are_not_finite_are_refused_at_the_start(tmp_path, layout):
    def divided(nodes, given, answers):
        from onnx import helper

        nodes[-2] = helper.make_node('Div', ['out', 'out'], ['action'])  # out is 0 for zeros

    file = recurrent_file(tmp_path / 'r.onnx', layout, changed=divided)
    with pytest.raises(ArmError, match='its first actions, of an observation of zeros, are not'):
        PolicyFile(file)


@pytest.mark.slow
def test_a_policy_that_answers_nan_on_the_way_is_one_line_of_run(tmp_path, layout, capsys):
    def root(nodes, given, answers):
        from onnx import helper

        nodes[-2] = helper.make_node('Sqrt', ['out'], ['action'])  # nan below zero

    file = recurrent_file(tmp_path / 'r.onnx', layout, changed=root)
    options = ['--robot', 'planar_3r', '--law', f'policy:{file}', '--output-dir', str(tmp_path)]
    assert run.main(options) == 1
    printed = capsys.readouterr().out
    assert 'designed for' not in printed  # its gains are those of the file
    lines = [x for x in printed.splitlines() if x.startswith('unstable: ')]
    last = np.load(tmp_path / 'record.npz')['t'][-1]
    assert last < 1.0
    assert lines == [
        f'unstable: the run stopped after t = {last:g} s of 2 s, where a command of the law or a '
        'state was no finite number'
    ]
