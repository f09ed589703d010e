"""Any file in place of a URDF: a working arm, or one line with the file, and within 10 s."""

from random import Random

import numpy as np
import pytest
from arms import _AWKWARD
from urdf_mutations import mutated, what_becomes_of

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

TEXTS = [find_urdf(name).read_text() for name in ('ur5e', 'five_joint_arm')] + [*_AWKWARD.values()]


def use(file):
    """Load an arm, solve for a pose, and let it hold itself in MuJoCo."""
    model = RobotModel(file)
    q, rest = model.neutral(), np.zeros(model.nv)
    result = solve_ik(model, model.forward_kinematics(q), restarts=2)
    model.check_inertia()
    plant = MujocoPlant(model, PlantParameters('torque'))
    check_model(plant, model)
    plant.reset(q)
    tau = model.inverse_dynamics(q, rest, rest)
    for _ in range(5):
        plant.step(tau)
    assert np.isfinite([*result.q, *tau, *plant.q, *plant.v]).all()


@pytest.fixture(scope='module', autouse=True)
def compiled():
    """Compile here what every process would compile again."""
    model = RobotModel(TEXTS[0])
    solve_ik(model, model.forward_kinematics(model.neutral()))


@pytest.mark.filterwarnings('ignore:.*fork.*:DeprecationWarning')
def test_a_file_that_something_went_wrong_with_works_or_is_refused_in_one_line(tmp_path, hostile):
    wrong, worked, count = [], 0, 40 * hostile
    file = tmp_path / 'arm.urdf'
    for seed in range(count):
        random = Random(seed)
        file.write_bytes(mutated(random.choice(TEXTS), random))
        said = what_becomes_of(use, file)
        worked += not said
        if said and (said.startswith('FAILED') or '\n' in said or str(file) not in said):
            wrong.append(f'{seed}: {said}')
    print(f'{count} files: {worked} arms that work, {count - worked - len(wrong)} refused')
    assert wrong == []
    assert 0.1 * count < worked < 0.9 * count  # of either kind enough
