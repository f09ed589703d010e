"""Many arms in one loop: each is the one-arm loop's, whatever the other arms are."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial

import mujoco.rollout
import numpy as np
import pytest
from experiment_parts import law_for, loaded
from numpy.testing import assert_allclose, assert_array_equal

from arm_controllers.laws import law_class
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.compared_laws import compared_class, compared_laws
from arm_lab.experiments.ranges import Ranges
from arm_sim.devices import SensorParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_measures import BatchMeasures
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.events import Push, pushes_of_each, replacement
from arm_sim.loop.loop import Loop
from arm_sim.loop.measures import measure, track
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters, plant_class
from arm_sim.tasks import make_task

ARMS, DURATION, PERIOD = 19, 0.15, 1e-3
RANGES = Ranges(friction=0.02)
ROBOT = Robot.load('planar_3r')
DRAWS = [RANGES.draw(ROBOT.model, 1, i) for i in range(ARMS)]
ALONE = (0, ARMS - 1)  # that also run in the one-arm loop, which compiles each arm's own code
WRONG = [with_error(ROBOT.model, DRAWS[arm].error) for arm in ALONE]
LOADED = [with_error(ROBOT.model, ModelError(payload=0.1 * k)) for k in range(1, 4)]
TASK = make_task('sinusoid', ROBOT)


def batch_law(name, robot=ROBOT):
    return loaded(robot, name).law(BatchModel(robot.model))


def parameters_of(law, draw=None):
    own = loaded(ROBOT, law)
    return (own.on(draw) if draw else own).plant_parameters()


def batch_plant(law, engine, arms=tuple(range(ARMS)), draws=DRAWS):
    models = [with_error(ROBOT.model, draws[arm].error) for arm in arms]
    return BatchPlant(models, [parameters_of(law, draws[arm]) for arm in arms], engine)


def run_loop(plant, law, observers, events=(), reference=TASK.reference, **others):
    loop = Loop(plant, law, reference, events, **others)
    loop.run(DURATION, observers)
    return loop


def courses(law, engine, arms=tuple(range(ARMS)), **others):
    """Return positions and torques (periods, N, n) of a run, and its measures."""
    rows = []
    measures = BatchMeasures(ROBOT.model, len(arms), PERIOD, others.pop('event', None))

    def keep(step):
        rows.append((step.q.copy(), step.effort.copy()))

    run_loop(batch_plant(law, engine, arms), batch_law(law), [keep, measures], **others)
    return *map(np.array, zip(*rows, strict=True)), measures.results()


courses_of_all = cache(courses)  # of all arms; several tests look at it


def one_arm(law, engine, arm):
    alone = loaded(ROBOT, law, engine=engine).on(DRAWS[arm])
    return run_closed_loop(alone.plants()[0], alone.law(), TASK.reference, DURATION)


@pytest.mark.quick(1)
@pytest.mark.parametrize('engine', ['analytical', 'mujoco'])
@pytest.mark.parametrize('law', compared_laws())
def test_one_arm_of_a_batch_is_the_one_arm_loop(law, engine):
    """All of Ranges is drawn; MuJoCo's solver ends at a tolerance of its own, 1e-8."""
    q, effort, measures = courses_of_all(law, engine)
    tolerance = 1e-12 if engine == 'analytical' else 1e-9
    for arm in ALONE:
        record = one_arm(law, engine, arm)
        assert_allclose(q[:, arm], record.q, rtol=0, atol=tolerance)
        scale = np.abs(record.effort).max()
        assert_allclose(
            effort[:, arm] / scale, record.effort / scale, rtol=0, atol=1e3 * tolerance
        )
        expected = measure(record, track(ROBOT.model, record))
        for name, value in expected.items():
            assert_allclose(measures[name][arm], value, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize('periods', [1, 2])
def test_two_periods_have_measures_and_one_has_none(periods):
    measures = BatchMeasures(ROBOT.model, 2, PERIOD)
    loop = Loop(
        batch_plant('pd_gravity', 'analytical', (0, 1)), batch_law('pd_gravity'), TASK.reference
    )
    loop.run(periods * PERIOD, [measures])
    found = measures.results()
    assert found['completed'].tolist() == [periods == 2] * 2
    assert np.isfinite(found['tracking_rms_mm']).tolist() == [periods == 2] * 2


@pytest.mark.quick(1)
@pytest.mark.parametrize('law', compared_laws())
def test_an_arm_does_not_depend_on_how_many_there_are_nor_on_their_order(law):
    q, effort, _ = courses_of_all(law, 'mujoco')
    order = tuple(np.random.default_rng(0).permutation(ARMS))
    turned_q, turned_effort, _ = courses(law, 'mujoco', order)
    assert_array_equal(turned_q, q[:, order])
    assert_array_equal(turned_effort, effort[:, order])
    alone, *_ = courses(law, 'mujoco', (11,))
    assert_array_equal(alone[:, 0], q[:, 11])


@pytest.mark.slow
def test_batches_in_several_threads_are_those_in_one():
    shares = [tuple(range(k, ARMS, 3)) for k in range(3)]
    q_of_all, *_ = courses_of_all('computed_torque', 'mujoco')
    with ThreadPoolExecutor(3) as pool:
        parts = list(pool.map(partial(courses, 'computed_torque', 'mujoco'), shares))
    for share, (q, *_) in zip(shares, parts, strict=True):
        assert_array_equal(q, q_of_all[:, share])


def test_a_push_and_a_payload_that_drops_are_those_of_one_arm():
    tip = ROBOT.model.tip_frame
    push = Push(tip, (5.0, -3.0, 0.0, 0.0, 0.0, 1.0), 0.02, 0.05)
    parameters = parameters_of('pd')
    for engine, arms in (('analytical', WRONG), ('mujoco', LOADED)):
        rows = []
        bare = BatchPlant([ROBOT.model] * len(arms), parameters, engine)
        run_loop(
            BatchPlant(arms, parameters, engine), batch_law('pd'),
            [lambda step, rows=rows: rows.append(step.q)],
            [*push.events(), replacement(0.08, bare)],
        )  # fmt: skip
        for arm, model in enumerate(arms):
            cls = plant_class(engine)
            events = [*push.events(), replacement(0.08, cls(ROBOT.model, parameters))]
            plant, law = cls(model, parameters), law_for('pd', ROBOT)
            record = run_closed_loop(plant, law, TASK.reference, DURATION, events)
            assert_allclose(np.array(rows)[:, arm], record.q, rtol=0, atol=1e-12)


def test_each_arm_may_have_a_reference_of_its_own():
    def shifted(t, reference):
        one = Reference(3)
        TASK.reference(t, one)
        reference.row[:] = one.row
        reference.q += np.arange(4)[:, np.newaxis] * 0.01

    parameters = parameters_of('computed_torque')
    rows = []
    run_loop(
        BatchPlant([ROBOT.model] * 4, parameters), batch_law('computed_torque'),
        [lambda step: rows.append(step.q)], reference=shifted, per_arm=True,
    )  # fmt: skip

    def third(t, reference):
        TASK.reference(t, reference)
        reference.q += 0.03

    plant, _ = loaded(ROBOT, 'computed_torque', engine='analytical').plants()
    record = run_closed_loop(plant, law_for('computed_torque', ROBOT), third, DURATION)
    assert_allclose(np.array(rows)[:, 3], record.q, rtol=0, atol=1e-12)


def test_an_arm_that_leaves_the_finite_numbers_leaves_the_others_alone():
    wild = SensorParameters(position_noise=1e200, sensor_seed=3)
    draws = [DRAWS[0]._replace(sensors=wild), *DRAWS[1:4]]
    found = []
    for arms in ((0, 1, 2, 3), (1, 2, 3)):
        measures = BatchMeasures(ROBOT.model, len(arms), PERIOD)
        plant = batch_plant('pd', 'analytical', arms, draws)
        loop = run_loop(plant, batch_law('pd'), [measures])
        found.append(measures.results())
        assert_array_equal(loop.alive, [arm != 0 for arm in arms])
    assert not found[0]['completed'][0]
    for name, values in found[0].items():
        assert_array_equal(values[1:], found[1][name], name)


def test_an_arm_beyond_its_position_limits_is_named_where_the_engine_is_mujoco():
    parameters = PlantParameters(actuator='torque', timestep=PERIOD)
    plant = BatchPlant([ROBOT.model] * 2, parameters, 'mujoco')
    plant.reset(np.array([ROBOT.start, ROBOT.model.position_upper + 0.1]))
    plant.step(np.zeros((2, 3)))
    assert_array_equal(plant.beyond, [False, True])


def test_soft_friction_steps_as_mujocos_rollout_does():
    """Torques from rest through stiction and reversals, under a constant load."""
    count, rng = 200, np.random.default_rng(9)
    errors = [ModelError(mass_scale=(s,), friction=tuple(rng.uniform(0.0, 9.0, 3)))
              for s in (0.8, 1.0, 1.2)]  # fmt: skip
    models = [with_error(ROBOT.model, error) for error in errors]
    parameters = PlantParameters(actuator='torque', timestep=PERIOD)
    plant = BatchPlant(models, parameters, 'mujoco')
    plant.reset(ROBOT.start)
    swings = rng.uniform(-20.0, 20.0, (3, 1, 3)) * np.sin(np.arange(count) / 15.0)[:, np.newaxis]
    commands = rng.uniform(-4.0, 4.0, (3, 1, 3)) + swings
    q = np.empty((3, count, 3))
    for k in range(count):
        plant.step(np.ascontiguousarray(commands[:, k]))
        q[:, k] = plant.q
    mj_models = [MujocoPlant(model, parameters).mj_model for model in models]
    data = mujoco.MjData(mj_models[0])
    data.qpos[:] = ROBOT.start
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(mj_models[0], full))
    mujoco.mj_getState(mj_models[0], data, start, full)
    states, _ = mujoco.rollout.rollout(mj_models, data, np.tile(start, (3, 1)), commands)
    assert not plant.beyond.any()
    assert_allclose(q, states[:, :, 1:4], rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    ('models', 'settings', 'message'),
    [
        ([], {}, 'a batch has no arms'),
        (['planar_3r', 'ur5e'], {}, 'arm 1 of a batch has other joints'),
        (
            ['planar_3r'],
            {'integrator': 'velocity_verlet'},
            "integrator of a batch is 'velocity_verlet'; allowed: explicit",
        ),
        (['planar_3r'], {'actuator': 'voltage'}, "actuator of a batch is 'voltage'"),
    ],
)
def test_what_a_batch_cannot_do_is_refused(models, settings, message):
    parameters = replace(PlantParameters(actuator='torque'), **settings)
    with pytest.raises(ArmError, match=message):
        BatchPlant([Robot.load(name).model for name in models], parameters)


