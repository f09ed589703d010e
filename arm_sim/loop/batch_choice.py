"""Which batch steps an engine's arms."""

from collections.abc import Sequence

from arm_dynamics.checks import one_of
from arm_dynamics.model import RobotModel
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.many_arms import ManyArms, OneOrEach, of_each
from arm_sim.simulation.plant import RIGID_BODY_ENGINES


def batch_of(models: Sequence[RobotModel], parameters: OneOrEach, engine: str) -> ManyArms:
    """Return N arms of an engine: in compiled code, or in MuJoCo what only MuJoCo has.

    Args:
        models: N arms.
        parameters: of all, or of each.
        engine: 'mujoco' or 'analytical'.

    Raises:
        ArmError: what BatchPlant and MujocoBatch refuse.
    """
    one_of('engine', engine, RIGID_BODY_ENGINES)
    first = of_each(parameters)[0]
    only = first.touching or first.integrator != 'implicitfast'
    if engine == 'mujoco' and (only or any(m.mjcf or m.mimic for m in models)):
        from arm_sim.loop.mujoco_batch import MujocoBatch  # not loaded for what needs no MuJoCo

        return MujocoBatch(models, parameters)
    return BatchPlant(models, parameters, engine)
