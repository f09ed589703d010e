"""A run has equal bits on CPUs with AVX2 and with AVX-512.

Their kernels of BLAS and LAPACK, and NumPy's powers and exponentials, have other last bits.
"""

import os
import subprocess
import sys

import pytest

RUNS = """
from arm_lab.experiments.experiment import Experiment
for task, law in (
    ('cube', 'servo'), ('sinusoid', 'computed_torque'), ('sinusoid', 'momentum_observer'),
    ('sinusoid', 'adaptive_computed_torque'), ('sinusoid', 'operational_space'),
    ('sinusoid', 'joint_impedance'), ('sinusoid', 'mpc'),
):
    print(task, law, Experiment('ur5e', task, law).load().run().checksum())
"""


def checksums(**environment):
    answer = subprocess.run(
        [sys.executable, '-c', RUNS], env=os.environ | environment, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


def has_avx2():
    with open('/proc/cpuinfo') as file:
        return ' avx2 ' in file.read()


@pytest.mark.skipif(not has_avx2(), reason='this CPU has no AVX2: no kernels to compare')
def test_a_run_has_equal_bits_with_the_linear_algebra_of_other_cpus():
    own = checksums()
    assert len(own) == 7
    assert checksums(OPENBLAS_CORETYPE='Haswell', NPY_DISABLE_CPU_FEATURES='X86_V4') == own
