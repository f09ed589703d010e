"""What Coulomb friction costs on the cube, answered by the measured and by the wanted velocity.

    ./ws python benchmarks/friction.py [--noise] [--engine mujoco]

The model is exact. UR5e at 500 Hz; the joints have the friction of benchmarks/identification.py,
a tenth of usual torques. Chatter is the torque's RMS change from period to period.
"""

import argparse
import sys
from dataclasses import replace

import numpy as np
from conditions import print_conditions
from identification import NOISE, PARAMETERS, other_arm

from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.reference import Reference
from arm_lab.experiments.compared_laws import laws_with
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.devices import SensorParameters
from arm_sim.loop.measures import measure, track
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, plant_class
from arm_sim.tasks import make_task

_HOLD = 2.0  # [s]


def main() -> int:
    """Print a row per law and engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    noise = 'measured positions and velocities with 1e-5 rad and 1e-3 rad/s'
    parser.add_argument('--noise', action='store_true', help=noise)
    parser.add_argument('--engine', choices=RIGID_BODY_ENGINES, help='one of the two')
    options = parser.parse_args()
    sensors = NOISE if options.noise else SensorParameters()
    print_conditions()
    robot = Robot.load('ur5e')
    arm = other_arm(robot.model, 1)
    rubbing, smooth = replace(robot, model=arm), other_arm(robot.model, 1, 0.0)
    print('law, engine: cube RMS [mm] without friction, with it by velocities '
          f'{", ".join(FRICTION_VELOCITIES)}; chatter [N.m]; chatter at rest [N.m]')  # fmt: skip
    for engine in [options.engine] if options.engine else RIGID_BODY_ENGINES:
        for name in laws_with('discrete', of_effort=True):
            task, told = make_task('cube', robot), []
            for model, friction in (
                (smooth, 'measured'),
                *((arm, f) for f in FRICTION_VELOCITIES),
            ):
                own = replace(rubbing, model=model)
                experiment = Experiment('ur5e', 'cube', name, friction_velocity=friction)
                law = LoadedExperiment(experiment, own).law()
                plant = plant_class(engine)(model, replace(PARAMETERS, **vars(sensors)))
                record = task.run(law, plant)
                found = measure(record, track(robot.model, record))
                still = run_closed_loop(plant, law, held(robot.start), _HOLD)
                half = still.effort[len(still.effort) // 2 :]
                shake = np.sqrt(np.mean(np.diff(half, axis=0) ** 2))
                told.append((found.tracking_rms_mm, found.chatter_nm, shake))
            rms, chatter, rest = zip(*told, strict=True)
            columns = (', '.join(f'{x:.3g}' for x in column) for column in (rms, chatter, rest))
            print(f'{name}, {engine}: {"; ".join(columns)}', flush=True)
    return 0


def held(q: np.ndarray):
    """Return the reference that stays at q (n,)."""

    def hold(t: float, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = q

    return hold


if __name__ == '__main__':
    sys.exit(main())
