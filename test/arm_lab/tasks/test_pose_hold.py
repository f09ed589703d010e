"""Holding the published pose: its objective, robust gains, and the model-based answer."""

import numpy as np
import pytest
from experiment_parts import imperfect
from five_joint_reference import reference_step
from numpy.testing import assert_allclose
from running_law import RunningLaw

from arm_controllers.laws.motor_computed_torque import (
    MotorComputedTorque,
    MotorComputedTorqueParameters,
)
from arm_controllers.laws.pose_pid import PosePID, PosePIDParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.published.five_joint_arm import LIMIT_DAMPER, LIMIT_SPRING, MOTORS
from arm_lab.tasks.pose_hold import CONTROLLED, PoseHold, PoseHoldParameters
from arm_lab.tasks.pose_hold.objective import (
    PUBLISHED_I,
    PUBLISHED_P,
    TARGET,
    PoseHoldObjective,
    gain_matrix,
    perturbed,
)
from arm_lab.tasks.pose_hold.rollout import BLOW_UP_COST
from arm_sim.engines.analytical import AnalyticalParameters, AnalyticalPlant
from arm_sim.loop.measures import track
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.parameter_files import SHARED, files_of, merged, parameters_of
from arm_sim.pictures import save
from arm_sim.robot import Robot
from arm_sim.tasks import Run

FAR = (1.0, 0.5, -1.5, 1.0, -0.8)


@pytest.fixture(scope='module')
def objective():
    return PoseHoldObjective()


@pytest.fixture(scope='module')
def config():
    return merged(files_of('five_joint_arm'))


@pytest.fixture(scope='module')
def plant(objective, config):
    names = AnalyticalParameters.__dataclass_fields__
    values = parameters_of(config, 'simulator')
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in names}
    return AnalyticalPlant(objective.arm.model, AnalyticalParameters(**values))


def shipped_gains(config, controller):
    parameters = config[controller]
    return np.concatenate([np.array(parameters[k])[CONTROLLED] for k in 'pid' if k in parameters])


class Held:
    """A pose that a law held on a plant in the loop."""

    def __init__(self, plant, law, target, duration):
        model = RobotModel.from_urdf(find_urdf('five_joint_arm'))
        task = PoseHold(
            Robot('arm', model, model.neutral()), PoseHoldParameters(tuple(target), duration)
        )
        record = task.run(law, plant)
        self.cost = task.report.cost(record)
        self.worst_error = np.abs(record.q - target).max(axis=0)


hold = Held


def pid_law(model, gains):
    rows = (tuple(row.tolist()) for row in gain_matrix(gains))
    return PosePID(model, PosePIDParameters(*rows))


@pytest.mark.slow
def test_published_p_gains_give_the_published_objective(objective):
    assert_allclose(objective.cost(PUBLISHED_P), 16.3888758427019, atol=1e-11, rtol=0)


def test_published_pi_gains_give_the_published_objective(objective):
    assert_allclose(
        objective.cost(PUBLISHED_P + PUBLISHED_I), 0.305710199012247, atol=1e-10, rtol=0
    )


@pytest.mark.quick(1)
@pytest.mark.parametrize('gains', [PUBLISHED_P, PUBLISHED_P + PUBLISHED_I])
def test_compiled_objective_equals_the_plain_reference(objective, gains):
    problem = PoseHoldObjective(duration=0.2)
    compiled = problem.cost(gains)
    matrix, target, model = gain_matrix(gains), np.array(TARGET), objective.arm.model
    state, voltage, total = objective.arm.initial_state(TARGET), np.zeros(5), np.zeros(5)
    cost = 0.0
    for _ in range(problem.steps):
        state = reference_step(model, state, voltage, problem.time_step)
        error = target - state[:5]
        cost += np.abs(error[CONTROLLED]).sum()
        total += error
        voltage = matrix[0] * error + matrix[1] * total
    assert_allclose(compiled, cost, atol=1e-10, rtol=0)


def test_batch_on_all_cores_equals_one_by_one_to_the_last_bit(objective):
    batch = np.outer([0.9, 1.0, 1.05], PUBLISHED_P)
    np.testing.assert_array_equal(objective.costs(batch), [objective.cost(g) for g in batch])


def test_a_rollout_that_blows_up_costs_9999999_without_nan(objective):
    assert objective.cost(np.full(3, 1e9)) == BLOW_UP_COST
    assert objective.cost([1e300, -1e300, 1e300]) == BLOW_UP_COST


@pytest.mark.parametrize(
    ('controller', 'most', 'most_off'),
    [('pose_pi_controller', 0.01, 0.015), ('pose_pid_controller', 0.001, 0.0015)],
)
def test_shipped_gains_are_good_and_stay_so_when_10_percent_off(
    objective, config, controller, most, most_off
):
    gains = shipped_gains(config, controller)
    assert objective.cost(gains) <= most
    # All together, each term, and each gain alone, up and down.
    assert objective.costs(perturbed(gains)).max() <= most_off


def test_published_gains_blow_up_when_10_percent_larger(objective):
    assert objective.cost(1.1 * np.array(PUBLISHED_P + PUBLISHED_I)) == BLOW_UP_COST


def test_shipped_p_gains_are_the_published_ones(config):
    assert_allclose(shipped_gains(config, 'pose_p_controller'), PUBLISHED_P, rtol=0)


