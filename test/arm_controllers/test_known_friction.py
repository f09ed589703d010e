"""Friction answered by the reference's velocity: what is added, what it is worth, no chatter."""

from dataclasses import replace

import numpy as np
import pytest
from experiment_parts import law_for, measures_of
from running_law import RunningLaw
from scripts import load_script

from arm_controllers.adapted_law import adapted_law
from arm_controllers.known_friction import FRICTION_VELOCITIES, REVERSAL
from arm_controllers.laws import law_class
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.commands.compare_controllers import main as compare
from arm_lab.experiments.drawn_arms import measure_batch
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.over_topics import experiment_of, launch_arguments
from arm_lab.experiments.ranges import Draw
from arm_sim.devices import SensorParameters
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import measure, track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, PlantParameters
from arm_sim.tasks import make_task

STUDY, UR5E = load_script('benchmarks/identification.py'), Robot.load('ur5e')
ROBOT = Robot.load('planar_3r')
WITH_FRICTION = replace(
    ROBOT, model=with_error(ROBOT.model, ModelError(friction=(2.0, 1.5, 0.5), damping=(0.3,)))
)
PLANT = PlantParameters(actuator='torque', timestep=1e-3)


def run(friction, name):
    law = law_for(name, WITH_FRICTION, friction_velocity=friction)
    task = make_task('sinusoid', WITH_FRICTION)
    record = task.run(law, MujocoPlant(WITH_FRICTION.model, PLANT))
    return measure(record, track(WITH_FRICTION.model, record))


def test_full_friction_is_added_where_the_reference_moves_and_none_where_it_is_at_rest():
    model, cls = WITH_FRICTION.model, law_class('computed_torque')
    law = RunningLaw(adapted_law(cls, model, cls.Parameters(), 'reference'))
    smooth = RunningLaw(cls(with_error(model, ModelError(friction=(0.0,))), cls.Parameters()))
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 3))
    reference = Reference(3)
    reference.q[:], reference.v[:] = q + 0.01, (0.3, 0.0, -0.5 * REVERSAL)
    before = reference.copy()
    added = law(q, v, reference, 1e-3) - smooth(q, v, reference, 1e-3)
    np.testing.assert_allclose(added, (2.0, 0.0, -0.25), atol=1e-12)
    np.testing.assert_array_equal(reference.row, before.row)


def test_the_cube_under_friction_is_drawn_more_than_twenty_times_better():
    plant = STUDY.other_arm(UR5E.model, seed=1)
    exact = replace(UR5E, model=plant)
    measured = STUDY.cube_error(exact, plant)
    for engine in RIGID_BODY_ENGINES:
        assert STUDY.cube_error(exact, plant, engine, 'reference') < 0.05 * measured


def test_an_observer_does_not_answer_it_twice():
    measured, wanted = (run(f, 'momentum_observer')
                        for f in ('measured', 'reference'))  # fmt: skip
    assert wanted.tracking_rms_mm < measured.tracking_rms_mm


def test_a_batch_answers_friction_as_one_arm_does(tmp_path):
    file = tmp_path / 'friction.yaml'
    file.write_text('/**: {ros__parameters: {friction: [2.0, 1.5, 0.5]}}')
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque', config=str(file))
    cases = [replace(case, friction_velocity=each) for each in FRICTION_VELOCITIES]
    exact = Draw(ModelError(), 0, SensorParameters())
    batches = [measure_batch(each.load(), [each.law], [exact]) for each in cases]
    (measured, wanted) = (next(each)[0, 0] for each in batches)
    np.testing.assert_allclose(wanted, measures_of(cases[1]).tracking_rms_mm, rtol=1e-9)
    assert wanted < 0.9 * measured


def test_a_comparison_over_topics_passes_it_to_the_nodes():
    case = Experiment('planar_3r', 'sinusoid', 'pd', friction_velocity='reference')
    assert experiment_of(launch_arguments(case), ROBOT, {}).experiment == case


def test_a_comparison_takes_laws_that_command_effort(tmp_path, capsys):
    asked = ['--robots', 'planar_3r', '--friction-velocity', 'reference', '--laws', 'servo']
    assert compare([*asked, '--output-dir', str(tmp_path)]) == 1
    refusal = "law (friction_velocity reference, reference_motion continuous) is 'servo'; allowed:"
    assert refusal in capsys.readouterr().err


def test_laws_that_command_no_effort_are_refused():
    servo = law_class('servo')
    with pytest.raises(ArmError, match="friction_velocity is 'reference'; that is for laws that"):
        adapted_law(servo, ROBOT.model, servo.Parameters(), 'reference')
