"""Write a policy that sends chunks of joint positions: where a sinusoid will be.

    ./ws python examples/position_chunks.py chunks.onnx

The policy knows the frequency f of the motion, w = 2 pi f, and sees q, v and a of the reference:

    q(t + s) = q + v sin(w s) / w + a (1 - cos(w s)) / w^2

for the times s of its next positions. So it makes no error itself: what is left is the latency's.
"""

import argparse
from dataclasses import replace

import gymnasium
import numpy as np

import arm_lab.gym  # noqa: F401  # registers the environments
from arm_dynamics.checks import ArmError
from arm_lab.gym.export import add_layout, onnx_module, save


def weights(frequency, rate, chunk, joints):
    """Return the matrix (7 joints, chunk joints) from an observation to the positions."""
    w, s = 2.0 * np.pi * frequency, np.arange(1, chunk + 1) / rate
    parts = np.zeros((7, chunk))  # of the errors, q, v, 0.1 a and the last action
    parts[3], parts[4], parts[5] = 1.0, np.sin(w * s) / w, 10.0 * (1.0 - np.cos(w * s)) / w**2
    return np.einsum('ic,jk->ijck', parts, np.eye(joints)).reshape(7 * joints, chunk * joints)


def main():
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('file', help='ONNX file to write')
    parser.add_argument('--robot', default='ur5e')
    parser.add_argument('--frequency', type=float, default=0.5, help='of the motion [Hz]')
    parser.add_argument('--rate', type=float, default=25.0, help='positions per second [Hz]')
    parser.add_argument('--chunk', type=int, default=20, help='number of positions')
    parser.add_argument('--timestep', type=float, default=0.002, help='control period [s]')
    given = parser.parse_args()
    onnx = onnx_module()
    helper, from_array = onnx.helper, onnx.numpy_helper.from_array
    env = gymnasium.make('arm_sim/Track-v0', robot=given.robot, timestep=given.timestep)
    layout = replace(env.unwrapped.layout, rate=given.rate)
    shape, kind = [given.chunk, len(layout.joint_names)], onnx.TensorProto.DOUBLE
    numbers = [
        from_array(weights(given.frequency, given.rate, *shape), 'weights'),
        from_array(np.array([-1, *shape]), 'shape'),
    ]
    nodes = [
        helper.make_node('MatMul', ['observation', 'weights'], ['row']),
        helper.make_node('Reshape', ['row', 'shape'], ['positions']),
    ]
    seen = helper.make_tensor_value_info('observation', kind, ['rows', layout.size])
    answer = helper.make_tensor_value_info('positions', kind, ['rows', *shape])
    graph = helper.make_graph(nodes, 'policy', [seen], [answer], numbers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    add_layout(model, layout)
    save(model, given.file)
    print(f'wrote {given.file}')


if __name__ == '__main__':
    try:
        main()
    except ArmError as error:
        raise SystemExit(f'position_chunks: {error}') from None
