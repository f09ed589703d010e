"""Names of modules that pages named before the move to arm_lab and arm_tools."""

import subprocess
import sys
from importlib import import_module

import pytest

FORMER = {
    'arm_sim.experiments.experiment': 'arm_lab.experiments.experiment',
    'arm_sim.experiments.ranges': 'arm_lab.experiments.ranges',
    'arm_sim.gym': 'arm_lab.gym',
    'arm_sim.gym.arms': 'arm_lab.gym.arms',
    'arm_sim.testing': 'arm_lab.testing',
    'arm_sim.view.camera': 'arm_tools.view.camera',
    'arm_dynamics.published.motion_models': 'arm_lab.published.motion_models',
    'arm_dynamics.published.textbook_pid': 'arm_lab.published.textbook_pid',
}


@pytest.mark.parametrize(('former', 'module'), FORMER.items())
def test_a_former_name_is_the_module_itself(former, module):
    assert import_module(former) is import_module(module)


@pytest.mark.slow
def test_what_a_former_name_gives_is_the_same_class():
    code = """from arm_sim.experiments.experiment import Experiment
from arm_lab.experiments.experiment import Experiment as same
import arm_sim.gym, gymnasium
assert Experiment is same
gymnasium.make('arm_sim/Track-v0', robot='planar_3r').close()"""
    subprocess.run([sys.executable, '-c', code], check=True)
