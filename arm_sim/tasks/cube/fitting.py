"""The cube on any arm: a centre, a side and a posture with which it can be drawn."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, Array, say_once
from arm_dynamics.model import RobotModel
from arm_sim.parameter_files import files_of, merged
from arm_sim.tasks.cube.walk import CubeWalk

# A `Cube` and its parameters; their module imports this one.
CubeTask = Any
OfCube = Any

_USUAL = CubeWalk()
_SHARES = (1.0, 0.5, 0.25)  # of the usual side
_POSTURES, _DRAWN = 6, 200  # postures that are tried, and drawn
_PLANS = 8  # at most, each of about a second


def fit(task: CubeTask) -> None:
    """Let a `Cube` use parameters in which what is empty of centre, side and posture fits the arm.

    Raises:
        ArmError: nothing fits; the line says what keeps the usual cube from being drawn.
    """
    refusal = ''
    starts_clear = _is_clear(task, task.robot.start)
    for trial in islice(_trials(task, task.parameters), _PLANS):
        try:
            task.simulator = {} if starts_clear else {'initial_positions': [*trial.posture]}
            task.plan_for(trial)
        except ArmError as error:
            refusal = refusal or str(error)
            continue
        if not starts_clear:
            say_once(
                "task cube: the arm's start touches something: it starts at the cube's posture"
            )
        return
    raise ArmError(refusal)


def is_usual(task: CubeTask) -> bool:
    """Return whether files of a shipped arm alone say which cube: that is known to be drawn."""
    robot, p = task.robot, task.parameters
    files = robot.parameters(*task.sections, 'cube_task')
    return (
        robot.is_shipped
        and bool(p.posture)
        and p == read_fields(type(p), files)
        and robot.sections == merged(files_of(robot.name))
    )


def that_work(task: CubeTask, p: OfCube) -> str:
    """Return the end of the line that refuses parameters: others of which a cube can be drawn."""
    edge_time = max(p.edge_time, CubeWalk.edge_time)
    freed = {'side': 0.0}, {'center': ()}, {'center': (), 'side': 0.0}
    others = [replace(p, **each) for each in (*freed, {**freed[-1], 'edge_time': edge_time})]
    for trial in [each for each in others if each != p]:
        try:
            task.use(trial)
            fit(task)
        except ArmError:
            continue
        found = {name: getattr(task.parameters, name) for name in ('center', 'side', 'edge_time')}
        words = ' and '.join(
            f'{name}: {[*value] if name == "center" else value}'
            for name, value in found.items()
            if value != getattr(p, name)
        )
        return f'; with {words} of task cube it can be drawn'
    return '; nor with any other center and side of task cube that were tried'


def _trials(task: CubeTask, p: OfCube) -> Iterator[OfCube]:
    """Yield parameters, the usual ones first; their corners are reached, but for the first."""
    model: RobotModel = task.robot.model
    sides = (p.side,) if p.side else tuple(share * _USUAL.side for share in _SHARES)
    start = tuple(np.asarray(p.posture or task.robot.start).tolist())
    yield replace(p, center=p.center or _USUAL.center, side=sides[0], posture=start)
    others = () if p.posture else _good_postures(task)
    postures = [start, *(tuple(np.round(each, 3).tolist()) for each in others)]
    for side in sides:
        for posture in postures:
            tip = model.forward_kinematics(np.array(posture)).translation
            own = tuple(np.round(tip, 3).tolist())
            for center in (p.center,) if p.center else (_USUAL.center, own):
                trial = replace(p, center=center, side=side, posture=posture)
                if _is_reached(task, trial):
                    yield trial


def _is_clear(task: CubeTask, q: Array) -> bool:
    """Return whether a configuration (n,) is clear of everything."""
    try:
        task.clearance.check(np.zeros(1), q[np.newaxis], task.parameters.clearance)
    except ArmError:
        return False
    return True


def _is_reached(task: CubeTask, trial: OfCube) -> bool:
    """Return whether the arm reaches the corners, and is clear there."""
    from arm_dynamics.inverse_kinematics import solve_ik  # imports Numba

    model, q = task.robot.model, np.array(trial.posture)
    target = model.forward_kinematics(q).copy()
    for corner in trial.corners:
        target.translation = corner
        solution = solve_ik(model, target, q, restarts=0)
        if not (solution.success and _is_clear(task, solution.q)):
            return False
        q = solution.q
    return True


def _good_postures(task: CubeTask) -> Iterator[Array]:
    """Yield drawn configurations, far from singular and clear of everything, best first."""
    model, rng = task.robot.model, np.random.default_rng(0)
    drawn = np.array([model.random_configuration(rng) for _ in range(_DRAWN)])
    # Towards the middle of the ranges, so that the limits are not near.
    ends = np.stack([model.position_lower, model.position_upper])
    middle = np.where(np.isfinite(ends).all(axis=0), ends, 0.0).mean(axis=0)
    drawn = middle + 0.7 * (drawn - middle)
    worth = [np.linalg.svd(model.jacobian(q), compute_uv=False)[5] for q in drawn]
    clear = (drawn[k] for k in np.argsort(worth)[::-1] if _is_clear(task, drawn[k]))
    yield from islice(clear, _POSTURES)
