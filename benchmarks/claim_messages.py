"""Claims under drawn orders of delayed, repeated and lost messages: is every alarm true?

    ./ws python benchmarks/claim_messages.py --runs 500000

A third of the orders have one controller, a third one whose publisher closes and opens again;
there an alarm is false. A third have a second publisher under its name, which must be found. A
command that waits longer than its publisher is open may still raise a false alarm: nothing says
which publisher has sent it.
"""

import argparse
import random
import sys
from collections import Counter, deque

from conditions import print_conditions

from arm_dynamics.checks import ArmError
from arm_sim.simulation.claims import Claims, Endpoint

NAMES, SOURCE = ('shoulder', 'elbow'), 'controller'
IDLE = b'idle'  # publisher of an inactive controller, which never commands
ENOUGH = 60  # commands of each of two publishers, within which they are found


class Network:
    """A simulator, its controller, and messages between them that wait, get lost or come again.

    Messages of one publisher do not overtake each other. Each end keeps the newest message, as
    its QoS says; before that, a process that gets no time lets them wait in a queue of any length.
    """

    def __init__(self, rng, spoofers=0, reopens=False):
        self.rng, self.claims = rng, Claims(NAMES, wall=lambda: 0.0)
        self.reopens = reopens
        self.states = self.time = 0  # states published, repeated ones too; control periods
        self.newest = -1  # stamp of the newest command [control periods]
        self.publishers, self.gids = [], 0
        self.queue = deque()
        self.alarms, self.used = 0, Counter()
        self.stalls = {'simulator reads': 0, 'controller': 0, 'simulator': 0}
        self.idle = rng.random() < 0.7
        self.loss, self.timeout = rng.choice([0.0, 0.02, 0.3]), rng.choice([10, 50, 200])
        self.open('controller')
        for _ in range(spoofers):
            self.open('spoofer', rng.choice([0, 3, 50, 100_000]))

    def open(self, role, number=0):
        """Open a publisher; each numbers its messages from 1 on."""
        self.gids += 1
        self.publishers.append({'role': role, 'gid': b'%d' % self.gids, 'number': number})

    def send(self, publisher, stamp):
        """Publish a command, or a release where the stamp is None; the simulator may lose it."""
        publisher['number'] += 1
        if self.rng.random() >= self.loss:
            self.queue.append((publisher['gid'], publisher['number'], stamp))

    def step(self):
        """Go on by one period in which anything may happen to the messages."""
        rng = self.rng
        for name in self.stalls:
            self.stalls[name] = max(self.stalls[name] - 1, 0)
            if rng.random() < 0.004:
                self.stalls[name] = rng.choice([3, 60, 300, 900])
        if not self.stalls['simulator']:
            if rng.random() < 0.95:
                self.time += 1
                if len(self.claims) and self.time - self.newest > self.timeout:
                    self.claims.expire()
            for _ in range(rng.choice([1, 1, 1, 2])):  # a state is repeated while none answers it
                self.states += 1
                self.answer()
            if rng.random() < 0.001:
                self.claims.restart(self.time)
                self.time, self.newest = 0, -1
        if not self.stalls['simulator'] and not self.stalls['simulator reads']:
            while self.queue and rng.random() < 0.9:
                for _ in range(rng.choice([0, 0, 0, 1, 5, 200])):  # only the newest is kept
                    if len(self.queue) > 1:
                        self.queue.popleft()
                self.take(*self.queue.popleft())

    def answer(self):
        """Answer a state by each publisher that gets time; now and then the controller changes."""
        rng = self.rng
        for publisher in list(self.publishers):
            waits = publisher['role'] == 'controller' and self.stalls['controller']
            if not waits and rng.random() >= self.loss:
                self.send(publisher, self.time)
        own = self.publishers[0]
        if rng.random() < 0.001:
            self.send(own, None)  # deactivated
            if self.reopens and rng.random() < 0.5:  # and configured again
                self.publishers.clear()
                self.open('controller')

    def take(self, gid, number, stamp):
        """Do as CommandInput does with a command, by the claims of the product."""
        claims, claim = self.claims, self.claims.get(SOURCE)
        gids = [each['gid'] for each in self.publishers] + [IDLE] * self.idle
        if claim is not None and not claim.number < number <= claim.most(self.states):
            if len(gids) > 1 and claim.endpoint.gid in (b'', *gids):
                self.alarms += 1
                claims.reject(SOURCE, 'two publishers')
                return
            claims.release(SOURCE)
            claim = None
        at = self.time if stamp is None else stamp
        answered = self.states - (self.time - at)
        if claim is not None:
            claims.hear(claim, number, at, min(answered, self.states))
        if stamp is None:
            claims.release(SOURCE)
            return
        if not self.newest <= stamp <= self.time:
            return
        if claim is None:
            alone = Endpoint('/controller', gids[0]) if len(self.publishers) == 1 else Endpoint()
            try:
                claim = claims.claim(
                    SOURCE, NAMES, lambda _: self.rng.random() < 0.5, alone, number
                )
            except ArmError:
                return
            claims.hear(claim, number, at, answered)
        self.newest = stamp
        self.used[gid] += 1


def run(seed, spoofers=0, reopens=False, periods=400):
    """Return whether there was an alarm, and the least number of commands used of a publisher."""
    network = Network(random.Random(seed), spoofers, reopens)
    for _ in range(periods):
        network.step()
        if network.alarms:
            break
    used = [network.used[each['gid']] for each in network.publishers]
    return network.alarms > 0, min(used)


def drawn(first, count):
    """Return which orders had a false alarm, the same of `reopens`, and which missed a spoofer."""
    seeds = range(first, first + count)
    false, opened = ([x for x in seeds if run(x, reopens=again)[0]] for again in (False, True))
    found = [run(seed, spoofers=1) for seed in seeds]
    missed = [first + k for k, (alarm, used) in enumerate(found) if not alarm and used >= ENOUGH]
    return false, opened, missed


def main() -> int:
    """Print the orders that fail."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=10_000, help='orders of each kind')
    given = parser.parse_args()
    print_conditions()
    false, opened, missed = all_found = [], [], []
    for first in range(0, given.runs, 10_000):
        count = min(10_000, given.runs - first)
        for found, new in zip(all_found, drawn(first, count), strict=True):
            found += new
        print(first + count, 'orders of each kind:', *map(len, all_found), flush=True)
    print(f'orders with one publisher:  {given.runs}, false alarms: {len(false)} {false[:10]}')
    print(f'the same, opened again:     {given.runs}, false alarms: {len(opened)} {opened[:10]}')
    print(f'orders with two publishers: {given.runs}, missed: {len(missed)} {missed[:10]}')
    return int(bool(false or missed))


if __name__ == '__main__':
    sys.exit(main())
