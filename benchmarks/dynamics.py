"""Forward dynamics in ns per step, side by side in one run: `./ws python benchmarks/dynamics.py`.

Rows: generated straight-line code, the same algorithm compiled over arrays, pin.aba from Python.
Explicit Euler steps of 1e-4 s; the five-joint arm with its DC motors, the UR5e under its own
weight and position servos. Shortest and middle of several runs, in CPU time of this process, so
that others on the machine count little; the batch in wall-clock time.
"""

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pinocchio as pin
from conditions import print_conditions
from numba import njit

from arm_dynamics import RobotModel
from arm_dynamics.compiled import CompiledModel, ForwardModel, ForwardModelParameters
from arm_dynamics.robots import find_urdf
from arm_lab.published.five_joint_arm import MOTORS
from arm_lab.tasks.pose_hold.objective import PUBLISHED_I, PUBLISHED_P, TARGET, PoseHoldObjective

STEP = 1e-4
COUNT = 30_000
KT = np.array(MOTORS.torque_constant)


def timed(
    run: Callable[[], object],
    count: int,
    repetitions: int,
    clock: Callable[[], float] = time.process_time,
) -> tuple[float, float]:
    """Return the shortest and the median time of `run` in ns per step."""
    run()
    times = []
    for _ in range(repetitions):
        start = clock()
        run()
        times.append(clock() - start)
    return min(times) / count * 1e9, float(np.median(times)) / count * 1e9


@njit(error_model='numpy')
def _generic_forward_dynamics(rotations, offsets, inertias, gravity, q, v, tau, a, work):
    """Articulated bodies in loops over 6 x 6 arrays: one code for all revolute chains about z."""
    n = q.size
    x, articulated, drift, force, velocity, acceleration, half = work
    for i in range(n):
        c, s = np.cos(q[i]), np.sin(q[i])
        for k in range(3):
            first, second = rotations[i, k, 0], rotations[i, k, 1]
            x[i, 0, k] = x[i, 3, 3 + k] = first * c + second * s
            x[i, 1, k] = x[i, 4, 3 + k] = second * c - first * s
            x[i, 2, k] = x[i, 5, 3 + k] = rotations[i, k, 2]
        p = offsets[i]
        for r in range(3):
            x[i, 3 + r, 0] = x[i, r, 2] * p[1] - x[i, r, 1] * p[2]
            x[i, 3 + r, 1] = x[i, r, 0] * p[2] - x[i, r, 2] * p[0]
            x[i, 3 + r, 2] = x[i, r, 1] * p[0] - x[i, r, 0] * p[1]
        for r in range(6):
            total = 0.0
            if i > 0:
                for k in range(6):
                    total += x[i, r, k] * velocity[i - 1, k]
            velocity[i, r] = total
            for k in range(6):
                articulated[i, r, k] = inertias[i, r, k]
        velocity[i, 2] += v[i]
        w0, w1, w2, u0, u1, u2 = velocity[i]
        drift[i, 0], drift[i, 1], drift[i, 2] = w1 * v[i], -w0 * v[i], 0.0
        drift[i, 3], drift[i, 4], drift[i, 5] = u1 * v[i], -u0 * v[i], 0.0
        for r in range(6):
            total = 0.0
            for k in range(6):
                total += inertias[i, r, k] * velocity[i, k]
            half[0, r] = total
        n0, n1, n2, f0, f1, f2 = half[0]
        force[i, 0] = w1 * n2 - w2 * n1 + u1 * f2 - u2 * f1
        force[i, 1] = w2 * n0 - w0 * n2 + u2 * f0 - u0 * f2
        force[i, 2] = w0 * n1 - w1 * n0 + u0 * f1 - u1 * f0
        force[i, 3] = w1 * f2 - w2 * f1
        force[i, 4] = w2 * f0 - w0 * f2
        force[i, 5] = w0 * f1 - w1 * f0
    for i in range(n - 1, 0, -1):
        inverse = 1.0 / articulated[i, 2, 2]
        load = tau[i] - force[i, 2]
        for r in range(6):
            passed = force[i, r] + articulated[i, r, 2] * inverse * load
            for k in range(6):
                reduced = articulated[i, r, k] - (
                    articulated[i, r, 2] * articulated[i, k, 2] * inverse
                )
                passed += reduced * drift[i, k]
                half[1 + r, k] = reduced
            half[0, r] = passed
        for r in range(6):
            for k in range(6):
                total = 0.0
                for m in range(6):
                    total += half[1 + r, m] * x[i, m, k]
                half[7 + r, k] = total
        for r in range(6):
            for k in range(6):
                total = 0.0
                for m in range(6):
                    total += x[i, m, r] * half[7 + m, k]
                articulated[i - 1, r, k] += total
            for m in range(6):
                force[i - 1, r] += x[i, m, r] * half[0, m]
    for i in range(n):
        for r in range(6):
            total = drift[i, r]
            for k in range(6):
                before = acceleration[i - 1, k] if i > 0 else (-gravity[k - 3] if k > 2 else 0.0)
                total += x[i, r, k] * before
            acceleration[i, r] = total
        total = tau[i] - force[i, 2]
        for k in range(6):
            total -= articulated[i, k, 2] * acceleration[i, k]
        a[i] = total / articulated[i, 2, 2]
        acceleration[i, 2] += a[i]


