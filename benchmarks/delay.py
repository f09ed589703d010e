"""Error and chatter of the servo's levels over delay, noise and model error, on the cube.

    ./ws python benchmarks/delay.py

A table in Markdown: RMS of the tip's error [mm] after 0.2 s, and the RMS change of torque from one
control period to the next [N.m]. `configured` is the delay that the law compensates, `true` the
delay of the loop.
"""

from dataclasses import dataclass, replace
from itertools import product
from os import cpu_count

import numpy as np
from conditions import print_conditions

from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.parameter_values import read_fields
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.experiments.executors import executor, ordered
from arm_sim.devices import SensorParameters
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.measures import rms, track
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters
from arm_sim.tasks import make_task

LEVELS = (('discrete', 0.54), ('observed', 0.54), ('observed', 0.8))
DELAYS = ((0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 3))  # configured, true
ERRORS = {
    'exact': ModelError(),
    '20 %': ModelError(mass_scale=(1.2,)),
    'and 0.5 kg, 0.5 N.m': ModelError(mass_scale=(1.2,), payload=0.5, friction=(0.5,)),
}
NOISE = {
    'none': SensorParameters(),
    '1e-5 rad, 1e-3 rad/s': SensorParameters(position_noise=1e-5, velocity_noise=1e-3),
}
_BEYOND = 50.0  # [mm] an arm that is this far off is lost


@dataclass(frozen=True)
class Cell:
    """One run."""

    level: tuple[str, float]
    delay: tuple[int, int]
    noise: str
    error: str

    def run(self) -> str:
        """Return error and chatter."""
        robot, (level, pole), (configured, true) = Robot.load('ur5e'), self.level, self.delay
        given = read_fields(ServoParameters, robot.parameters('servo_controller'))
        observed = {'observer_pole': pole, 'delay': configured} if level == 'observed' else {}
        law = Servo(robot.model, replace(given, feedforward=level, **observed))
        drives = read_fields(PlantParameters, robot.parameters('simulator'))
        drives = replace(drives, command_delay=true, **vars(NOISE[self.noise]))
        plant = MujocoPlant(with_error(robot.model, ERRORS[self.error]), drives)
        with np.errstate(all='ignore'):
            record = make_task('cube', robot, {'edge_time': 1.0}).run(law, plant)
        error = rms(track(robot.model, record).error[100:]) * 1e3 if record.completed else np.inf
        if not error < _BEYOND:
            return 'unstable'
        return f'{error:.2g}; {rms(np.diff(record.effort[100:], axis=0), axis=None):.2g}'


def main() -> None:
    """Print the table."""
    print_conditions()
    rows = [
        (level, delay, noise)
        for level, delay, noise in product(LEVELS, DELAYS, NOISE)
        if level[0] == 'observed' or delay in ((0, 0), (1, 1))
    ]
    cells = [Cell(*row, error) for row in rows for error in ERRORS]
    with executor(cpu_count() or 1) as processes:
        found = iter(ordered(processes, Cell.run, cells))
    print('| level | delay configured, true | noise | ' + ' | '.join(ERRORS) + ' |')
    print('| --- | --- | --- |' + ' ---: |' * len(ERRORS))
    for (level, pole), (configured, true), noise in rows:
        name = level + (f', pole {pole:g}' if level == 'observed' else '')
        of = f'{configured if level == "observed" else "-"}, {true}'
        print(f'| {name} | {of} | {noise} | ' + ' | '.join(next(found) for _ in ERRORS) + ' |')


if __name__ == '__main__':
    main()
