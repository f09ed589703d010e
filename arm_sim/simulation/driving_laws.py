"""Which laws can drive a simulated arm."""

from collections.abc import Mapping
from typing import Any

from arm_controllers.laws import LAWS, Law, law_class
from arm_dynamics.actuators import ACTUATORS
from arm_dynamics.checks import ArmError
from arm_sim.simulation.plant import ACTUATOR_FOR, RIGID_BODY_ENGINES, Plant, plant_class


def drives(law: type[Law], simulator: Mapping[str, Any]) -> bool:
    """Return whether an arm takes what a law commands; `simulator`: parameters of the simulator.

    A class of an engine is loaded only where it is not one of this package's rigid-body engines:
    a launch file spares the import of MuJoCo.
    """
    engine = simulator['engine']
    taken = set(ACTUATORS)
    if engine != 'analytical':
        rigid = engine in RIGID_BODY_ENGINES
        taken = set((Plant if rigid else plant_class(engine)).actuator_kinds)
    elif simulator.get('integrator') == 'lagged_euler':
        taken = {'voltage'}
    return ACTUATOR_FOR[law.command_interface] in taken


def described(robot: str, simulator: Mapping[str, Any]) -> str:
    """Return a robot with its engine, for a line about what drives it."""
    integrator = simulator.get('integrator', '')
    own = f', integrator {integrator}' if integrator else ''
    return f'the robot {robot!r} (engine {simulator["engine"]}{own})'


def check_law(robot: str, law: str, simulator: Mapping[str, Any]) -> None:
    """Refuse a law whose commands the simulated arm does not take; name those that can drive it.

    `simulator` are the parameters of the simulator.
    """
    kind = law_class(law)
    if not drives(kind, simulator):
        able = [name for name, each in LAWS.load_all().items() if drives(each, simulator)]
        raise ArmError(
            f'controller {law!r} commands {kind.command_interface}, which '
            f'{described(robot, simulator)} does not take; those that can drive it: '
            f'{", ".join(able)}'
        )
