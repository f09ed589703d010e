"""Nothing compiles, or loads compiled code, while the arm moves: a period would take seconds."""

import subprocess
import sys

import pytest

_LOADED = """
import os, sys
from dataclasses import replace
from numba.core.dispatcher import Dispatcher
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.loop import Loop

def loaded():
    each = [x for m in list(sys.modules.values()) for x in list(vars(m).values())]
    compiled = [x for x in each if isinstance(x, Dispatcher)]
    return {(x.__module__, x.__name__, s) for x in compiled for s in x.signatures}

"""
# Each law in a process of its own, forked before any law is made: what one has loaded is there.
_LAWS = """
def late(law):
    experiment = Experiment.of_files('ur5e gripper:=probe', 'press', law).load()
    experiment = replace(experiment, given={'distance': 0.001})
    loop = Loop(experiment.plants()[0], experiment.law(), experiment.task.reference)
    before = loaded()
    assert before, law
    felt = [loop.step().measured.wrench[2] for _ in range(120)]
    assert max(map(abs, felt)) > 0.5, (law, max(felt))  # the tool has touched
    return sorted(f'{law}: {module}.{name}' for module, name, _ in loaded() - before)

for law in sys.argv[1:]:
    if not os.fork():
        print(*late(law), sep='\\n', end='', flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, law
"""
_PRESSING = (
    'admittance', 'admittance_effort', 'cartesian_impedance', 'hybrid_force_motion', 'mpc',
    'parallel_force_position',
)  # fmt: skip


_ELASTIC = """
from arm_sim.devices.drive_trains import JointParameters

joints = JointParameters(joint_stiffness=(1e4,), joint_damping=(5.0,), joint_substeps=20)
experiment = Experiment('ur5e', 'sinusoid', 'pd', engine=sys.argv[1], joints=joints).load()
loop = Loop(experiment.plants()[0], experiment.law(), experiment.task.reference)
before = loaded()
loop.step()
assert abs(loop.plant.motors[0] - loop.plant.q).max() > 0.0
after = loaded()
assert any(module.endswith('.drive_trains') for module, *_ in after)
print(*sorted(after - before), sep='\\n', end='')
"""


def printed(script, *arguments):
    command = [sys.executable, '-c', _LOADED + script, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_a_law_with_a_force_goal_loads_no_code_after_it_is_made():
    assert printed(_LAWS, *_PRESSING) == ''


@pytest.mark.slow
@pytest.mark.parametrize('engine', ['mujoco', 'analytical'])
def test_elastic_joints_load_no_code_after_they_are_made(engine):
    assert printed(_ELASTIC, engine) == ''