def _work(n: int) -> tuple[np.ndarray, ...]:
    vectors = [np.zeros((n, 6)) for _ in range(4)]
    return (np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), *vectors, np.zeros((13, 6)))


@njit(error_model='numpy')
def _generic_rollout(rotations, offsets, inertias, gravity, kt, q, v, count, step, work):
    a, tau = np.zeros(q.size), np.zeros(q.size)
    for _ in range(count):
        for i in range(q.size):
            tau[i] = kt[i] * (0.0 - kt[i] * v[i])
        _generic_forward_dynamics(rotations, offsets, inertias, gravity, q, v, tau, a, work)
        for i in range(q.size):
            q[i] += step * v[i]
            v[i] += step * a[i]


def generic(model: RobotModel, count: int) -> Callable[[], object]:
    """Return a rollout by the compiled generic formulation, checked against Pinocchio."""
    placements = model.pin_model.jointPlacements
    rotations = np.array([placements[i + 1].rotation for i in range(model.nv)])
    offsets = np.array([placements[i + 1].translation for i in range(model.nv)])
    inertias = np.zeros((model.nv, 6, 6))
    for i, body in enumerate(model.pin_model.inertias[1:]):
        c = pin.skew(body.lever)
        inertias[i, :3, :3] = body.inertia - body.mass * c @ c
        inertias[i, :3, 3:], inertias[i, 3:, :3] = body.mass * c, -body.mass * c
        inertias[i, 3:, 3:] = body.mass * np.eye(3)
    q, v, tau = np.random.default_rng(0).normal(size=(3, model.nv))
    a, work = np.zeros(model.nv), _work(model.nv)
    _generic_forward_dynamics(rotations, offsets, inertias, model.gravity, q, v, tau, a, work)
    np.testing.assert_allclose(a, model.forward_dynamics(q, v, tau), rtol=1e-8, atol=1e-8)

    def run() -> None:
        _generic_rollout(
            rotations, offsets, inertias, model.gravity, KT,
            np.array(TARGET), np.zeros(model.nv), count, STEP, work,
        )  # fmt: skip

    return run


def pin_loop(model: RobotModel, count: int) -> Callable[[], object]:
    """Return a rollout by pin.aba called from Python."""
    pin_model, pin_data = model.pin_model, model.pin_data

    def run() -> None:
        q, v = np.array(TARGET), np.zeros(model.nv)
        for _ in range(count):
            a = pin.aba(pin_model, pin_data, model.to_pin(q), v, -KT * KT * v)
            q = q + STEP * v
            v = v + STEP * a

    return run


