"""Parameters of the simulator that a task needs, as a launch passes them."""

from typing import Any

from arm_dynamics.model_error import ModelError
from arm_sim.tasks._task import Task


def simulator_of(task: Task, error: ModelError, moving: bool, period_ns: int) -> dict[str, Any]:
    """Return the parameters of the simulator for a task, on an arm with a model error.

    `moving`: the arm starts on the reference, else at the robot's own start.
    """
    from arm_sim.tasks._fitting import check  # of launch files, and of no node

    check(task)
    parameters = task.robot.with_error(error) | dict(task.simulator)
    if task.payload:
        parameters |= {'payload': task.payload}
    if task.drop_at is not None:
        start_ns = 0 if moving else task.goal_from(task.robot.start, period_ns)[1]
        periods = round((start_ns + task.drop_at * 1e9) / period_ns)
        parameters |= {'payload_end': periods * period_ns * 1e-9}
    if moving:
        parameters |= {'initial_positions': task.start.q.tolist()}
        parameters |= {'initial_velocities': task.start.v.tolist()}
    return parameters
