"""Motions and samples of arms that are to be identified."""

import struct

import numpy as np
from scripts import load_script

from arm_lab.identification.fourier import FourierSeries, at_rest_at_start
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.read_options import AS_FOUND
from arm_tools.readers.recorded_samples import inspected_samples

STUDY = load_script('benchmarks/identification.py')


def read_samples(path, joint_names, how=AS_FOUND):
    """Return times, positions and torques of a recording, without the lines on them."""
    return inspected_samples(path, joint_names, how)[0]


def some_motion(model, seed, period=8.0):
    """Return a motion of two thirds of a radian at most, about the middle of each range."""
    rng = np.random.default_rng(seed)
    cosine, sine = at_rest_at_start(*rng.normal(size=(2, 5, model.nv)))
    lower, upper = model.position_lower.clip(-2.0), model.position_upper.clip(max=2.0)
    motion = FourierSeries(0.5 * (lower + upper), cosine, sine, period)
    q, v, _ = motion.states(np.linspace(0.0, period, 400))
    most = np.minimum(0.9 * (upper - lower) / 2, 0.7 * np.pi)
    return motion.scaled(np.minimum(most / np.ptp(q, axis=0), 1.5 / np.abs(v).max(axis=0)))


def exact_samples(model, motion, seconds=24.0, lag=0.0, noise=0.0, seed=0):
    """Return positions and torques as the model has them, 250 a second."""
    times = np.arange(0.0, seconds, 0.004)
    states = zip(*motion.states(times + lag), strict=True)
    tau = np.array([model.inverse_dynamics(*state) for state in states])
    tau += noise * STUDY.rms(tau) * np.random.default_rng(seed).standard_normal(tau.shape)
    return MotionSamples(times, motion.states(times)[0], tau)


def serialized(time_ns, names, q, effort, order='<'):
    """Return a JointState in CDR, written field by field."""
    data = bytearray(b'\0\1\0\0' if order == '<' else b'\0\0\0\0')

    def pad(size):
        data.extend(b'\0' * (-(len(data) - 4) % size))

    def text(word):
        pad(4)
        data.extend(struct.pack(f'{order}I', len(word) + 1) + word.encode() + b'\0')

    data.extend(struct.pack(f'{order}iI', *divmod(time_ns, 10**9)))
    text('base')
    pad(4)
    data.extend(struct.pack(f'{order}I', len(names)))
    for name in names:
        text(name)
    for values in (q, [], effort):
        pad(4)
        data.extend(struct.pack(f'{order}I', len(values)))
        if len(values):
            pad(8)
            data.extend(struct.pack(f'{order}{len(values)}d', *values))
    return bytes(data)
