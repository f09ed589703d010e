"""What figaroh makes of a recording: run by its own Python, for `identification_peer.py`.

In FOLDER: `robot.urdf`, and `data.npz` with times, q, effort, unseen_q, unseen_v, unseen_a, lag
of the torques [s] and cutoff of the filter [Hz]. Out: `found.npz` with names, torques, cpu.
Regressor, base parameters (QR), filters, decimation and weighted least squares are figaroh's.
"""

import sys
import time
from pathlib import Path

import numpy as np
from figaroh.identification import BaseIdentification
from figaroh.tools.regressor import build_regressor_basic
from figaroh.tools.robot import Robot


class Identification(BaseIdentification):
    """figaroh's steps for a recording that lies in memory."""

    def __init__(self, robot, data, cutoff):
        self.recording, self.cutoff = data, cutoff
        super().__init__(robot)

    def load_param(self, config_file, setting_type='identification'):
        """Say what is identified: links, friction and rotors of all joints."""
        n, rate = self.model.nv, 1.0 / np.diff(self.recording['timestamps']).mean()
        filters = {'nbutter': 4, 'f_butter': self.cutoff, 'med_fil': 5, 'f_sample': rate}
        self.identif_config = {
            'active_joints': list(self.model.names[1:]),
            'act_idxq': list(range(n)),
            'act_idxv': list(range(n)),
            'has_friction': True,
            'has_actuator_inertia': True,
            'has_joint_offset': False,
            'is_joint_torques': True,
            'is_external_wrench': False,
            'qr_relative_tolerance': 1e-4,
            'filter_config': {'differentiation_method': 'gradient', 'filter_params': filters},
        }

    def load_trajectory_data(self, data_source=None):
        """Return the recording; velocities and accelerations come from positions."""
        return self.recording

    def torque(self, q, v, a):
        """Return the torque (N, nv) of what was found."""
        regressor = build_regressor_basic(self.robot, q, v, a, self.identif_config)
        kept = np.delete(regressor, self._idx_eliminated, axis=1)[:, self._base_indices]
        return (kept @ self.phi_base).reshape(-1, len(q)).T


def main() -> None:
    """Identify twice: torques as they are stamped, and moved by the lag that we find."""
    folder = Path(sys.argv[1])
    data = dict(np.load(folder / 'data.npz'))
    robot = Robot(str(folder / 'robot.urdf'), str(folder))
    names, torques, cpu = [], [], []
    for name, lag in (('figaroh', 0.0), ('figaroh, told of the lag', float(data['lag']))):
        times = data['times']
        acted = [np.interp(times + lag, times, effort) for effort in data['effort'].T]
        recording = {
            'timestamps': times,
            'positions': data['q'],
            'velocities': None,
            'accelerations': None,
            'torques': np.array(acted).T,
        }
        begin = time.process_time()
        found = Identification(robot, recording, float(data['cutoff']))
        found.initialize()
        found.solve(decimate=True, decimation_factor=10, plotting=False, wls=True)
        names.append(name)
        cpu.append(time.process_time() - begin)
        torques.append(found.torque(*(data[f'unseen_{x}'] for x in 'qva')))
    np.savez(folder / 'found.npz', names=names, torques=torques, cpu=cpu)


if __name__ == '__main__':
    main()
