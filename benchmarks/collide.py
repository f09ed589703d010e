"""A UR5e that collides: peak force and times per law, speed and reaction of the guard.

./ws python benchmarks/collide.py
"""

import sys
from typing import Any, NamedTuple

import numpy as np
from conditions import print_conditions

from arm_controllers.guard import GuardState
from arm_controllers.guard_parameters import GuardParameters
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.loop import Loop, Step
from arm_sim.loop.measures import track
from arm_sim.loop.recorded import Recorder
from arm_sim.robot import Robot
from arm_sim.tasks import Run

LAWS = ('computed_torque', 'momentum_observer', 'pd_feedforward')
SPEEDS = (0.1, 0.25, 0.5, 1.0)  # [m/s]
REACTIONS = ('none', 'stop', 'retract', 'float')
# From examples/guard_thresholds.py, see docs/guard.md.
THRESHOLDS: dict[str, Any] = {
    'threshold': (9.59, 22.92, 11.89, 3.21, 2.9, 0.22),
    'step_threshold': (3.77, 6.22, 3.01, 0.83, 0.71, 0.24),
}
PICTURE = 'docs/images/collide.png'
ROBOT = Robot.load('ur5e gripper:=probe')


class Collision(NamedTuple):
    """One run.

    Attributes:
        report: of the task.
        detected_ms: from the first contact to the detection [ms]; nan: none.
    """

    report: dict[str, Any]
    detected_ms: float


def collide(law: str, speed: float, reaction: str, **given: Any) -> Collision:
    """Run the task collide in the loop; `given` are further parameters of the task."""
    guard = GuardParameters(reaction=reaction, **THRESHOLDS)
    case = Experiment.of_files(ROBOT.name, 'collide', law, guard=guard)
    loaded = LoadedExperiment(case, ROBOT, {'speed': speed, **given})
    task = loaded.task
    loop = Loop(loaded.plants()[0], loaded.law(), task.reference)
    recorder, noticed = Recorder(loop, task.duration), []

    def watch(step: Step) -> None:
        if reaction != 'none' and not noticed and GuardState(*loop.law_state).since[0] >= 0.0:
            noticed.append(step.t)

    loop.run(task.duration, [recorder, watch])
    record = recorder.record()
    report = task.report.results(Run(record, track(ROBOT.model, record)))
    at = noticed[0] - report['contact_at_s'] if noticed else np.nan
    return Collision(report, 1e3 * at)


def draw(found: dict[tuple[str, float, str], Collision]) -> None:
    """Write the map: a panel for each reaction, a row per law, a column per speed."""
    from arm_sim.pictures import new_figure, save

    figure = new_figure(10.0, 3.6)
    for k, reaction in enumerate(REACTIONS):
        axes = figure.add_subplot(1, len(REACTIONS), k + 1)
        peaks = np.array(
            [[found[law, v, reaction].report['peak_force_n'] for v in SPEEDS] for law in LAWS]
        )
        axes.imshow(np.log10(peaks), cmap='viridis', vmin=1.5, vmax=3.0, aspect='auto')
        for (row, column), peak in np.ndenumerate(peaks):
            axes.text(column, row, f'{peak:.0f}', ha='center', va='center', color='white')
        axes.set_xticks(range(len(SPEEDS)), [f'{v:g}' for v in SPEEDS])
        axes.set_yticks(range(len(LAWS)), LAWS if not k else [''] * len(LAWS))
        axes.set_title(reaction if reaction != 'none' else 'no guard')
        axes.set_xlabel('speed [m/s]')
    figure.suptitle('Largest force of the spring [N]')
    save(figure, PICTURE)


def main() -> None:
    """Print the table and write the picture."""
    print_conditions()
    found = {}
    print(
        'law                  speed  reaction   peak  v sqrt(k m)  detected    stop  spring  last'
    )
    print(
        '                     [m/s]              [N]          [N]      [ms]     [s]    [mm]   [N]'
    )
    for law in LAWS:
        for speed in SPEEDS:
            for reaction in REACTIONS:
                one = found[law, speed, reaction] = collide(law, speed, reaction)
                r = one.report
                print(
                    f'{law:20} {speed:5.2f}  {reaction:8} {r["peak_force_n"]:6.1f} '
                    f'{r["undetected_n"]:12.1f} {one.detected_ms:9.0f} {r["stop_s"]:7.3f} '
                    f'{r["spring_mm"]:7.2f} {r["last_force_n"]:5.1f}'
                )
    draw(found)


if __name__ == '__main__':
    sys.exit(main())
