"""Drawn laws and readings that lie behind the supervisor: does any arm leave the limits?

    ./ws python benchmarks/supervisor.py --runs 10000

Each run has a drawn law, reference, model error, payload, delay, noise and fault, a rate between
30 and 1000 Hz, and half of the robots send neither velocities nor efforts. True states and
commands are compared with the limits of the supervisor. An arm without noise or a law that goes
wrong must not be stopped for readings that freeze; one whose readings freeze must be.

With `--joint` no run has a fault, but from 1.1 s on the readings of one joint lie.
"""

import argparse
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
from conditions import print_conditions

from arm_controllers.law import Law
from arm_dynamics.compiled.batch_model import BatchModel
from arm_lab.experiments.experiment import Experiment
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.loop import Loop
from arm_tools.driving.presets import period_of
from arm_tools.driving.supervised_law import SupervisedLaw
from arm_tools.driving.supervisor import Supervisor
from arm_tools.driving.supervisor_parameters import SupervisorParameters
from arm_tools.driving.supervisor_state import DRIVING, STOPPED, WAITING

LAWS = ('good', 'noise', 'full torque', 'wrong sign', 'too stiff', 'zero', 'not a number', 'jump')
FAULTS = (
    '', '[{kind: frozen_feedback, time: 1.1}]', '[{kind: lost_feedback, time: 1.1}]',
    '[{kind: dropped_commands, time: 1.1, duration: 0.02}]',
    '[{kind: offset_encoder, joint: elbow_joint, value: 0.1, time: 1.1}]',
    '[{kind: frozen_feedback, time: 0.75}]',
)  # fmt: skip
# Rates are drawn [Hz]; by effort a law with these gains needs the upper ones.
INTERFACES = (('computed_torque', 'effort', 250.0, 1000.0), ('servo', 'position', 30.0, 1000.0))
START, LENGTH = 0.8, 1.9  # of the wild laws, of a run [s]
# What the readings of one joint may do, as a factor of its way; the joint: the shoulder's lift.
LIES, LIAR = {'frozen': 0.0, 'mirrored': -1.0}, 1
BRAKES = 0.1  # without usable readings a robot's own brakes have to act within this time [s]
WORKSPACE = (-0.75, -0.75, 0.05, 0.75, 0.75, 1.1)  # of the UR5e [m]


class WildLaw(Law):
    """A law that from START on does something else on each arm."""

    def __init__(self, law: Law, kinds: np.ndarray, rng: np.random.Generator, dt: float):
        self.law, self.model, self._kinds, self._rng, self._dt = law, law.model, kinds, rng, dt
        self.command_interface = law.command_interface
        self._sides = rng.choice([-1.0, 1.0], (len(kinds), law.model.nv))

    def start(self, measured, reference):
        """Begin at period 0."""
        return 0, self.law.start(measured, reference)

    def __call__(self, state, measured, reference, dt):
        """Return the command of each arm's law."""
        count, own = state
        u, own = self.law(own, measured, reference, dt)
        if count * self._dt >= START:
            error, rate = reference.q - measured.q, reference.v - measured.v
            base, most, feedback, step = {
                'effort': (0.0, self.model.effort_limit, 400.0 * error + 40.0 * rate, 200.0),
                'position': (measured.q, 1.0, error, 0.5),
            }[self.command_interface]
            others = {
                'noise': base + self._rng.uniform(-1.0, 1.0, u.shape) * most,
                'full torque': base + self._sides * most,
                'wrong sign': u - 2.0 * feedback,
                'too stiff': u + 100.0 * feedback,
                'zero': 0.0 * u,
                'not a number': np.nan * u,
                'jump': u + step * self._sides,
            }
            for name, other in others.items():
                u = np.where((self._kinds == LAWS.index(name))[:, np.newaxis], other, u)
        return u, (count + 1, own)