def test_a_new_batch_is_at_rest_and_measured():
    plant = BatchPlant([ROBOT.model] * 2, PlantParameters(actuator='torque'))
    assert_array_equal([plant.measured.q, plant.measured.v], np.zeros((2, 2, ROBOT.model.nv)))


def test_a_batch_of_engine_mujoco_has_its_usual_integrator_alone():
    parameters = PlantParameters(actuator='torque', integrator='rk4')
    with pytest.raises(ArmError, match=r"\(engine mujoco\) is 'rk4'; allowed: continuous, impl"):
        BatchPlant([ROBOT.model], parameters, 'mujoco')


GAINS = {  # of three arms, each its own; of every law that has any
    'pd': [{'kp': (k,), 'kd': (0.1 * k,)} for k in (60.0, 90.0, 140.0)],
    'pd_feedforward': [{'kp': (k, 2 * k, k), 'kd': (0.2 * k,)} for k in (60.0, 90.0, 140.0)],
    'computed_torque': [{'kp': (k,), 'kd': (40.0,)} for k in (100.0, 400.0, 900.0)],
    'computed_torque_pid': [{'ki': (k,), 'integral_limit': k} for k in (10.0, 500.0, 2000.0)],
    'momentum_observer': [{'observer_gain': (k, k, 2 * k)} for k in (20.0, 50.0, 90.0)],
    'joint_impedance': [
        {'stiffness': (k, 0.5 * k, k), 'damping_ratio': k / 100.0} for k in (60.0, 90.0, 140.0)
    ],
    'operational_space': [
        {'kp': (k,) * 6, 'posture_kp': k, 'posture_kd': 0.1 * k, 'threshold': 1e-4 * k}
        for k in (60.0, 200.0, 400.0)
    ],
    'independent_joint': [
        {'natural_frequency': (k,), 'damping_ratio': (1.0, 0.8, 1.0), 'integral_rate': 0.2 * k}
        for k in (10.0, 15.0, 20.0)
    ],
    'adaptive_computed_torque': [
        {'slope': (k,), 'damping_rate': k, 'adaptation_gain': k, 'expected_payload': 0.1 * k}
        for k in (5.0, 10.0, 20.0)
    ],
    'servo': [
        {
            'feedforward': 'observed',
            'observer_pole': c,
            'servo_kp': (100 * c,),
            'servo_kd': (20.0,),
        }
        for c in (0.4, 0.6, 0.8)
    ],
}


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', GAINS)
def test_arms_with_gains_of_their_own_are_one_arm_loops_with_these(name):
    """In any order and number, to the last bit; drives and pushes are each arm's own too."""
    cls = law_class(name)
    servo = {'timestep': PERIOD} if name == 'servo' else {}
    # Of a continuous plant the stiffest servo of a batch decides on the steps of all.
    stepped = {'integrator': 'implicitfast'} if servo else {}
    gains = [cls.Parameters(**each, **servo) for each in GAINS[name]]
    models = [WRONG[k % 2] for k in range(3)]
    parameters = parameters_of(name)
    drives = [
        replace(
            parameters if servo else parameters_of(name, DRAWS[k]),  # no delay with a servo
            servo_kp=getattr(each, 'servo_kp', (1.0,)), servo_kd=(20.0,), effort_limits=k < 2,
            **stepped,
        )
        for k, each in enumerate(gains)
    ]  # fmt: skip
    tip = ROBOT.model.tip_frame
    one = Push(tip, (9.0, 5.0, 0, 0, 0, 1), 0.02, 0.06)
    in_parts = Push(tip, (18.0, 5.0, 0, 0, 0, 1), 0.04, 0.06, (1.0, 0.3))
    pushes = [None, one, in_parts]

    def run(arms):
        rows = []
        plant = BatchPlant([models[k] for k in arms], [drives[k] for k in arms])
        law = cls(BatchModel(ROBOT.model), [gains[k] for k in arms])
        events = pushes_of_each([pushes[k] for k in arms], PERIOD)
        run_loop(plant, law, [lambda step: rows.append(step.q)], events)
        return np.array(rows)

    whole = run((0, 1, 2))
    assert np.ptp(whole[-1], axis=0).max() > 1e-6
    assert_array_equal(run((2, 0, 1)), whole[:, [2, 0, 1]])
    assert_array_equal(run((1,)), whole[:, [1]])
    for arm, push in enumerate(pushes):
        record = run_closed_loop(
            AnalyticalPlant(models[arm], drives[arm]), cls(ROBOT.model, gains[arm]),
            TASK.reference, DURATION, push.events() if push else (),
        )  # fmt: skip
        assert_allclose(whole[:, arm], record.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ('name', 'settings', 'message'),
    [
        ('pd', [{}, {'gravity_compensation': False}], 'gravity_compensation differs from arm'),
        ('servo', [{}, {'feedforward': 'gravity'}], 'feedforward differs from arm'),
        ('operational_space', [{}, {'axes': (1.0, 1, 1, 0, 0, 0)}], 'axes differs from arm'),
        ('computed_torque_pid', [{}, {'ki': (9.0, 9e9, 9)}], "ki of joint 'joint_2' is 9e"),
        ('pd', [{'kp': (-1.0,)}, {}], "kp of joint 'joint_1' is -1"),
        ('pd', [], 'are none'),
    ],
)
def test_gains_of_many_arms_that_cannot_be_are_refused(name, settings, message):
    cls = law_class(name)
    with pytest.raises(ArmError, match=message):
        cls(BatchModel(ROBOT.model), [cls.Parameters(**each) for each in settings])


