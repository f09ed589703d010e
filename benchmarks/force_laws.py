"""Every force law on every contact task: one table, one picture, and drawn arms of each.

    ./ws python benchmarks/force_laws.py                # exact, and with an arm 20 % lighter
    ./ws python benchmarks/force_laws.py --samples 20   # drawn arms

A drawn arm has masses that are 20 % off, friction, delays, weaker drives and noise. `--keep FILE`
holds the results of finished runs, so that a run that was stopped goes on.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from collide import THRESHOLDS
from conditions import print_conditions

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.laws import law_class
from arm_dynamics.model_error import ModelError
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.monte_carlo import run_monte_carlo
from arm_sim.loop.measures import heading_of, track
from arm_sim.tasks import Run, task_class

LAWS = (
    'hybrid_force_motion', 'parallel_force_position', 'admittance', 'admittance_effort',
    'cartesian_impedance', 'mpc', 'operational_space', 'hand_guiding',
)  # fmt: skip
GUIDED = 'hand_guiding'  # follows no trajectory and no wrench goal
PICTURE = 'docs/images/force.png'
Found = list[float] | None  # the numbers of a cell; None: the law does not do the task
Table = dict[tuple[str, str], list[Found]]  # by column and law
ERRORS = {'exact': ModelError(), 'lighter': ModelError(mass_scale=(0.8,))}


class Column(NamedTuple):
    """One task in the table.

    Attributes:
        task: by name.
        tool: of the arm.
        shown: what the numbers are, in two lines.
        number: of the report of the task.
        guarded: whether the controller has a guard that lets the arm float.
        judged: whether the task can fail.
    """

    task: str
    tool: str
    shown: str
    number: str
    guarded: bool = False
    judged: bool = True

    def experiment(self, law: str, **others: Any) -> Experiment | None:
        """Return the experiment of a law; None: the law does not do the task."""
        effort = law_class(law).command_interface == 'effort'
        if (law == GUIDED and self.task != 'hand_over') or (self.guarded and not effort):
            return None
        guard = GuardParameters(reaction='float', **THRESHOLDS) if self.guarded else None
        given = others | ({'guard': guard} if guard else {})
        return Experiment.of_files(f'ur5e gripper:={self.tool}', self.task, law, **given)


COLUMNS = {
    'press': Column('press', 'probe', 'force error\nRMS [N]', 'force_error_rms_n'),
    'wipe': Column('wipe', 'probe', 'force error\nRMS [N]', 'force_error_rms_n'),
    'follow_edge': Column('follow_edge', 'probe', 'force error\nRMS [N]', 'force_error_rms_n'),
    'peg_in_hole': Column('peg_in_hole', 'peg', 'depth [mm]\nof 25', 'depth_mm'),
    'open_door': Column('open_door', 'fork', 'largest force\n[N]', 'peak_force_n'),
    'hand_over': Column('hand_over', 'probe', 'gives way [mm]\n30 or more', 'displacement_max_mm'),
    'collide': Column('collide', 'probe', 'largest force\n[N]', 'peak_force_n', judged=False),
    'collide, guard': Column(
        'collide', 'probe', 'largest force\n[N]', 'peak_force_n', guarded=True, judged=False
    ),
}


def run(column: Column, law: str, error: ModelError) -> Found:
    """Return the number of a run, and whether it succeeded."""
    experiment = column.experiment(law, error=error)
    if experiment is None:
        return None
    loaded = experiment.load()
    record = loaded.run()
    found = loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
    return [found[column.number], float(found['success'])]


def spread(column: Column, law: str, samples: int) -> Found:
    """Return median and 95th percentile of what ranks laws in the task, and arms that failed."""
    experiment = column.experiment(law)
    if experiment is None:
        return None
    (found,) = run_monte_carlo(experiment, (law,), samples)
    return [found.median, found.percentile_95, found.unstable]


def results(columns: Mapping[str, Column], samples: int, keep: Path | None) -> Table:
    """Run what a file does not have, and return what was found."""
    kept = json.loads(keep.read_text()) if keep and keep.exists() else {}
    table: Table = {}
    for name, column in columns.items():
        for law in LAWS:
            found: list[Found] = []
            for error in [f'{samples} drawn'] if samples else ERRORS:
                key = f'{name}: {law}: {error}'
                if key not in kept:
                    each = (
                        spread(column, law, samples)
                        if samples
                        else run(column, law, ERRORS[error])
                    )
                    kept[key] = each
                    if keep:
                        keep.write_text(json.dumps(kept))
                found.append(kept[key])
            table[name, law] = found
            print(f'{name}: {law}: {found}', file=sys.stderr, flush=True)
    return table


def short(value: float) -> str:
    """Return a number with two digits, without exponents for large ones."""
    return f'{value:.0f}' if value >= 10.0 else f'{value:.2g}'.replace('e-0', 'e-')


def cell(column: Column, found: Sequence[Found]) -> str:
    """Return the text of a cell: exact / lighter, * for a failure; or median / 95 %."""
    texts = []
    for one in found:
        if one is None:
            return ''
        if len(one) == 3:
            unstable = f' ({one[2]:.0f} unstable)' if one[2] else ''
            return f'{short(one[0])} / {short(one[1])}{unstable}'
        texts.append(short(one[0]) + ('*' if column.judged and not one[1] else ''))
    return ' / '.join(texts)


def heading(name: str, column: Column, samples: int) -> str:
    """Return the heading of a column."""
    shown = heading_of(task_class(column.task).evaluation.ranked_by) if samples else column.shown
    return f'{name}: {" ".join(shown.split())}'


def draw(table: Table) -> None:
    """Write the picture: a row per law, a column per task; colours say success."""
    from matplotlib.patches import Patch, Rectangle

    from arm_sim.pictures import BLUE, ORANGE, SMALL, TEXT, new_figure, save

    title = 'Every force law on every contact task (UR5e, 500 Hz)'
    figure = new_figure(13.0, 4.4, title)
    axes = figure.subplots()
    colours = {True: BLUE, False: ORANGE}
    for x, (name, column) in enumerate(COLUMNS.items()):
        heading = name.replace(', ', ',\n')
        axes.text(x + 0.5, -0.95, heading, ha='center', va='bottom', fontsize=TEXT, weight='bold')
        axes.text(x + 0.5, -0.12, column.shown, ha='center', va='bottom', fontsize=SMALL)
        for y, law in enumerate(LAWS):
            for half, one in enumerate(table[name, law]):
                left = x + 0.02 + 0.48 * half
                if one is None:
                    axes.text(left + 0.24, y + 0.5, '-', ha='center', va='center', color='0.6')
                    continue
                color = colours[bool(one[1])] if column.judged else '0.6'
                shape = Rectangle((left, y + 0.06), 0.46, 0.88, color=color, alpha=0.28, lw=0)
                axes.add_patch(shape)
                text = short(one[0])
                axes.text(left + 0.23, y + 0.5, text, ha='center', va='center', fontsize=SMALL)
    axes.set_xlim(0.0, len(COLUMNS))
    axes.set_ylim(len(LAWS), -1.6)
    axes.set_yticks([y + 0.5 for y in range(len(LAWS))], LAWS, fontsize=TEXT)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    patches = [
        Patch(color=BLUE, alpha=0.28, label='success'),
        Patch(color=ORANGE, alpha=0.28, label='failure'),
        Patch(color='0.6', alpha=0.28, label='no limit'),
    ]
    words = 'left: exact model; right: arm 20 % lighter than the law believes'
    figure.legend(
        handles=patches, loc='outside lower center', ncols=3, frameon=False, fontsize=SMALL,
        title=words, title_fontsize=SMALL,
    )  # fmt: skip
    save(figure, PICTURE)


def main() -> None:
    """Print the table, and draw the picture if there are no drawn arms."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--samples', type=int, default=0, help='number of drawn arms per law')
    parser.add_argument('--tasks', default=';'.join(COLUMNS), help='columns, separated by ;')
    parser.add_argument('--keep', type=Path, help='file of finished runs')
    given = parser.parse_args()
    print_conditions()
    columns = {name: COLUMNS[name] for name in given.tasks.split(';')}
    table = results(columns, given.samples, given.keep)
    heads = ' | '.join(heading(*one, given.samples) for one in columns.items())
    print(f'| | {heads} |\n| --- |' + ' ---: |' * len(columns))
    for law in LAWS:
        cells = ' | '.join(cell(column, table[name, law]) for name, column in columns.items())
        print(f'| `{law}` | {cells} |')
    if not given.samples and columns == COLUMNS:
        draw(table)
        print(f'wrote {PICTURE}')


if __name__ == '__main__':
    main()