class LackingLaw(SupervisedLaw):
    """A law behind a supervisor on robots of which some send neither velocities nor efforts.

    `lie`: what the readings of joint LIAR do from 1.1 s on, of LIES, or ''.
    """

    def __init__(self, law: Law, supervisor: Supervisor, lacks: np.ndarray, lie: str):
        super().__init__(law, supervisor)
        self._lacks, self._before, self._first = lacks[:, np.newaxis], None, None
        self._lie, self._time, self._held = lie, 0.0, None

    def _lied(self, measured, dt):
        self._time += dt
        if not self._lie or self._time < 1.1:
            return measured
        q, v, side = measured.q.copy(), measured.v.copy(), LIES[self._lie]
        self._held = q[:, LIAR].copy() if self._held is None else self._held
        q[:, LIAR] = self._held + side * (q[:, LIAR] - self._held)
        v[:, LIAR] *= side
        return measured._replace(q=q, v=v)

    def __call__(self, state, measured, reference, dt):
        """Return the supervised command; velocities that lack are differences of positions."""
        measured = self._lied(measured, dt)
        before = measured.q if self._before is None else self._before
        self._before = measured.q.copy()
        v = np.where(self._lacks, (measured.q - before) / dt, measured.v)
        sent, new = super().__call__(state, measured._replace(v=v, effort=None), reference, dt)
        if self.command_interface == 'position':  # the robot's own controller holds it meanwhile
            self._first = measured.q.copy() if self._first is None else self._first
            sent = np.where(new[1].phase == WAITING, self._first, sent)
        return sent, new


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=1000)
    parser.add_argument('--first', type=int, default=0, help='number of the first run')
    parser.add_argument('--block', type=int, default=500, help='runs that are stepped together')
    parser.add_argument('--joint', choices=LIES, default='', help='how readings of one joint lie')
    given = parser.parse_args()
    print_conditions()
    rows: dict[tuple, Counter] = {}
    worst: dict[str, float] = {}
    for first in range(given.first, given.first + given.runs, given.block):
        for name, values in block(first, given.block, rows, given.joint).items():
            worst[name] = max(worst.get(name, 0.0), values)
        print(f'runs up to {first + given.block} done', flush=True)
    for title, keys in (('robot', (0, 1)), ('law', (2, 1)), ('fault', (3, 1))):
        table(title, keys, rows)
    print('largest value as a share of its limit, in all runs:')
    for name, value in worst.items():
        print(f'  {name:28} {value:.3f}')
    return int(max(worst.values()) > 1.0 or any(each['false'] for each in rows.values()))


def table(title: str, keys: tuple[int, ...], rows: dict[tuple, Counter]) -> None:
    """Print the runs by some of their keys."""
    columns = ('runs', 'waited', 'stopped', 'blind', 'false', 'unseen', 'beyond')
    print(f'{title:24} {"sends":24}', *(f'{name:>8}' for name in columns), 'noticed within [s]')
    sums: dict[tuple, Counter] = {}
    for key, count in rows.items():
        own = sums.setdefault(tuple(key[k] for k in keys), Counter())
        late = max(own.pop('late', 0.0), count['late'])
        own.update({name: count[name] for name in columns})
        own['late'] = late
    for key, count in sorted(sums.items()):
        numbers = (f'{count[name]:8}' for name in columns)
        print(*(f'{word:24}' for word in key), *numbers, f'{count["late"]:8.3f}')


