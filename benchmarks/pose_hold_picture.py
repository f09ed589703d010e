"""Gains and computed torque at the pose and far: `./ws python benchmarks/pose_hold_picture.py`.

Writes docs/images/pose_hold.png.
"""

from pathlib import Path

import numpy as np
from conditions import print_conditions

from arm_controllers.laws.motor_computed_torque import (
    MotorComputedTorque,
    MotorComputedTorqueParameters,
)
from arm_controllers.laws.pose_pid import PosePID, PosePIDParameters
from arm_lab.published.five_joint_arm import LIMIT_DAMPER, LIMIT_SPRING, MOTORS
from arm_lab.tasks.pose_hold import PoseHold, PoseHoldParameters
from arm_lab.tasks.pose_hold.objective import (
    PUBLISHED_I,
    PUBLISHED_P,
    TARGET,
    TIME_STEP,
    gain_matrix,
)
from arm_lab.tasks.pose_hold.rollout import BLOW_UP_COST
from arm_sim import pictures
from arm_sim.engines.analytical import AnalyticalParameters, AnalyticalPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.parameter_files import files_of, merged
from arm_sim.robot import Robot

COLORS = (pictures.ORANGE, pictures.COLORS[2], pictures.COLORS[3], pictures.BLUE, pictures.BLUE)
FAR = (1.0, 0.5, -1.5, 1.0, -0.8)


def main() -> None:
    """Run the laws at both poses and draw their errors."""
    print_conditions()
    robot = Robot.load('five_joint_arm')
    model = robot.model
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
        'through the model': (through_model, 0.0),
        'from 0.1 rad off': (through_model, 0.1),
    }
    figure = pictures.new_figure(13, 4.6, 'Gains hold the pose they were found for; the model any')
    left, right = pictures.panels(figure, 2)
    for axis, target, unit in ((left, TARGET, 1e-6), (right, FAR, 1.0)):
        for (label, (law, off)), color in zip(laws.items(), COLORS, strict=True):
            task = PoseHold(robot, PoseHoldParameters(target, 3.0))
            run = run_closed_loop(plant, law, task.reference, 3.0, start=np.array(target) + off)
            cost, error = task.report.cost(run), np.abs(run.q - target).max(axis=1)
            ends = 'blows up' if cost >= BLOW_UP_COST else f'J = {cost:.3g}'
            print(f'{target} {label:40} {ends}, worst {error.max():.3g} rad')
            if off and axis is left:
                continue
            shown = run.t <= (0.06 if axis is left else 3.0)
            shown &= np.maximum.accumulate(error) <= 0.2
            axis.plot(
                run.t[shown], error[shown] / unit, '--' if off else '-', color=color, lw=1.5,
                label=f'{label}: {ends}',
            )  # fmt: skip
    left.set_ylim(-10.0, 520.0)
    right.set_ylim(-0.004, 0.2)
    what = 'largest joint error'
    pictures.style(left, f'published pose {TARGET} rad', 'time [s]', f'{what} [$\\mu$rad]')
    pictures.style(right, f'far pose {FAR} rad', 'time [s]', f'{what} [rad]')
    for axis in (left, right):
        pictures.name_ends(axis)
    pictures.save(figure, Path(__file__).parents[1] / 'docs' / 'images' / 'pose_hold.png')


if __name__ == '__main__':
    main()
