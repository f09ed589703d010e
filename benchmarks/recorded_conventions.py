"""Does inspect_recording name what a recording is? Drawn conventions over simulated recordings.

    ./ws python benchmarks/recorded_conventions.py --draws 1000 --minutes 10

Each draw is a bag of an arm whose inertials are 30 % off its model, with friction and noise: which
topics, signs, units, gravity, order of joints, stamps and split files it has is drawn. The table
has the share of draws in which each was named correctly; `doubts` is no false line on a late or
clipped joint, or on all efforts halved. A second table has how many of these there were, and how
many were named: a motion may hide them behind what the model lacks. Of a share of the draws,
identify writes an arm: it is wrong where it explains the torques of another motion worse than the
given model, all joints together. The exit code is 1 below 99 % or with a wrong arm. `--minutes`
of CPU time end the draws early; the table has the number of draws.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from conditions import print_conditions
from identification import other_arm
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from arm_dynamics import ArmError, RobotModel
from arm_lab.identification.estimation import IdentificationParameters, identify
from arm_lab.identification.fourier import FourierSeries, at_rest_at_start
from arm_lab.identification.identified_arm import weightless, with_parameters
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples
from arm_lab.progress import progress
from arm_sim.robot import Robot
from arm_tools.inspection.inspected import Inspected, inspected
from arm_tools.inspection.known_efforts import EffortsAre
from arm_tools.readers.read_options import ReadAs

STORE = get_typestore(Stores.ROS2_JAZZY)
KIND = 'sensor_msgs/msg/JointState'
ROBOTS = 'ur5e', 'planar_3r', 'five_joint_arm'
TRAITS = (
    'topic', 'clock', 'split', 'units', 'positions', 'signs', 'gravity', 'efforts', 'velocities',
    'doubts',
)  # fmt: skip
# What the drawn velocities are, and how their line begins.
VELOCITIES = {
    'none': 'not recorded', 'own': 'those of the positions', 'zero': 'all are 0',
    'exchanged': 'under ',
}  # fmt: skip
LATE, CLIPPED, CLIPPED_NOISE = 0.012, 0.2, 0.01  # [s]; quantile; over the efforts' range
START, SECONDS, RATE = 1_700_000_000, 14.0, 100.0  # receive clock [s], of a recording [s], [Hz]
NOISE = 0.02  # of the torques, relative to each joint's RMS


@dataclass(frozen=True)
class Drawn:
    """What a recording is.

    Attributes:
        robot, seed: of the arm, its error and its motion.
        topics: 'one', 'desired' (a second topic without efforts), 'two' (both with efforts).
        stamped: whether headers have stamps.
        parts: number of files.
        degrees: unit of the positions.
        reversed: joint whose position and effort have the other sign; -1: none.
        flipped: (n,) 1 or -1, sign of the efforts.
        weight: whether efforts contain gravity.
        scales: (n,) recorded over true effort.
        order: (n,) of the joints in the messages.
        velocities: a key of `VELOCITIES`.
        half: factor on all efforts.
        late, clipped: joint whose effort is late, or clipped with noise on it; -1: none.
    """

    robot: str
    seed: int
    topics: str
    stamped: bool
    parts: int
    degrees: bool
    reversed: int
    flipped: np.ndarray
    weight: bool
    scales: np.ndarray
    order: np.ndarray
    velocities: str = 'none'
    half: float = 1.0
    late: int = -1
    clipped: int = -1


def drawn(seed: int) -> Drawn:
    """Draw a recording."""
    rng = np.random.default_rng(seed)
    robot = str(rng.choice(ROBOTS))
    n = model_of(robot).nv
    flipped = np.where(rng.random(n) < 0.15, -1.0, 1.0)
    one = rng.random() < 0.15
    draw = Drawn(
        robot, seed % 10, str(rng.choice(['one', 'desired', 'two'], p=[0.5, 0.35, 0.15])),
        bool(rng.random() < 0.7), int(rng.choice([1, 3, 12], p=[0.6, 0.25, 0.15])),
        bool(rng.random() < 0.15), int(rng.integers(n)) if one else -1, flipped,
        bool(rng.random() < 0.7),
        rng.uniform(0.05, 0.2, n) if rng.random() < 0.2 else np.ones(n), rng.permutation(n),
    )  # fmt: skip
    draw = replace(draw, velocities=str(rng.choice([*VELOCITIES])))
    what, joint = (
        rng.choice(['', 'half', 'late', 'clipped'], p=[0.7, 0.1, 0.1, 0.1]),
        rng.integers(n),
    )
    if what == 'half' and (draw.scales == 1.0).all():
        return replace(draw, half=float(rng.choice([0.5, 2.0])))
    return replace(draw, **{str(what): int(joint)}) if what in ('late', 'clipped') else draw


@cache
def model_of(robot: str) -> RobotModel:
    """Return the model that a recording is inspected with."""
    return Robot.load(robot).model


@cache
def exact(robot: str, seed: int, period: float = 7.0) -> tuple[MotionSamples, np.ndarray]:
    """Return a recording of the true arm, and the weight of its links (m, n)."""
    model = model_of(robot)
    plant, rng = other_arm(model, seed), np.random.default_rng([seed, round(period)])
    cosine, sine = at_rest_at_start(*rng.normal(size=(2, 5, model.nv)))
    lower, upper = model.position_lower.clip(-2.0), model.position_upper.clip(max=2.0)
    motion = FourierSeries(0.5 * (lower + upper), cosine, sine, period)
    q, v, _ = motion.states(np.linspace(0.0, period, 400))
    most = np.minimum(0.45 * (upper - lower), 0.7 * np.pi)
    motion = motion.scaled(np.minimum(most / np.ptp(q, axis=0), 1.5 / np.abs(v).max(axis=0)))
    times = np.arange(1.0, 1.0 + SECONDS, 1.0 / RATE)
    states = motion.states(times)
    tau = np.array([plant.inverse_dynamics(*x) for x in zip(*states, strict=True)])
    tau += NOISE * np.sqrt((tau**2).mean(axis=0)) * rng.standard_normal(tau.shape)
    weight = np.array([plant.gravity_torque(q) for q in states[0]])
    return MotionSamples(times, states[0], tau), weight


def recorded(draw: Drawn) -> MotionSamples:
    """Return the numbers that the draw's recording has."""
    true, weight = exact(draw.robot, draw.seed)
    effort = (true.effort - (0.0 if draw.weight else weight)) * draw.flipped * draw.scales
    q, effort = true.q.copy(), draw.half * effort
    if draw.late >= 0:
        effort[:, draw.late] = np.interp(true.times - LATE, true.times, effort[:, draw.late])
    if (j := draw.clipped) >= 0:
        low, high = np.quantile(effort[:, j], [CLIPPED, 1.0 - CLIPPED])
        noise = np.random.default_rng(draw.seed).standard_normal(len(effort))
        effort[:, j] = np.clip(effort[:, j], low, high) + CLIPPED_NOISE * (high - low) * noise
    if draw.reversed >= 0:
        q[:, draw.reversed] *= -1.0
    slides = model_of(draw.robot).prismatic
    return MotionSamples(
        true.times, np.where(slides | (not draw.degrees), q, np.degrees(q)), effort
    )


