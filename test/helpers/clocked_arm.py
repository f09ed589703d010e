"""A simulated UR5e with a clock, a hand-set wall clock and a listener that counts."""

from functools import partial

from following import HOME, MODEL

from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.pacings.lockstep import LockstepPacing
from arm_sim.pacings.realtime import RealtimePacing
from arm_sim.simulation.clock import Clock
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation

PERIOD = 2_000_000
GRAVITY = MODEL.gravity_torque(HOME)


class Output:
    """Notes what a clock reports."""

    def __init__(self):
        self.shown = self.shown_again = 0
        self.warnings, self.failures = [], []
        self.warn, self.fail = self.warnings.append, self.failures.append

    def show(self):
        self.shown += 1

    def show_again(self):
        self.shown_again += 1


class Own:
    """Goals of an engine that moves by itself: they hold the arm."""

    in_charge = True

    def command(self, time_ns, q, v):
        return GRAVITY

    def take_over(self):
        self.in_charge = True

    def give_up(self, source):
        self.in_charge = False


class Wall:
    """A wall clock that is set by hand."""

    now = 100.0

    def __call__(self):
        return self.now


def make(pacing, own=None, output=Output, awaited=(), **parameters):
    simulation = Simulation(MujocoPlant(MODEL, PlantParameters('torque')), MODEL, HOME)
    output, wall = output(), Wall()
    output.simulation = simulation
    paced = partial(pacing, **parameters)
    clock = Clock(simulation, output, paced, own, awaited=awaited, wall=wall)
    clock.show()
    return clock, simulation, output, wall


def lockstep(own=None):
    return make(LockstepPacing, own, timeout=5.0)


def realtime(own=None, factor=1.0, wait=0.0):
    return make(RealtimePacing, own, factor=factor, timeout=0.1, wait=wait)


def run(clock, wall, seconds):
    for _ in range(round(seconds / clock.pacing.tick_period)):
        wall.now += clock.pacing.tick_period + 1e-9  # no rounding short of a period
        clock.tick()
