"""A door that is opened along a circle with a wrong radius."""

from dataclasses import replace

import numpy as np
import pytest

from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run


def run_of(law, **given):
    """Return the task, the run, and the numbers of its report."""
    loaded = replace(
        Experiment.of_files('ur5e gripper:=fork', 'open_door', law).load(), given=given
    )
    record = loaded.run()
    run = Run(record, track(loaded.robot.model, record))
    return loaded.task, run, loaded.task.report.results(run)


def test_a_compliant_arm_opens_a_door_whose_radius_it_does_not_know():
    task, run, found = run_of('cartesian_impedance', radius_error=0.015)
    assert found['success']
    assert found['radial_force_max_n'] < 10.0
    # At rest the spring along the radius carries its extension.
    end, stiffness = run.tracking.tip[-1], 600.0
    radius = (end - task.hinge) * (1.0, 1.0, 0.0)
    radius /= np.linalg.norm(radius)
    extension = (run.tracking.reference_tip[-1] - end) @ radius
    assert task.report.radial_force(run)[-1] == pytest.approx(stiffness * extension, rel=0.1)
    # Without friction in the handle, the work is that of the hinge: its friction and damping.
    assert 0.3 < found['work_j'] < 1.0


def test_a_stiff_arm_pulls_at_the_hinge_instead():
    _, _, found = run_of('servo', radius_error=0.015)
    assert not found['success']
    assert found['radial_force_max_n'] > 25.0
