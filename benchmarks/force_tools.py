"""Force laws with three tools: a ball, a flat disc, the edge of a box. One table.

    ./ws python benchmarks/force_tools.py

The tools are the shipped probe with another shape at its end, of the same mass and length. On the
plane of `press` and the tilted plane of `wipe` a ball touches at one point, wherever the tool is
turned; a disc and an edge touch at several, and their contacts turn the tool as well.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from conditions import print_conditions

from arm_dynamics.robots import share_folder
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.measures import track
from arm_sim.tasks import Run

LAWS = (
    'hybrid_force_motion', 'parallel_force_position', 'admittance', 'admittance_effort',
    'cartesian_impedance', 'mpc',
)  # fmt: skip
_BALL = '<origin xyz="0 0 0.1"/>\n      <geometry><sphere radius="0.01"/></geometry>'
# Each ends 10 mm beyond the tool frame, as the ball does.
SHAPES = {
    'ball of 20 mm': _BALL,
    'disc of 40 mm': (
        '<origin xyz="0 0 0.105"/>\n'
        '      <geometry><cylinder radius="0.02" length="0.01"/></geometry>'
    ),
    'edge of 40 mm': (
        '<origin xyz="0 0 0.1" rpy="0.785398163397 0 0"/>\n'
        '      <geometry><box size="0.04 0.014142135624 0.014142135624"/></geometry>'
    ),
}
TASKS = (('press', 4e4), ('wipe', 4e4))


def main() -> int:
    """Print a row per law and tool."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--laws', nargs='+', default=LAWS)
    laws = parser.parse_args().laws
    print_conditions()
    heads = ' | '.join(f'{task}, {k:.0e} N/m' for task, k in TASKS)
    print(f'| law | tool | {heads} |\n| --- | --- |{" ---: |" * len(TASKS)}')
    probe = (share_folder() / 'urdf' / 'grippers' / 'probe.urdf').read_text()
    with tempfile.TemporaryDirectory() as folder:
        for law in laws:
            for number, (tool, shape) in enumerate(SHAPES.items()):
                path = Path(folder, f'tool_{number}.urdf')
                path.write_text(probe.replace(_BALL, shape))
                cells = [cell(str(path), law, task, stiffness) for task, stiffness in TASKS]
                print(f'| `{law}` | {tool} | {" | ".join(cells)} |', flush=True)
    return 0


def cell(tool: str, law: str, task: str, stiffness: float) -> str:
    """Return the RMS error of the force [N]; * where the task fails."""
    case = Experiment.of_files(f'ur5e gripper:={tool}', task, law)
    loaded = replace(case.load(), given={'surface_stiffness': stiffness})
    record = loaded.run()
    found = loaded.task.report.results(Run(record, track(loaded.robot.model, record)))
    return f'{found["force_error_rms_n"]:.2g}{"" if found["success"] else "*"}'


if __name__ == '__main__':
    sys.exit(main())