def test_parameter_file_has_the_motors_and_springs_of_the_forward_model(config):
    common = config[SHARED]
    assert tuple(common['torque_constant']) == MOTORS.torque_constant
    assert tuple(config['simulator']['limit_stiffness']) == LIMIT_SPRING
    assert tuple(config['simulator']['limit_damping']) == LIMIT_DAMPER


@pytest.mark.parametrize('gains', [PUBLISHED_P, PUBLISHED_P + PUBLISHED_I])
def test_law_and_plant_give_the_objective_to_the_last_bit(objective, plant, gains):
    problem = PoseHoldObjective(duration=0.5)
    run = hold(plant, pid_law(objective.arm.model, gains), TARGET, 0.5)
    assert run.cost == problem.cost(gains)


def test_pid_law_with_d_gives_the_objective_to_the_last_bit(objective, plant, config):
    gains = shipped_gains(config, 'pose_pid_controller')
    run = hold(plant, pid_law(objective.arm.model, gains), TARGET, 0.5)
    assert run.cost == PoseHoldObjective(duration=0.5).cost(gains)


@pytest.mark.parametrize('name', ['pose_p', 'pose_pi', 'pose_pid'])
def test_shipped_gains_blow_up_where_each_command_comes_one_period_late(
    objective, plant, config, name
):
    model = objective.arm.model
    law = pid_law(model, shipped_gains(config, f'{name}_controller'))
    target = np.array([0.0, -1.1, 0.3, 0.0, 0.0])

    def stand(t, reference):
        reference.row[:] = 0.0
        reference.q[:] = target

    start = target + np.array([0.0, 1e-3, 1e-3, 0.0, 1e-3])
    for delay, held in ((0, True), (1, False)):
        late = AnalyticalPlant(model, imperfect(plant.parameters, delay))
        record = run_closed_loop(late, law, stand, 0.1, start=start)
        assert record.completed == held, delay


@pytest.mark.slow
def test_published_pi_blows_up_at_a_far_pose_where_the_model_based_law_holds(
    objective, plant, config
):
    model = objective.arm.model
    published = hold(plant, pid_law(model, PUBLISHED_P + PUBLISHED_I), FAR, 3.0)
    motors = MotorComputedTorqueParameters(torque_constant=MOTORS.torque_constant)
    answer = hold(plant, MotorComputedTorque(model, motors), FAR, 1.0)
    assert published.cost == BLOW_UP_COST
    assert answer.worst_error.max() < 1e-12


@pytest.mark.slow
def test_model_based_law_holds_every_pose_within_the_limits(objective, plant):
    model, rng = objective.arm.model, np.random.default_rng(5)
    motors = MotorComputedTorqueParameters(torque_constant=MOTORS.torque_constant)
    law = MotorComputedTorque(model, motors)
    for _ in range(10):
        run = hold(plant, law, model.random_configuration(rng), 0.1)
        assert run.worst_error.max() < 1e-10


def test_model_based_law_returns_from_a_disturbed_start_as_its_gains_say(objective, plant):
    model = objective.arm.model
    motors = MotorComputedTorqueParameters(torque_constant=MOTORS.torque_constant)
    law = RunningLaw(MotorComputedTorque(model, motors))
    start = np.array(TARGET) + 0.1
    plant.reset(start)
    reference = Reference(5)
    reference.q[:] = TARGET
    for _ in range(2000):
        plant.step(law(plant.q, plant.v, reference, 1e-4))
    # e'' + 40 e' + 400 e = 0 from e = 0.1 at rest: 0.1 (1 + 20 t) exp(-20 t). What remains is
    # that the voltage acts a step late, a fifth of the back-EMF's time constant of r5.
    expected = 0.1 * (1.0 + 20.0 * 0.2) * np.exp(-20.0 * 0.2)
    assert_allclose(plant.q - TARGET, expected, atol=0.1 * 0.02)


@pytest.mark.slow
def test_picture_is_written_also_of_joints_that_never_move(tmp_path):
    model = RobotModel.from_urdf(find_urdf('five_joint_arm'))
    task = PoseHold(Robot('arm', model, model.neutral()), PoseHoldParameters(duration=0.005))
    rows = np.zeros((50, 5))
    q = rows + np.array([0.0, 1e-3, 0.0, 0.0, 1e-9])
    for positions in (q, rows):
        record = Record(1e-4 * np.arange(50), positions, rows, rows, rows, rows, positions[-1])
        facts = dict.fromkeys(('task', 'robot', 'controller', 'engine', 'mode', 'feedforward'), '')
        run = Run(record, track(model, record), facts)
        save(task.report.draw(run, task.report.numbers(run)), tmp_path / 'hold.png')
        assert (tmp_path / 'hold.png').stat().st_size > 1000
        (tmp_path / 'hold.png').unlink()


@pytest.mark.parametrize(
    ('gains', 'says'),
    [
        ([1.0, 2.0], '2 gains given; allowed: 3 .* 6 .* or 9'),
        ([1.0, np.nan, 2.0], 'gain 2 is nan; it must be finite'),
    ],
)
def test_bad_gains_are_refused(objective, gains, says):
    with pytest.raises(ArmError, match=says):
        objective.cost(gains)


def test_bad_targets_and_durations_are_refused():
    with pytest.raises(ArmError, match='target is .* 5 finite angles'):
        PoseHoldObjective(target=(0.0, 1.0))
    with pytest.raises(ArmError, match='duration is -1'):
        PoseHoldObjective(duration=-1.0)
    with pytest.raises(ArmError, match='time step 0.01 s is not stable'):
        PoseHoldObjective(time_step=0.01)
