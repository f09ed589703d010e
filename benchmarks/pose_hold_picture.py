"""The published PI gains beside ours at a far pose: `python benchmarks/pose_hold_picture.py`.

Writes docs/images/pose_hold.png.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
import numpy as np
import yaml

from arm_controllers.motor_computed_torque import (
    MotorComputedTorque,
    MotorComputedTorqueParameters,
)
from arm_controllers.pose_pid import PosePID, PosePIDParameters
from arm_dynamics import RobotModel
from arm_dynamics.five_joint_arm import LIMIT_DAMPER, LIMIT_SPRING, MOTORS
from arm_dynamics.pose_hold import PUBLISHED_I, PUBLISHED_P, TARGET, TIME_STEP, gain_matrix
from arm_dynamics.robots import find_urdf, share_folder
from arm_sim.analytical_plant import AnalyticalParameters, AnalyticalPlant
from arm_sim.pose_hold_run import hold

FAR = (1.0, 0.5, -1.5, 1.0, -0.8)


def main() -> None:
    """Run the four laws at both poses and draw their errors."""
    model = RobotModel.from_urdf(find_urdf('five_joint_arm'))
    plant = AnalyticalPlant(
        model,
        AnalyticalParameters(
            actuator='voltage', integrator='lagged_euler', timestep=TIME_STEP,
            torque_constant=MOTORS.torque_constant, limit_stiffness=LIMIT_SPRING,
            limit_damping=LIMIT_DAMPER, effort_limits=False,
        ),
    )  # fmt: skip
    published = gain_matrix(PUBLISHED_P + PUBLISHED_I)
    config = yaml.safe_load((share_folder() / 'config' / 'five_joint_arm.yaml').read_text())

    def shipped(name: str) -> PosePID:
        gains = config[f'{name}_controller']['ros__parameters']
        return PosePID(model, PosePIDParameters(**{k: tuple(v) for k, v in gains.items()}))

    laws = {
        'published PI': PosePID(model, PosePIDParameters(*map(tuple, published.tolist()))),
        'robust PI': shipped('pose_pi'),
        'robust PID': shipped('pose_pid'),
        'through the motor model': MotorComputedTorque(
            model, MotorComputedTorqueParameters(torque_constant=MOTORS.torque_constant)
        ),
    }
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    for axis, (name, target) in zip(axes, {'published': TARGET, 'far': FAR}.items(), strict=True):
        for label, law in laws.items():
            run = hold(plant, law, target, 3.0)
            error = np.abs(run.q - run.target).max(axis=1)
            axis.semilogy(
                run.time, np.clip(error, 1e-13, 1e3), label=f'{label}: J = {run.cost:.3g}'
            )
            print(
                f'{name:10} {label:25} J = {run.cost:.6g}, worst {run.worst_error.max():.3g} rad'
            )
        axis.set_title(f'{name} pose {target} rad')
        axis.set_xlabel('time [s]')
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel('largest joint error [rad]')
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / 'docs' / 'images' / 'pose_hold.png', dpi=110)


if __name__ == '__main__':
    main()
