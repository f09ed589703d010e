"""Drawn laws behind the supervisor, good ones and wild ones: does any leave the limits?

    ./ws python benchmarks/supervisor.py --runs 10000

Each run has a drawn law, reference, model error, payload, delay, noise and fault. Its true states
and commands are compared with the limits of the supervisor.
"""

import argparse
import sys
from collections import Counter

import numpy as np
from conditions import print_conditions

from arm_controllers.law import Law
from arm_dynamics.compiled.batch_model import BatchModel
from arm_lab.experiments.experiment import Experiment
from arm_sim.loop.loop import Loop
from arm_tools.driving.supervised_law import SupervisedLaw
from arm_tools.driving.supervisor import Supervisor
from arm_tools.driving.supervisor_parameters import SupervisorParameters
from arm_tools.driving.supervisor_state import DRIVING, STOPPED

LAWS = ('good', 'noise', 'full torque', 'wrong sign', 'too stiff', 'zero', 'not a number', 'jump')
FAULTS = (
    '', '[{kind: frozen_feedback, time: 0.8}]', '[{kind: lost_feedback, time: 0.8}]',
    '[{kind: dropped_commands, time: 0.8, duration: 0.02}]',
    '[{kind: offset_encoder, joint: elbow_joint, value: 0.1, time: 0.8}]',
)  # fmt: skip
START, LENGTH = 0.5, 1.6  # of the wild laws, of a run [s]
BRAKES = 0.1  # without usable readings a robot's own brakes have to act within this time [s]
WORKSPACE = (-0.75, -0.75, 0.05, 0.75, 0.75, 1.1)  # of the UR5e [m]


class WildLaw(Law):
    """Computed torque that from START on does something else on each arm."""

    def __init__(self, law: Law, kinds: np.ndarray, rng: np.random.Generator):
        self.law, self.model, self._kinds, self._rng = law, law.model, kinds, rng
        self._sides = rng.choice([-1.0, 1.0], (len(kinds), law.model.nv))

    def start(self, measured, reference):
        """Begin at period 0."""
        return 0, self.law.start(measured, reference)

    def __call__(self, state, measured, reference, dt):
        """Return the effort of each arm's law."""
        count, own = state
        tau, own = self.law(own, measured, reference, dt)
        if count * dt >= START:
            limit = self.model.effort_limit
            error, rate = reference.q - measured.q, reference.v - measured.v
            others = {
                'noise': self._rng.uniform(-1.0, 1.0, tau.shape) * limit,
                'full torque': self._sides * limit,
                'wrong sign': tau - 2.0 * (400.0 * error + 40.0 * rate),
                'too stiff': tau + 4e4 * error + 4e2 * rate,
                'zero': 0.0 * tau,
                'not a number': np.nan * tau,
                'jump': tau + 400.0 * 0.5 * self._sides,
            }
            for name, other in others.items():
                tau = np.where((self._kinds == LAWS.index(name))[:, np.newaxis], other, tau)
        return tau, (count + 1, own)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=1000)
    parser.add_argument('--first', type=int, default=0, help='number of the first run')
    parser.add_argument('--rate', type=float, default=500.0, help='of control [Hz]')
    parser.add_argument('--block', type=int, default=500, help='runs that are stepped together')
    given = parser.parse_args()
    print_conditions()
    rows: dict[tuple[str, str], Counter] = {}
    worst: dict[str, float] = {}
    for first in range(given.first, given.first + given.runs, given.block):
        for name, values in block(first, given, rows).items():
            worst[name] = max(worst.get(name, 0.0), values)
        print(f'runs up to {first + given.block} done', flush=True)
    columns = ('runs', 'stopped', 'blind', 'beyond')
    print(f'{"law":14} {"fault":18}', *(f'{name:>8}' for name in columns))
    for (law, fault), count in sorted(rows.items()):
        print(f'{law:14} {fault:18}', *(f'{count[name]:8}' for name in columns))
    print('largest value as a share of its limit, in all runs:')
    for name, value in worst.items():
        print(f'  {name:28} {value:.3f}')
    return int(max(worst.values()) > 1.0)