def write(folder: Path, draw: Drawn) -> Path:
    """Write the bag of a draw; in parts without metadata, as after a move of its files."""
    state, header, time = (
        STORE.types[name] for name in (KIND, 'std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
    )
    samples, names = recorded(draw), np.array(model_of(draw.robot).joint_names)[draw.order]
    v = np.gradient(samples.q, samples.times, axis=0) * (draw.velocities != 'zero')
    if draw.velocities == 'exchanged':
        v[:, [0, 1]] = v[:, [1, 0]]
    topics = {'joint_states': samples.effort}
    if draw.topics != 'one':
        topics['other_states'] = samples.effort * (draw.topics == 'two')
    folder.mkdir()
    for part, rows in enumerate(np.array_split(np.arange(len(samples.times)), draw.parts)):
        with Writer(folder / 'w', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            links = {x: writer.add_connection(f'/{x}', KIND, typestore=STORE) for x in topics}
            for k in rows:
                for shift, (topic, effort) in enumerate(topics.items()):
                    t = samples.times[k] + 0.001 * shift
                    stamp = time(*divmod(round(t * 1e9), 10**9)) if draw.stamped else time(0, 0)
                    q = samples.q[(k + 4 * shift) % len(samples.q)][draw.order]
                    speed = v[(k + 4 * shift) % len(v)][draw.order]
                    message = state(
                        header(stamp, ''), list(names), q,
                        np.zeros(0) if draw.velocities == 'none' else speed, effort[k][draw.order],
                    )  # fmt: skip
                    data = STORE.serialize_cdr(message, KIND)
                    writer.write(links[topic], round((t + START) * 1e9), data)
        file = next((folder / 'w').glob('*.mcap'))
        file.rename(folder / f'bag_{part}.mcap')
        shutil.rmtree(folder / 'w')
    return folder


def named(path: Path, draw: Drawn) -> tuple[dict[str, bool], Inspected]:
    """Return which traits inspect_recording names correctly, and what it found."""
    model, right, how = model_of(draw.robot), {}, ReadAs()
    try:
        inspected(path, model)
        refused = False
    except ArmError as error:
        refused = '--topic' in str(error)
    right['topic'] = refused == (draw.topics == 'two')
    how = ReadAs(topic='/joint_states')
    units = 'deg' if draw.degrees else 'auto'
    try:
        found = inspected(path, model, how)
        said_degrees = any('--units deg' in line for line in found.open)
    except ArmError as error:
        said_degrees = '--units deg' in str(error)
    right['units'] = said_degrees == draw.degrees
    how = replace(how, units=units)
    found = inspected(path, model, how)
    said = [line for line in found.open if line.startswith('positions')]
    joint = model.joint_names[draw.reversed] if draw.reversed >= 0 else ''
    sign = next((x for x in found.lines if x.startswith('sign of the positions')), '')
    unseen = joint and joint in sign.partition('not shown by this motion: ')[2].split(', ')
    right['positions'] = len(said) == int(bool(joint and not unseen)) and all(
        f'--flip-positions {joint}' in x for x in said
    )
    known = EffortsAre(flip_positions=joint or 'none')
    found = inspected(path, model, how, known)
    right['split'] = bool((np.diff(found.samples.times) > 0.0).all())
    right['clock'] = any('receive times' in x for x in found.lines[:2]) == (not draw.stamped) or (
        draw.stamped and any('stamps of the headers' in x for x in found.lines)
    )
    line = next(x for x in found.lines if x.startswith('sign of the efforts'))
    hidden = line.partition('not shown by this motion: ')[2].split(', ')
    read = np.sign((found.samples.effort * recorded(draw).effort).sum(axis=0))
    shown = np.array([name not in hidden for name in model.joint_names])
    right['signs'] = bool((read == draw.flipped)[shown].all())
    heavy = bool(exact(draw.robot, draw.seed)[1].any())
    asks = any(x.startswith('gravity') for x in found.open)
    right['gravity'] = (not asks and found.weightless == (not draw.weight)) or not heavy
    lines = [x for x in found.open if x.startswith('unit of')]
    right['efforts'] = bool(lines) == bool((draw.scales != 1.0).any())
    if draw.half != 1.0:  # another unit of all is right, and none where links may be as far off
        right['efforts'] = not any(' alone in another unit' in x for x in lines)
    said = next(x.partition(': ')[2] for x in found.lines if x.startswith('velocities'))
    right['velocities'] = said.startswith(VELOCITIES[draw.velocities])
    wanted = {x: wanted_of(draw, x) for x in DOUBTS}
    right['doubts'] = all(not name or name == wanted[x] for x, name in doubted(found).items())
    return right, found


DOUBTS = 'half', 'late', 'clipped'


def doubted(found: Inspected) -> dict[str, str]:
    """Return the joint that a line has as late or clipped, or 'all' with all efforts halved."""
    half = any(' times N.m, or links of' in x for x in found.open)
    late = next((x for x in found.lines if ' alone ' in x and x.startswith('delay')), '')
    clipped = next((x for x in found.lines if 'flat at one end' in x), '')
    names = late.rpartition('; ')[2].split(' ')[0], clipped.split(': ')[1:2]
    return dict(zip(DOUBTS, ('all' * half, names[0], ''.join(names[1])), strict=True))


def wanted_of(draw: Drawn, what: str) -> str:
    """Return what `doubted` has where a line is right."""
    if what == 'half':
        return 'all' * (draw.half != 1.0)
    joint = getattr(draw, what)
    return model_of(draw.robot).joint_names[joint] if joint >= 0 else ''


def wrong(found: Inspected, draw: Drawn) -> bool:
    """Return whether identify writes an arm that is worse in another motion."""
    model = model_of(draw.robot)
    if found.open:
        return False
    plain = weightless(model) if found.weightless else model
    best = identify(JointRegressor(plain), found.samples, IdentificationParameters(), found.unused)
    if best.kept.all():
        return False
    unseen, weight = exact(draw.robot, draw.seed, 9.0)
    target = unseen.effort - (weight if found.weightless else 0.0)
    left = []
    for arm in (plain, with_parameters(best.regressor, best.pi)):
        rows = JointRegressor(arm)
        spline = np.gradient(unseen.q, unseen.times, axis=0)
        states = unseen.q, spline, np.gradient(spline, unseen.times, axis=0)
        each = (rows(*states) @ rows.parameters() - target)[5:-5]
        left.append(float(np.mean((each / np.sqrt((target**2).mean(axis=0))) ** 2)))
    return left[1] > left[0]


@dataclass
class Counts:
    """What was named: how often each trait, wrong and written arms, and what was not named."""

    good: Counter[str]
    draws: int
    worse: int
    written: int
    missed: list[str]
    drawn: Counter[str]
    named: Counter[str]


def study(draws: int, share: float, first: int = 0, minutes: float = np.inf) -> Counts:
    """Return the counts of these draws, or of as many as fit into these minutes of CPU time."""
    counts = Counts(Counter(), 0, 0, 0, [], Counter(), Counter())
    end = time.process_time() + 60.0 * minutes
    with progress('draws', draws) as show:
        for seed in range(first, first + draws):
            draw = drawn(seed)
            with tempfile.TemporaryDirectory() as folder:
                right, found = named(write(Path(folder) / 'bag', draw), draw)
            counts.draws += 1
            counts.good.update(name for name, is_right in right.items() if is_right)
            counts.good['all'] += all(right.values())
            has = {x for x in DOUBTS if wanted_of(draw, x)}
            counts.drawn.update(has)
            counts.named.update(x for x in has if doubted(found)[x] == wanted_of(draw, x))
            missed = [name for name, is_right in right.items() if not is_right]
            counts.missed += [f'{seed}: {name} of {draw}' for name in missed]
            if np.random.default_rng(seed).random() < share and draw.half == 1.0:
                counts.written += 1
                counts.worse += wrong(found, draw)
            show(counts.draws, f'{len(counts.missed)} traits missed, {counts.worse} wrong arms')
            if time.process_time() > end:
                break
    return counts


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--draws', type=int, default=1000)
    parser.add_argument('--first', type=int, default=0, help='seed of the first draw')
    parser.add_argument('--identify', type=float, default=0.1, help='share that is identified')
    parser.add_argument('--minutes', type=float, default=np.inf, help='most CPU time')
    given = parser.parse_args()
    print_conditions()
    found = study(given.draws, given.identify, given.first, given.minutes)
    print('| what | named correctly |\n| --- | ---: |')
    for name in (*TRAITS, 'all'):
        print(f'| {name} | {found.good[name] / found.draws:.1%} |')
    print('\n| what | drawn | named |\n| --- | ---: | ---: |')
    for name in DOUBTS:
        print(f'| {name} | {found.drawn[name]} | {found.named[name]} |')
    print(f'{found.worse} wrong arms of {found.written} identified; {found.draws} draws')
    print('\n'.join(found.missed), file=sys.stderr)
    least = min(found.good[name] for name in TRAITS)
    return 1 if found.worse or least < 0.99 * found.draws else 0


if __name__ == '__main__':
    sys.exit(main())
