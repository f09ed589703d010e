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


def recurrent_weights(layout, hidden=5, seed=5):
    """Return the weights of observation, state and action of an Elman network."""
    rng, n = np.random.default_rng(seed), len(layout.joint_names)
    sizes = {(layout.size, hidden): 0.05, (hidden, hidden): 0.7, (hidden, n): 1.0}
    return [scale * rng.normal(size=size) for size, scale in sizes.items()]


def recurrent_file(path, layout, rows='rows', layers=False, changed=None):
    """Write h' = tanh(x W + h V), action = tanh(h' U); return the path.

    The state is (rows, k), or (1, rows, k) as torch exports it. `changed(nodes, given, answers)`
    may change the graph.
    """
    import onnx
    from onnx import helper

    from arm_lab.gym.export import add_layout

    weights = recurrent_weights(layout)
    numbers = [
        onnx.numpy_helper.from_array(w, name) for w, name in zip(weights, 'WVU', strict=True)
    ]
    numbers.append(onnx.numpy_helper.from_array(np.array([0]), 'zero'))
    nodes = [
        helper.make_node('Squeeze' if layers else 'Identity', ['h', *['zero'] * layers], ['flat']),
        helper.make_node('MatMul', ['x', 'W'], ['seen']),
        helper.make_node('MatMul', ['flat', 'V'], ['kept']),
        helper.make_node('Add', ['seen', 'kept'], ['sum']),
        helper.make_node('Tanh', ['sum'], ['after']),
        helper.make_node('MatMul', ['after', 'U'], ['out']),
        helper.make_node('Tanh', ['out'], ['action']),
        helper.make_node(
            'Unsqueeze' if layers else 'Identity', ['after', *['zero'] * layers], ['next']
        ),
    ]
    k, n = weights[1].shape[0], len(layout.joint_names)
    shape = [1, rows, k] if layers else [rows, k]
    given = {'x': [rows, layout.size], 'h': shape}
    answers = {'action': [rows, n], 'next': shape}
    if changed:
        changed(nodes, given, answers)

    def tensors(shapes):
        kind = onnx.TensorProto.DOUBLE
        return [helper.make_tensor_value_info(name, kind, x) for name, x in shapes.items()]

    graph = helper.make_graph(nodes, 'policy', tensors(given), tensors(answers), numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    add_layout(model, layout)
    onnx.save(model, str(path))
    return str(path)