def block(first: int, size: int, rows: dict[tuple, Counter], joint: str = '') -> dict[str, float]:
    """Run some arms together; count them, and return the largest share of each limit."""
    rng = np.random.default_rng([7, first])
    number = first // size
    law_name, interface, low, high = INTERFACES[number % 2]
    fault = '' if joint else FAULTS[number // 2 % (6 if interface == 'position' else 5)]
    dt = period_of(low * (high / low) ** rng.random())
    experiment = Experiment(
        'ur5e', 'sinusoid', law_name, engine='analytical', timestep=dt, faults=fault,
        natural_frequency=min(20.0 if interface == 'effort' else 60.0, 0.6 / dt),
        drives=DriveParameters(servo_compensation=interface != 'effort'),
        **({'feedforward': 'none'} if law_name == 'servo' else {}),
    )  # fmt: skip
    # Robots that take efforts have encoders fine enough to flicker.
    quiet = interface == 'position' and bool(
        rng.integers(2)
    )  # else noise that rests below `rest_speed`, as differences too
    noise = 0.0 if quiet else 1.0
    # A robot's own position loop knows its arm.
    known = {'mass': 0.02, 'friction': 0.002} if interface == 'position' else {}
    ranges = replace(
        experiment.ranges,
        **known,
        velocity_noise=1e-3 * noise,
        position_noise=min(1e-5, 2e-3 * dt) * noise,
    )
    loaded = experiment.load()
    model, many = loaded.robot.model, BatchModel(loaded.robot.model)
    draws = [ranges.draw(model, 7, index) for index in range(first, first + size)]
    kinds, lacks = rng.integers(len(LAWS), size=size), rng.integers(2, size=size) > 0
    plant, _ = loaded.batch(draws)
    box = np.reshape(WORKSPACE, (2, 3))
    parameters = SupervisorParameters(
        workspace=WORKSPACE, rest_time=0.1, ramp_time=0.3, latency=max(0.008, 3.0 * dt)
    )
    supervisor = Supervisor(many, parameters, interface)
    wild = WildLaw(loaded.batch_law(many), kinds, rng, dt)
    law = LackingLaw(wild, supervisor, lacks, joint)
    inside = _Inside(many, rng, size, supervisor)
    loop = Loop(plant, law, inside, per_arm=True)
    found = {}
    beyond, last, counted = {}, None, np.full(size, BRAKES)
    unseen, driven = np.full(size, np.nan), np.zeros(size, dtype=bool)
    sags = driven.copy()  # rests outside the workspace, by the robot's own loop, before the law
    names = [each.name for each in supervisor.checks]
    frozen = next(names.index(x) for x in names if 'has not moved' in x)
    for _ in range(round(LENGTH / dt)):
        step = loop.step()
        state = loop.law_state[1]
        tool = supervisor.tool_at(step.q)
        shares = {
            'speed': np.abs(step.v) / model.velocity_limit,
            'position': np.abs(step.q - _middle(model)) / _half(model),
            'workspace': np.abs(tool - box.mean(axis=0)) / (0.5 * (box[1] - box[0])),
        }
        if interface == 'effort':
            shares['torque'] = np.abs(step.command) / model.effort_limit
            if last is not None:
                rate = np.abs(step.command - last) / dt / supervisor.parameters.torque_rate
                shares['torque rate'] = rate / (1.0 + 1e-9)
        last = step.command
        begins = ~driven & (state.phase[:, 0] != WAITING)
        sags |= begins & (shares['workspace'] > 1.0).any(axis=-1)
        shares['workspace'][sags] = 0.0
        driven |= begins
        stops = (state.phase[:, 0] == STOPPED) & np.isnan(unseen)
        unseen[stops] = step.t
        counted -= dt * state.blind[:, 0]
        watched = driven & (counted > 0.0)
        for name, share in shares.items():
            share = share[watched]
            found[name] = max(found.get(name, 0.0), float(share.max(initial=0.0)))
            most = beyond.setdefault(name, np.zeros(size))
            most[watched] = np.maximum(most[watched], share.max(axis=-1))
    value, limit = state.seen[:, 0, frozen, 0], state.seen[:, 1, frozen, 0]
    froze = (value > limit) & ~np.isnan(unseen)
    word = fault.partition('kind: ')[2].partition(',')[0] or joint or 'none'
    if 'time: 0.75' in fault:
        word += ' at rest'
    begins = 1.1 if 'time: 1.1' in fault else START
    for arm in range(size):
        sends = 'positions only' if lacks[arm] else 'velocities too'
        robot = f'{interface}, {"no noise" if quiet else "noise"}'
        key = (robot, sends, LAWS[kinds[arm]], word)
        count = rows.setdefault(key, Counter())
        count['runs'] += 1
        count['stopped'] += int(state.phase[arm, 0] == STOPPED)
        count['blind'] += int(counted[arm] < BRAKES)
        above = [f'{name} {most[arm]:.3f}' for name, most in beyond.items() if most[arm] > 1.0]
        count['beyond'] += bool(above)
        if above:
            print(
                f'run {first + arm}, {1.0 / dt:.0f} Hz: {", ".join((*key, *above))} of the limit'
            )
        if 'frozen' in word:
            count['unseen'] += int(state.phase[arm, 0] == DRIVING)
            if froze[arm]:
                count['late'] = max(count['late'], unseen[arm] - begins)
        else:
            count['false'] += int(froze[arm])
        count['waited'] += int(not driven[arm])
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
