"""One experiment: gains, motion and drives of the robot's files, alike in every command."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import run

from arm_controllers.discrete_motion import DiscreteMotion
from arm_controllers.known_friction import FrictionOfReference
from arm_dynamics.checks import ArmError
from arm_dynamics.compiled import BatchModel
from arm_dynamics.model_error import ModelError
from arm_lab.commands import learn
from arm_lab.experiments.drawn_arms import measure_batch
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_lab.experiments.ranges import Draw, Ranges
from arm_lab.experiments.sweeps import case_at
from arm_lab.tuning.candidates import Drawn, try_gains
from arm_lab.tuning.margins import margins_of
from arm_sim.devices import SensorParameters
from arm_sim.devices.drive_trains import JointParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.measures import track
from arm_sim.simulation.scene import read_objects

EXACT = Ranges(mass=0.0, friction=0.0, delay=0, position_noise=0.0, velocity_noise=0.0, effort=1.0)
CONTROLLER = 'computed_torque_controller: {ros__parameters: {%s}}'


@pytest.fixture
def written_file(tmp_path):
    """Return a function that writes what a file says to the controller, and returns the file."""

    def write(text):
        file = tmp_path / 'mine.yaml'
        file.write_text(CONTROLLER % text)
        return str(file)

    return write


def of_files(config='', **others):
    return Experiment.of_files(
        'planar_3r', 'sinusoid', 'computed_torque', config=config, ranges=EXACT, **others
    )


def test_objects_of_a_scene_join_those_of_the_task(tmp_path):
    case = Experiment.of_files('ur5e gripper:=probe', 'press', 'hybrid_force_motion')
    plant = replace(case, scene='blocks').load().plants()[0]
    assert set(plant.scene.objects) == {'block', 'light_block', 'heavy_block'}
    assert {each.name for each in plant.scene.shapes} == {'surface', *plant.scene.objects}
    file = tmp_path / 'scene.yaml'
    file.write_text('[{name: surface, size: [0.1, 0.1, 0.1]}]')
    with pytest.raises(ArmError, match="^scene: the name 'surface' is taken by another body$"):
        replace(case, scene=str(file)).load().plants()
    with pytest.raises(ArmError, match='^scene is .*; only engine mujoco has contacts$'):
        replace(case, engine='analytical', scene='blocks').load().plants()


@pytest.mark.slow
def test_a_tuning_follows_the_samples_where_the_robots_file_requires_it(written_file):
    errors = []
    for config in ('', written_file('reference_motion: discrete')):
        experiment = of_files(config, integrator='implicitfast')  # whose steps the motion knows
        gains = experiment.load().law_parameters
        errors.append(try_gains(experiment, (Drawn(0, 1),), [gains])[0, 0, 0])
    assert errors[1] < 1e-3 * errors[0]


def test_a_tuning_answers_friction_as_the_robots_file_says(written_file):
    law = of_files(written_file('friction_velocity: reference')).load().law()
    assert isinstance(law, FrictionOfReference)
    batch = of_files(written_file('friction_velocity: reference')).load()
    assert isinstance(batch.batch_law(BatchModel(batch.robot.model)), FrictionOfReference)


def test_learning_by_repetition_uses_the_motion_of_the_robots_file(written_file, monkeypatch):
    seen = []
    monkeypatch.setattr(learn, 'repeated', lambda task, law, *others: seen.append(law) or ())
    learn.errors_of(of_files(written_file('reference_motion: discrete')), passes=1, cutoff=0.0)
    assert isinstance(seen[0], DiscreteMotion)


def test_a_word_of_the_experiment_is_stronger_than_the_file(written_file):
    file = written_file('reference_motion: discrete')
    law = of_files(file, reference_motion='continuous').load().law()
    assert not isinstance(law, DiscreteMotion)


def test_a_designed_law_knows_nothing_of_the_controllers_file(written_file):
    experiment = replace(
        of_files(written_file('reference_motion: discrete')), natural_frequency=20.0
    )
    assert not isinstance(experiment.load().law(), DiscreteMotion)


def test_delays_of_the_file_and_of_the_experiment_add_up(tmp_path):
    file = tmp_path / 'late.yaml'
    file.write_text(
        'simulator: {ros__parameters: {command_delay: 2, sensors.position_noise: 1e-4}}'
    )
    late = of_files(str(file), drives=DriveParameters(command_delay=1))
    parameters = late.load().plant_parameters()
    assert parameters.command_delay == 3
    assert parameters.position_noise == 1e-4


def test_a_servo_and_its_drives_have_one_set_of_gains():
    own = Experiment('planar_3r', 'sinusoid', 'servo', natural_frequency=33.0).load()
    law, plant = own.law_parameters, own.plant_parameters()
    assert (law.servo_kp, law.servo_kd) == (plant.servo_kp, plant.servo_kd)


def test_an_error_of_the_arm_is_not_known_to_the_law():
    exact = run(Experiment('planar_3r', 'sinusoid', 'computed_torque'))
    heavy = run(replace(exact.experiment, error=ModelError(mass_scale=(1.3,))))
    assert heavy.measures.tracking_rms_mm > 5.0 * exact.measures.tracking_rms_mm


def test_what_a_batch_cannot_run_is_refused():
    voltage = Experiment.of_files('five_joint_arm', 'pose_hold', 'pose_p')
    with pytest.raises(ArmError, match="law 'pose_p' commands voltages"):
        try_gains(voltage, (Drawn(0, 1),), [None])


@pytest.mark.slow
def test_a_loop_repeats_its_noise_by_its_seed():
    noisy = SensorParameters(position_noise=1e-4, sensor_seed=3)
    own = Experiment('planar_3r', 'step', 'pd', sensors=noisy).load()
    plant, law = own.plants()[0], own.law()
    runs = [own.task.run(law, plant, seed=seed).q for seed in (None, 3, 4)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


UNUSUAL = {
    'error': ModelError(payload=0.5, com_shift=(0.0, 0.01, 0.0)),
    'sensors': SensorParameters(position_bias=(1e-3,), sensor_delay=2, dropout=0.1),
}


def test_a_drawn_arm_keeps_everything_of_the_experiment_that_is_not_drawn():
    own = Experiment('planar_3r', 'sinusoid', 'pd', drives=DriveParameters(command_jitter=1))
    own = replace(own, **UNUSUAL)
    draw = own.ranges.draw(own.load().robot.model, 0, 3)
    drawn = own.drawn(draw)
    noise = {name: getattr(draw.sensors, name) for name in ('position_noise', 'velocity_noise')}
    seed = draw.sensors.sensor_seed
    assert drawn.sensors == replace(own.sensors, **noise, sensor_seed=seed)
    parts = {x: getattr(draw.error, x) for x in ('mass_scale', 'friction', 'effort_scale')}
    assert drawn.error == replace(own.error, **parts)
    assert drawn.drives == DriveParameters(command_delay=draw.delay, command_jitter=1)
    nothing = Draw(ModelError(), 0, SensorParameters())
    assert own.drawn(nothing) == own


@pytest.mark.quick(1)
@pytest.mark.parametrize('name', UNUSUAL)
def test_a_monte_carlo_runs_arms_with_the_error_and_the_sensors_of_the_experiment(name):
    plain = Experiment('planar_3r', 'sinusoid', 'computed_torque', ranges=EXACT)
    unusual = replace(plain, **{name: UNUSUAL[name]})
    expected = run(unusual).measures.tracking_rms_mm
    assert expected > 10.0 * run(plain).measures.tracking_rms_mm
    if name == 'sensors':  # the draw has a seed of its own for the dropouts
        unusual = replace(unusual, sensors=replace(unusual.sensors, dropout=0.0))
        expected = run(unusual).measures.tracking_rms_mm
    [spread] = run_monte_carlo(unusual, ['computed_torque'], 2)
    np.testing.assert_allclose(spread.errors, expected, rtol=1e-6)


@pytest.mark.slow
def test_arms_press_on_surfaces_of_their_own_material_together_and_alone():
    ranges = replace(EXACT, stiffness=10.0, grip=0.5)
    case = Experiment.of_files('ur5e gripper:=probe', 'press', 'hybrid_force_motion')
    loaded = replace(case, ranges=ranges).load()
    draws = [ranges.draw(loaded.robot.model, 0, k) for k in range(3)]
    (own,) = read_objects(loaded.task.simulator['objects'])
    found = [read_objects(loaded.on(each).plant_parameters().objects)[0] for each in draws]
    for each, one in zip(draws, found, strict=True):
        assert 0.1 < each.stiffness < 10.0
        assert 0.5 < each.grip < 1.5
        assert one == replace(
            own, stiffness=each.stiffness * own.stiffness, friction=each.grip * own.friction
        )
    assert len({one.stiffness for one in found}) == 3
    (together,) = measure_batch(loaded, ['hybrid_force_motion'], draws)
    alone = []
    for one in map(loaded.on, draws):
        record = one.run()
        alone.append(loaded.task.report.measure(record, one.track(record))['force_rms_n'])
    np.testing.assert_allclose(together[2], alone, rtol=1e-6)
    assert np.ptp(alone) > 0.1 * max(alone)


def test_a_material_is_drawn_of_tasks_with_objects_only():
    case = Experiment('planar_3r', 'sinusoid', 'pd', ranges=replace(EXACT, stiffness=2.0))
    with pytest.raises(ArmError, match='for tasks that bring objects, such as press'):
        run_monte_carlo(case, ['pd'], 1)


@pytest.mark.slow
def test_margins_are_those_of_the_arm_with_the_error_of_the_experiment():
    light = Experiment('planar_3r', 'sinusoid', 'computed_torque')
    heavy = replace(light, error=ModelError(mass_scale=(2.0,)))
    np.testing.assert_allclose(
        margins_of(heavy).over[:9, 0], margins_of(light).over[4:13, 0], rtol=1e-6
    )


def test_a_sweep_varies_one_number_and_keeps_the_others():
    own = Experiment('planar_3r', 'step', 'pd', drives=DriveParameters(command_jitter=1))
    own = replace(own, **UNUSUAL)
    heavy = case_at('mass_scale', 1.2, own)
    assert heavy == replace(own, error=replace(own.error, mass_scale=(1.2,)))
    late = case_at('command_delay', 3.0, own)
    assert late.drives == DriveParameters(command_delay=3, command_jitter=1)
    played = case_at('backlash', 1e-3, replace(own, joints=JointParameters(encoders='link')))
    assert (played.joints.backlash, played.joints.encoders) == ((1e-3,), 'link')
    coarse = case_at('encoder_resolution', 1e-4, own)
    assert coarse.sensors == replace(own.sensors, encoder_resolution=(1e-4,))
    compensated = case_at('compensation_scale', 0.9, own).drives
    assert (compensated.command_jitter, compensated.compensation_scale) == (1, 0.9)


def test_a_link_2_mm_longer_than_believed_moves_the_true_tip_by_2_mm():
    error = ModelError(length_scale=(1.0, 1.002, 1.0))  # of the first link, which is 1 m long
    result = run(Experiment('planar_3r', 'sinusoid', 'computed_torque', error=error))
    believed = track(result.experiment.load().robot.model, result.record)
    assert believed.error.max() < 1e-3
    np.testing.assert_allclose(result.tracking.error, 2e-3, atol=believed.error.max())


@pytest.mark.slow
def test_a_batch_refuses_an_error_of_geometry():
    loaded = Experiment('ur5e', 'sinusoid', 'pd', error=ModelError(length_scale=(1.01,))).load()
    with pytest.raises(ArmError, match='length_scale: many arms'):
        loaded.batch([Draw(ModelError(), 0, SensorParameters())])


@pytest.mark.parametrize('timestep', [0.0, 0.001, 0.004])  # 0.0: that of the robot's files
def test_a_law_that_knows_the_step_is_given_that_of_the_plant(timestep):
    case = Experiment(
        'planar_3r', 'sinusoid', 'servo:discrete', timestep=timestep, integrator='implicitfast'
    )
    # Along one step per period the error is rounding; with the step of another plant it is 1e-4.
    assert run(case).measures.joint_rms_rad < 1e-12


def test_a_law_has_the_steps_and_the_delay_of_the_plant_whose_files_are_not_used(tmp_path):
    file = tmp_path / 'late.yaml'
    file.write_text(
        '/**: {ros__parameters: {control_decimation: 4}}\n'
        'simulator: {ros__parameters: {command_delay: 2}}\n'
    )

    def laws_of(law, **options):
        return Experiment('planar_3r', 'step', law, config=str(file), **options).load()

    plain = laws_of('servo:discrete', natural_frequency=0.0, timestep=0.001)
    assert plain.law_parameters.control_decimation == plain.plant_parameters().control_decimation
    assert laws_of('servo', timestep=0.0).law_parameters.control_decimation == 4
    drives = DriveParameters(command_delay=1)
    assert laws_of('mpc', drives=drives).law_parameters.delay == 1
    assert laws_of('mpc', drives=drives, timestep=0.0).law_parameters.delay == 3


def test_the_sections_of_a_law_are_those_of_its_variants_and_of_its_names_in_comparisons(tmp_path):
    file = tmp_path / 'laws.yaml'
    guard = '{guard.reaction: stop, guard.threshold: [20.0]}'
    file.write_text(
        'servo_controller: {ros__parameters: {observer_pole: 0.7}}\n'
        f'pd_controller: {{ros__parameters: {guard}}}\n'
    )
    exact = Experiment.of_files('planar_3r', 'step', 'servo:observed', config=str(file))
    assert exact.load().law_parameters.observer_pole == 0.7
    for law in ('pd', 'pd_gravity'):
        assert Experiment('planar_3r', 'step', law, config=str(file)).load().guard.enabled
