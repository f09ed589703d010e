"""Laws of force on the tasks without a goal of force: success, what was reached, largest force.

./ws python benchmarks/force_laws.py

Each task with the exact model, and with an arm that is 20 % lighter than the laws believe.
"""

from conditions import print_conditions

from arm_dynamics.model_error import ModelError
from arm_sim.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

LAWS = (
    'hybrid_force_motion', 'parallel_force_position', 'admittance', 'admittance_effort',
    'cartesian_impedance', 'operational_space',
)  # fmt: skip
TASKS = {  # with the tool, what was reached, and more laws
    'peg_in_hole': ('peg', 'depth_mm', ()),
    'open_door': ('fork', 'door_angle_deg', ()),
    'hand_over': ('probe', 'displacement_max_mm', ('hand_guiding',)),
}


def cell(task: str, law: str, error: ModelError) -> str:
    """Return success, what was reached, and the largest force of a run."""
    tool, reached, _ = TASKS[task]
    loaded = Experiment.of_files(f'ur5e gripper:={tool}', task, law, error=error).load()
    record = loaded.run()
    found = loaded.task.results(Run(record, track(loaded.robot.model, record)))
    words = 'yes' if found['success'] else 'no'
    return f'{words:>4} {found[reached]:6.1f} {found["peak_force_n"]:6.1f} N'


def main() -> int:
    """Print a row per task and law."""
    print_conditions()
    print(f'{"task":12} {"reached":20} {"law":24}{"exact":>20}{"20 % lighter":>24}')
    for task, (_, reached, more) in TASKS.items():
        for law in (*more, *LAWS):
            cells = [
                cell(task, law, error) for error in (ModelError(), ModelError(mass_scale=(0.8,)))
            ]
            print(f'{task:12} {reached:20} {law:24}{cells[0]:>20}{cells[1]:>24}', flush=True)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
