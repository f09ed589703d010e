"""Policies for tests: small networks with drawn weights, as ONNX files."""

from dataclasses import replace

import numpy as np
from optional import optional

from arm_lab.gym.arms import layout_of, loaded_experiment


def layers_of(layout, hidden=5, size=0.05, seed=3):
    rng, n = np.random.default_rng(seed), len(layout.joint_names)
    sizes = [(layout.size, hidden), (hidden, n)]
    return [(size * rng.normal(size=each), 0.01 * rng.normal(size=each[1])) for each in sizes]


def policy_file(path, exact=True, layers=None, chunk=0, rate=0.0, **experiment):
    """Write a policy; return its path and its layout. With a rate its actions are positions."""
    optional('onnx', 'onnx>=1.17')
    optional('onnxruntime', 'onnxruntime>=1.20')
    from arm_lab.gym.export import export_mlp

    layout = layout_of(
        loaded_experiment(**{'task': 'sinusoid', 'robot': 'planar_3r'} | experiment)
    )
    layout = replace(layout, rate=rate)
    export_mlp(str(path), layout, layers_of(layout) if layers is None else layers, exact, chunk)
    return str(path), layout
