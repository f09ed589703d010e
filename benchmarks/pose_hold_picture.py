"""Gains beside computed torque, at the pose and far: `python benchmarks/pose_hold_picture.py`.

Writes docs/images/pose_hold.png.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use('Agg')
import matplotlib.pyplot as plt
import numpy as np

from arm_controllers.laws.motor_computed_torque import (
    MotorComputedTorque,
    MotorComputedTorqueParameters,
)
from arm_controllers.laws.pose_pid import PosePID, PosePIDParameters
from arm_dynamics import RobotModel
from arm_dynamics.published.five_joint_arm import LIMIT_DAMPER, LIMIT_SPRING, MOTORS
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import files_of, merged
from arm_sim.plants.analytical_plant import AnalyticalParameters, AnalyticalPlant
from arm_sim.tasks.pose_hold.objective import (
    PUBLISHED_I,
    PUBLISHED_P,
    TARGET,
    TIME_STEP,
    gain_matrix,
)
from arm_sim.tasks.pose_hold.rollout import BLOW_UP_COST
from arm_sim.tasks.pose_hold.run import hold

FAR = (1.0, 0.5, -1.5, 1.0, -0.8)
FLOOR = 1e-16  # [rad], where an error of zero is drawn


def main() -> None:
    """Run the laws at both poses and draw their errors."""
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
    config = merged(files_of('five_joint_arm'))

    def shipped(name: str) -> PosePID:
        gains = config[f'{name}_controller']
        return PosePID(model, PosePIDParameters(**{k: tuple(v) for k, v in gains.items()}))

    through_model = MotorComputedTorque(
        model, MotorComputedTorqueParameters(torque_constant=MOTORS.torque_constant)
    )
    laws = {
        'published PI': (PosePID(model, PosePIDParameters(*map(tuple, published.tolist()))), 0.0),
        'robust PI': (shipped('pose_pi'), 0.0),
        'robust PID': (shipped('pose_pid'), 0.0),
        'computed torque through the motor model': (through_model, 0.0),
        'the same, started 0.1 rad off': (through_model, 0.1),
    }
    figure, axes = plt.subplots(1, 2, figsize=(12, 5.6), sharey=True)
    for axis, (name, target) in zip(axes, {'published': TARGET, 'far': FAR}.items(), strict=True):
        for k, (label, (law, off)) in enumerate(laws.items()):
            run = hold(plant, law, target, 3.0, np.array(target) + off)
            error = np.abs(run.q - run.target).max(axis=1)
            blown_up = run.cost >= BLOW_UP_COST
            ends = 'blows up' if blown_up else f'J = {run.cost:.3g}'
            color, dashed = f'C{min(k, 3)}', '--' if off else '-'
            axis.semilogy(
                run.time, np.clip(error, FLOOR, 1e3), dashed, color=color, label=f'{label}: {ends}'
            )
            if blown_up:
                axis.plot(run.time[-1], min(error[-1], 1e3), 'x', color=color, markersize=10)
            print(f'{name:10} {label:40} {ends}, worst {run.worst_error.max():.3g} rad')
        axis.set_title(f'{name} pose {target} rad')
        axis.set_xlabel('time [s]')
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc='upper center', bbox_to_anchor=(0.5, -0.13), ncols=2)
    axes[0].set_ylabel('largest joint error [rad]')
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / 'docs' / 'images' / 'pose_hold.png', dpi=110)


if __name__ == '__main__':
    main()
