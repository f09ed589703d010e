"""Policies as ONNX files."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from arm_controllers.policy_layout import PolicyLayout
from arm_dynamics.checks import Array, typed
from arm_dynamics.optional import optional_module
from arm_sim.output_folder import whole_file


def onnx_module() -> ModuleType:
    """Return the package onnx; raise ArmError where it is not installed."""
    return optional_module('onnx', 'the export needs onnx: ' + typed("pip install 'onnx>=1.17'"))


def save(model: Any, path: str) -> None:
    """Write an ONNX model; raise ArmError where the file cannot be written."""
    with whole_file(path) as file:
        file.write(model.SerializeToString())


def export_mlp(
    path: str,
    layout: PolicyLayout,
    layers: Sequence[tuple[Array, Array]],
    exact: bool = True,
    chunk: int = 0,
) -> None:
    """Write a policy of layers tanh(x W + b), 64 bits or not `exact` 32.

    Args:
        path: of the ONNX file.
        layout: of the environment, `env.unwrapped.layout`.
        layers: weights W (inputs, outputs) and b (outputs,), from the observation on.
        exact: whether with 64 bits.
        chunk: number of actions per observation, whose numbers the last layer puts out one action
            after the other; 0: one action, no chunk.

    Raises:
        ArmError: onnx is not installed, or the file cannot be written.
    """
    onnx = onnx_module()
    helper, kind = onnx.helper, onnx.TensorProto.DOUBLE if exact else onnx.TensorProto.FLOAT
    nodes, numbers, x = [], [], 'observation'
    for k, (w, b) in enumerate(layers):
        y = 'action' if k == len(layers) - 1 and not chunk else f'layer{k}'
        numbers += [
            onnx.numpy_helper.from_array(each.astype('f8' if exact else 'f4'), f'{name}{k}')
            for name, each in (('w', w), ('b', b))
        ]
        nodes.append(helper.make_node('Gemm', [x, f'w{k}', f'b{k}'], [f'sum{k}']))
        nodes.append(helper.make_node('Tanh', [f'sum{k}'], [y]))
        x = y
    given = helper.make_tensor_value_info('observation', kind, ['rows', layout.size])
    shape = [chunk, len(layout.joint_names)] if chunk else [len(layout.joint_names)]
    if chunk:
        numbers.append(onnx.numpy_helper.from_array(np.array([-1, *shape]), 'shape'))
        nodes.append(helper.make_node('Reshape', [x, 'shape'], ['action']))
    answer = helper.make_tensor_value_info('action', kind, ['rows', *shape])
    graph = helper.make_graph(nodes, 'policy', [given], [answer], numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    add_layout(model, layout)
    save(model, path)


def add_layout(model: Any, layout: PolicyLayout) -> None:
    """Write the layout into the metadata of an ONNX model, such as one that torch exported.

    Its input is an observation (rows, size), its first output an action (rows, n) or a chunk of
    actions (rows, chunk, n), one per control period.
    """
    entry = model.metadata_props.add()
    entry.key, entry.value = 'arm_sim', layout.text()
