"""Optimal control by crocoddyl's FDDP: run by its own Python, for `mpc.py`.

In: a line of JSON with urdf, q and v at the start, goal, dt [s], nodes, weights of q, v, torque,
of q and v at the end, and the number of repetitions. Out: a line of JSON: accelerations of the
optimum, iterations, and the median time of an iteration [us].
"""

import json
import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def problem_of(case):
    """Return the shooting problem."""
    model = pin.buildModelFromXML(case['urdf'])
    model.armature = np.zeros(model.nv)
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    goal, n = np.concatenate([case['goal'], np.zeros(model.nv)]), model.nv

    def costs(weights, torque):
        total = crocoddyl.CostModelSum(state)
        each = np.repeat(weights, n)
        to_goal = crocoddyl.CostModelResidual(
            state,
            crocoddyl.ActivationModelWeightedQuad(each),
            crocoddyl.ResidualModelState(state, goal, n),
        )
        total.addCost('state', to_goal, 1.0)
        if torque:
            control = crocoddyl.ResidualModelControl(state, n)
            total.addCost('torque', crocoddyl.CostModelResidual(state, control), torque)
        return total

    def node(costs, dt):
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, dt)

    running = [
        node(costs(case['state'], case['torque']), case['dt']) for _ in range(case['nodes'])
    ]
    start = np.concatenate([case['q'], case['v']])
    return crocoddyl.ShootingProblem(start, running, node(costs(case['final'], 0.0), 0.0))


def main():
    """Answer the case on stdin."""
    case = json.loads(sys.stdin.readline())
    problem = problem_of(case)
    problem.nthreads = 1
    times = []
    for _ in range(case['repetitions']):
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = 1e-20
        begin = [problem.x0] * (case['nodes'] + 1)
        rest = problem.quasiStatic(begin[:-1])
        start = time.perf_counter()
        solver.solve(begin, rest, 100, False, 1e-9)
        times.append((time.perf_counter() - start) / max(solver.iter, 1))
    n = len(case['v'])
    speed = np.array([x[n:] for x in solver.xs])
    found = {
        'a': (np.diff(speed, axis=0) / case['dt']).tolist(),
        'iterations': solver.iter,
        'us': 1e6 * float(np.median(times)),
        'version': crocoddyl.__version__,
    }
    print(json.dumps(found))


main()