def alone(model: RobotModel, name: str, count: int) -> Callable[[], object]:
    """Return explicit Euler steps of the free arm by one of the generated functions."""
    dynamics = getattr(CompiledModel(model).module, name)
    articulated = name == 'articulated_dynamics'

    @njit(error_model='numpy')
    def rollout(q, v, tau, third, sine, cosine, a, load, count):
        for _ in range(count):
            if articulated:
                dynamics(q, v, tau, third, sine, cosine, a, load)
            else:
                dynamics(q, v, tau, third, sine, cosine, a)
            for i in range(q.size):
                q[i] += STEP * v[i]
                v[i] += STEP * a[i]

    def run() -> None:
        v, tau, sine, cosine, a, load = np.zeros((6, model.nv))
        third = np.full(model.nv, 1.0 if articulated else 0.0)  # free joints, or armature
        rollout(np.array(TARGET), v, tau, third, sine, cosine, a, load, count)

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--repetitions', type=int, default=15)
    repetitions = parser.parse_args().repetitions
    print_conditions()
    model = RobotModel.from_urdf(find_urdf('five_joint_arm'))
    objective = PoseHoldObjective()
    published = ForwardModelParameters(
        actuator='voltage', integrator='lagged_euler', motors=MOTORS, effort_limits=False
    )
    motors = ForwardModel(model, published)
    state, off = motors.initial_state(TARGET), np.zeros(5)
    gains = np.array(PUBLISHED_P + PUBLISHED_I)
    workers = os.cpu_count() or 1
    batch = np.tile(gains, (4 * workers, 1))

    def all_cores() -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(objective.cost, batch))

    rows = [
        ('five-joint arm with motors', 'straight-line, compiled',
         timed(lambda: motors.advance(state.copy(), off, STEP, COUNT), COUNT, repetitions)),
        ('  and PI control, objective', 'straight-line, compiled',
         timed(lambda: objective.cost(gains), COUNT, repetitions)),
        (f'  the same, a batch on {workers} cores', 'straight-line, compiled',
         timed(all_cores, COUNT * len(batch), 5, time.perf_counter)),
        ('  rigid bodies alone', 'factorised mass matrix',
         timed(alone(model, 'forward_dynamics', COUNT), COUNT, repetitions)),
        ('  the same', 'articulated bodies',
         timed(alone(model, 'articulated_dynamics', COUNT), COUNT, repetitions)),
        ('five-joint arm with motors', 'generic arrays, compiled',
         timed(generic(model, COUNT // 10), COUNT // 10, repetitions)),
        ('five-joint arm with motors', 'pin.aba from Python',
         timed(pin_loop(model, COUNT // 10), COUNT // 10, repetitions)),
    ]  # fmt: skip
    ur5e = RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)
    servo = ForwardModel(ur5e, ForwardModelParameters('servo'))
    state6 = servo.initial_state(ur5e.neutral())
    rows.append(
        ('UR5e with servos, implicitfast', 'straight-line, compiled',
         timed(lambda: servo.advance(state6.copy(), np.zeros(6), STEP, COUNT), COUNT, repetitions))
    )  # fmt: skip
    compiled, n = CompiledModel(ur5e), 6
    q, v, tau = np.random.default_rng(0).normal(size=(3, n))
    np.testing.assert_allclose(
        compiled.forward_dynamics(q, v, tau),
        ur5e.forward_dynamics(q, v, tau),
        rtol=1e-9,
        atol=1e-9,
    )

    def one_call() -> None:
        for _ in range(1000):
            pin.aba(ur5e.pin_model, ur5e.pin_data, q, v, tau)

    rows.append(('UR5e, one call', 'pin.aba from Python', timed(one_call, 1000, repetitions)))
    print(f'{"what":38}{"how":28}{"ns per step":>12}{"median":>10}')
    for what, how, (shortest, middle) in rows:
        print(f'{what:38}{how:28}{shortest:12.0f}{middle:10.0f}')
    evaluation = rows[1][2][0] * COUNT * 1e-6
    print(f'one published objective evaluation ({COUNT} steps): {evaluation:.1f} ms')


if __name__ == '__main__':
    main()