def block(first: int, given, rows) -> dict[str, float]:
    """Run some arms together; count them, and return the largest share of each limit."""
    size, dt = given.block, 1.0 / given.rate
    fault = FAULTS[(first // given.block) % len(FAULTS)]
    experiment = Experiment(
        'ur5e', 'sinusoid', 'computed_torque', engine='analytical', timestep=dt, faults=fault
    )
    loaded = experiment.load()
    model, many = loaded.robot.model, BatchModel(loaded.robot.model)
    rng = np.random.default_rng([7, first])
    ranges = experiment.ranges
    draws = [ranges.draw(model, 7, index) for index in range(first, first + size)]
    kinds = rng.integers(len(LAWS), size=size)
    plant, _ = loaded.batch(draws)
    box = np.reshape(WORKSPACE, (2, 3))
    parameters = SupervisorParameters(workspace=WORKSPACE, rest_time=0.1, ramp_time=0.3)
    supervisor = Supervisor(many, parameters, 'effort')
    law = SupervisedLaw(WildLaw(loaded.batch_law(many), kinds, rng), supervisor)
    inside = _Inside(many, rng, size, supervisor)
    loop = Loop(plant, law, inside, per_arm=True)
    found = {}
    beyond, last, counted = np.zeros(size, dtype=bool), None, np.full(size, BRAKES)
    for _ in range(round(LENGTH / dt)):
        step = loop.step()
        tool = supervisor.tool_at(step.q)
        shares = {
            'speed': np.abs(step.v) / model.velocity_limit,
            'torque': np.abs(step.command) / model.effort_limit,
            'position': np.abs(step.q - _middle(model)) / _half(model),
            'workspace': np.abs(tool - box.mean(axis=0)) / (0.5 * (box[1] - box[0])),
        }
        if last is not None:
            rate = np.abs(step.command - last) / dt / supervisor.parameters.torque_rate
            shares['torque rate'] = rate / (1.0 + 1e-9)
        last = step.command
        counted -= dt * loop.law_state[1].blind[:, 0]
        for name, share in shares.items():
            share = share[counted > 0.0]
            found[name] = max(found.get(name, 0.0), float(share.max(initial=0.0)))
            beyond[counted > 0.0] |= (share > 1.0).any(axis=-1)
    phase = loop.law_state[1].phase[:, 0]
    word = fault.partition('kind: ')[2].partition(',')[0] or 'none'
    for arm in range(size):
        count = rows.setdefault((LAWS[kinds[arm]], word), Counter())
        count['runs'] += 1
        count['stopped'] += int(phase[arm] == STOPPED)
        count['blind'] += int(counted[arm] < BRAKES)
        count['beyond'] += int(beyond[arm])
        assert phase[arm] in (DRIVING, STOPPED)
    return found


def _middle(model):
    return 0.5 * (model.position_lower + model.position_upper)


def _half(model):
    return 0.5 * (model.position_upper - model.position_lower)


class _Inside:
    """A reference that rests until START, then moves; its start is inside the workspace."""

    def __init__(self, model, rng, size, supervisor):
        low, high = supervisor.box
        q = np.zeros((0, model.nv))
        while len(q) < size:
            drawn = rng.uniform(-2.5, 2.5, (4 * size, model.nv))
            tool = supervisor.tool_at(drawn)
            q = np.concatenate([q, drawn[((tool > low) & (tool < high)).all(axis=-1)]])
        self._q = q[:size]
        self._ways = rng.uniform(-0.6, 0.6, (size, model.nv))

    def __call__(self, t, reference):
        s = max(t - START, 0.0)
        reference.row[:] = 0.0
        reference.q[:] = self._q + self._ways * 0.5 * (1.0 - np.cos(2.0 * s))
        reference.v[:] = self._ways * np.sin(2.0 * s)
        reference.a[:] = self._ways * 2.0 * np.cos(2.0 * s) * (s > 0.0)


if __name__ == '__main__':
    sys.exit(main())
