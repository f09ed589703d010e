"""Time of the main job, `ros2 launch arm_sim cube.launch.py`, from command to prompt.

    ./ws python benchmarks/main_job.py [--rounds 3] [--json FILE] [-- ARGUMENTS OF THE LAUNCH]

Four phases, each with its wall-clock time and the CPU time of each process:
  starting  until the arm moves: launch, imports, models, inverse kinematics
  drawing   until the last state has arrived
  results   table, report, picture, recording
  ending    until `ros2 launch` has returned
The job runs in separate processes and with `composed:=true`. Each round also measures the bare
loop, simulator and controller alone (`loop` and `composed` of benchmarks/lockstep.py), with which
the rate while drawing is compared. Medians count. CPU time per cycle counts where others use the
machine. The CPU time of a process that ends within a phase counts in the phase `ending`.
Each figure stands beside its goal, which a quiet machine met whose bare loops made the rates of
GOALS: the rate as a share of the bare loop, the total as a number of cycles of the bare loop.
"""

import json
import os
import resource
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import psutil
from conditions import (
    Row,
    in_turn,
    medians,
    own_domain,
    print_conditions,
    rounds_parser,
    write_json,
)
from lockstep import measure_loop

PHASES = {'starting': 'the arm moves', 'drawing': '100%', 'results': ' are in /'}
LAST = 'ending'
# Of each job: cycles/s and total [s] asked for, and cycles/s of the bare loop on that machine.
GOALS = {'separate': (4000, 8.0, 4560), 'composed': (15000, 6.0, 27600)}


def cpu_times(launch: psutil.Process) -> dict[str, float]:
    """Return the CPU time of the launch and of each of its processes [s], by executable."""
    found: dict[str, float] = {}
    for process in (launch, *launch.children(recursive=True)):
        try:
            words, used = process.cmdline(), process.cpu_times()
        except psutil.Error:  # has just ended
            continue
        names = [Path(word).name for word in words if '/lib/arm_sim/' in word]
        name = names[0] if names else 'launch'
        found[name] = found.get(name, 0.0) + used.user + used.system
    return found


def measure_job(arguments: list[str], seconds: float) -> Row:
    """Return wall-clock and CPU time [s] of each phase, and cycles per second while drawing."""
    del seconds  # a job lasts as long as it lasts
    row: Row = {}
    with tempfile.TemporaryDirectory() as folder:
        command = ['ros2', 'launch', 'arm_sim', 'cube.launch.py', f'output_dir:={folder}']
        before, begin = _children_cpu(), time.monotonic()
        process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
        launch, phases, last = psutil.Process(process.pid), dict(PHASES), (begin, {}, 0.0)
        assert process.stdout is not None
        for line in process.stdout:
            phase = next(iter(phases), '')
            if not phase or phases[phase] not in line:
                continue
            del phases[phase]
            moment, used = time.monotonic(), cpu_times(launch)
            row[phase] = moment - last[0]
            for name, cpu in used.items():
                row[f'{phase} {name}'] = cpu - last[1].get(name, 0.0)
            last = moment, used, sum(used.values())
        if process.wait() != 0 or phases:
            raise SystemExit(f'{" ".join(command)} ended with exit code {process.returncode}')
        row[LAST] = time.monotonic() - last[0]
        row[f'{LAST} all'] = _children_cpu() - before - last[2]
        row['total'] = time.monotonic() - begin
        report = json.loads((Path(folder) / 'report.json').read_text())
    row['rate'] = report['cycles_per_second']
    return row


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def print_job(title: str, row: Row, bare: Row) -> None:
    """Print a job's phases, and its rate compared with that of the bare loop."""
    names = [key.partition(' ')[2] for key in row if key.startswith('drawing ')]
    print(f'\n{title:12s}{"wall [s]":>10s}   CPU [s]: ' + ' '.join(f'{n:>18s}' for n in names))
    for phase in PHASES:
        cpu = ' '.join(f'{row.get(f"{phase} {name}", 0.0):18.2f}' for name in names)
        print(f'  {phase:10s}{row[phase]:10.2f}            {cpu}')
    print(f'  {LAST:10s}{row[LAST]:10.2f}            {row[f"{LAST} all"]:18.2f} (all)')
    cycles = row['rate'] * row['drawing']
    per_cycle = {name: 1e6 * row[f'drawing {name}'] / cycles for name in names}
    used = ', '.join(f'{name} {value:.0f}' for name, value in per_cycle.items() if value >= 0.5)
    rate, total, of_bare = GOALS[title]
    share, cycles_of_bare = row['rate'] / bare['rate'], row['total'] * bare['rate']
    print(f'  {"total":10s}{row["total"]:10.2f}')
    print(
        f'  {row["rate"]:.0f} cycles/s: {share:.2f} of the bare loop, goal {rate / of_bare:.2f}; '
        f'total: the time of {cycles_of_bare:.0f} cycles of the bare loop, '
        f'goal {total * of_bare:.0f}\n'
        f'  CPU time per cycle [us]: {used}; bare loop {bare["cpu_us"]:.0f}'
    )


def main() -> None:
    """Measure and print."""
    parser = rounds_parser(__doc__, 4.0)
    parser.add_argument('arguments', nargs='*', help='of the launch file, such as record:=false')
    options = parser.parse_args()
    own_domain()
    print_conditions()
    os.environ['PYTHONUNBUFFERED'] = '1'
    bare = {'separate': partial(measure_loop, False), 'composed': partial(measure_loop, True)}
    measures = {f'bare {name}': measure for name, measure in bare.items()}
    for name, composed in (('separate', 'false'), ('composed', 'true')):
        measures[name] = partial(measure_job, [f'composed:={composed}', *options.arguments])
    found = in_turn(measures, options.seconds, options.rounds)
    middle = medians(found)
    for name in bare:
        print_job(name, middle[name], middle[f'bare {name}'])
    write_json(options.json, found)


if __name__ == '__main__':
    main()