def test_arms_of_a_batch_take_their_steps_together():
    parameters = parameters_of('pd')
    with pytest.raises(ArmError, match='timestep of arm 1 is 0.002; all arms of a batch'):
        BatchPlant([ROBOT.model] * 2, [parameters, replace(parameters, timestep=2e-3)])
    with pytest.raises(ArmError, match='2 arms of a batch have 3 parameters'):
        BatchPlant([ROBOT.model] * 2, [parameters] * 3)


ENCODED = {'encoder_resolution': (1e-4, 3e-4, 1e-5)}
SENSED = [
    {}, ENCODED, {'position_bias': (1e-4,), 'sensor_delay': 2}, {**ENCODED, 'dropout': 0.3},
]  # fmt: skip
DIFFERENT = [
    DriveParameters(),
    DriveParameters(command_delay=2, command_jitter=3, jitter_seed=7),
    DriveParameters(command_jitter=1, effort_rate_limit=(900.0,)),
    DriveParameters(command_delay=1, effort_rate_limit=(300.0, 200.0, 500.0)),
]


@pytest.mark.parametrize('engine', ['analytical', 'mujoco'])
def test_each_arm_of_a_batch_has_the_drives_of_the_one_arm_loop(engine):
    values = PlantParameters(actuator='torque', timestep=PERIOD)
    several = [
        replace(values, **vars(drives), **SENSED[k], position_noise=1e-6, sensor_seed=k)
        for k, drives in enumerate(DIFFERENT)
    ]
    law, q = compared_class('computed_torque_pid'), []
    gains = loaded(ROBOT, 'computed_torque_pid').law_parameters
    others = {'analytical': WRONG, 'mujoco': LOADED[:2]}[engine]
    models = [ROBOT.model, *others, ROBOT.model]
    bare = BatchPlant([ROBOT.model] * 4, values, engine)
    efforts = []

    def keep(step):
        q.append(step.q)
        efforts.append(step.effort.copy())

    plant, together = BatchPlant(models, several, engine), law(BatchModel(ROBOT.model), gains)
    run_loop(plant, together, [keep], [replacement(0.05, bare)])
    make = {'analytical': AnalyticalPlant, 'mujoco': MujocoPlant}[engine]
    for arm, (model, parameters) in enumerate(zip(models, several, strict=True)):
        record = run_closed_loop(
            make(model, parameters), law(ROBOT.model, gains), TASK.reference, DURATION,
            [replacement(0.05, make(ROBOT.model, values))],
        )  # fmt: skip
        assert_allclose(np.array(q)[:, arm], record.q, rtol=0, atol=1e-12)
        # Velocities are differences of positions over a period.
        scale = 1e-12 * np.abs(record.effort).max() / PERIOD
        assert_allclose(np.array(efforts)[:, arm], record.effort, rtol=0, atol=scale)
