"""What mujoco.sysid makes of a recording: run by its own Python, for `positions_peer.py`.

In FOLDER: `arm.xml`, and `data.npz` with joint names, times, q, command, the start of the servo
gains, friction and rotors (4, n), and the state at the start. Out: `found.npz` with values, cpu.
"""

import gc
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import sysid


def set_kp(spec, joint, value):
    """Set the position gain of a joint's servo."""
    servo = spec.actuator(joint)
    servo.gainprm[0], servo.biasprm[1] = value, -value


def set_kd(spec, joint, value):
    """Set the velocity gain of a joint's servo."""
    spec.actuator(joint).biasprm[2] = -value


def set_friction(spec, joint, value):
    """Set the Coulomb friction of a joint."""
    spec.joint(joint).frictionloss = value


def set_rotor(spec, joint, value):
    """Set the rotor inertia of a joint."""
    spec.joint(joint).armature = value


def main() -> None:
    """Read, identify, write."""
    folder = Path(sys.argv[1])
    with np.load(folder / 'data.npz') as read:
        data = dict(read)
    names = [str(name) for name in data['names']]
    spec = mujoco.MjSpec.from_file(str(folder / 'arm.xml'))
    for name in names:
        spec.add_sensor(
            name=f'{name}_position', type=mujoco.mjtSensor.mjSENS_JOINTPOS, objname=name,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
        )  # fmt: skip
    model = spec.compile()
    gc.freeze()
    first = time.process_time()
    params, number = sysid.ParameterDict(), 0
    for setter, values in zip(
        (set_kp, set_kd, set_friction, set_rotor), data['start'], strict=True
    ):
        for name, value in zip(names, values, strict=True):
            params.add(sysid.Parameter(
                str(number), nominal=value, min_value=value / 20.0, max_value=value * 20.0,
                modifier=lambda s, p, f=setter, n=name: f(s, n, float(p.value[0])),
            ))  # fmt: skip
            number += 1
    start = sysid.create_initial_state(model, data['q_start'], data['v_start'], np.zeros(0))
    control = sysid.TimeSeries(data['times'], data['command'])
    # A rollout's row i + 1 holds the sensors at the beginning of step i.
    measured = sysid.TimeSeries.from_names(data['times'][1:], data['q'][:-1], model)
    sequences = sysid.ModelSequences('arm', spec, 'recording', start, control, measured)
    residual = sysid.build_residual_fn(models_sequences=[sequences])
    found, _ = sysid.optimize(initial_params=params, residual_fn=residual, verbose=False)
    values = found.as_vector().reshape(4, len(names))
    np.savez(folder / 'found.npz', values=values, cpu=time.process_time() - first)


if __name__ == '__main__':
    main()
