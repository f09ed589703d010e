"""Mistakes in launch arguments that only nodes would find: refused before any node starts."""

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from arm_controllers.laws import law_class
from arm_controllers.parameter_values import read_fields
from arm_controllers.policy_file import PolicyFile
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.simulation.integration import integration_of
from arm_sim.simulation.plant import Plant, PlantParameters, plant_class

_PHYSICS = ('integrator', 'srdf', 'scene', 'faults', 'table')


def check_simulator(given: Mapping[str, str], simulator: Mapping[str, object]) -> None:
    """Refuse what the simulator would refuse, where arguments change its physics.

    Args:
        given: values of the launch arguments.
        simulator: parameters of the simulator.

    Raises:
        ArmError: of the simulator.
    """
    file, faults = given['srdf'], given['faults'] or simulator.get('faults', '')
    if file and not Path(file).expanduser().is_file():
        raise ArmError(f'srdf is {file!r}: there is no such file')
    values = {**simulator, 'faults': faults}
    touching = read_fields(PlantParameters, values).touching
    if touching and not plant_class(given['engine']).has_contacts:
        raise ArmError(f'{touching}; only engine mujoco has contacts: engine:=mujoco')
    if given['engine'] == 'analytical':  # compiles an arm, which takes its time
        if given['integrator'] or given['faults']:
            _check_uncompiled(values)
    elif given['contacts'] == 'true' or any(given[name] for name in _PHYSICS):
        from arm_sim.ros.simulator_setup import SimulatorParameters, set_up  # imports MuJoCo

        own = plant_class(given['engine']).Parameters
        set_up(read_fields(SimulatorParameters, values), read_fields(own, values))


def _check_uncompiled(simulator: Mapping[str, object]) -> None:
    """Refuse what engine analytical refuses before it compiles: devices, faults, the integrator.

    Raises:
        ArmError: of the engine.
    """
    from arm_dynamics.compiled import ForwardModelParameters  # slow imports
    from arm_sim.ros.simulator_setup import SimulatorParameters

    model = read_fields(SimulatorParameters, simulator).model()
    own = read_fields(plant_class('analytical').Parameters, simulator)
    Plant(model, own)
    names = {each.name for each in fields(ForwardModelParameters)} - {'motors', 'integrator'}
    values = {name: getattr(own, name) for name in names}
    ForwardModelParameters(motors=own, integrator=integration_of([model], [own])[0], **values)


def check_tip(given: Mapping[str, str], model: RobotModel) -> None:
    """Refuse a tool link that no joint moves.

    Raises:
        ArmError: names a link at the end of the arm.
    """
    tip = given['tip_frame']
    if tip and not model.pin_model.frames[model.frame_id(tip)].parentJoint:
        raise ArmError(
            f'tip_frame is {tip!r}, which no joint moves; the last link of {model.name!r} is '
            f'{model.frame_names[-1]!r}'
        )


def check_policy(given: Mapping[str, str], controller: Mapping[str, object]) -> None:
    """Refuse a policy's file that cannot be read, and one for a law that has none.

    `controller` are the parameters of the controller of the law `given['controller']`.

    Raises:
        ArmError: of the file, or names the argument.
    """
    law, file = given['controller'], given['policy']
    if law_class(law).evaluation.of_file:
        PolicyFile(str(controller.get('policy', '')))
    elif file:
        raise ArmError(f'policy is {file!r}: controller {law!r} is no policy: law:=policy')


def check_folder(name: str) -> None:
    """Refuse a folder for results that cannot be made; make none.

    Raises:
        ArmError: names what is in the way.
    """
    folder = Path(name).expanduser().absolute()
    there = next(each for each in (folder, *folder.parents) if each.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = 'cannot be written' if there.is_dir() else 'is no folder'
        raise ArmError(f'output_dir is {name!r}: {str(there)!r} {why}')
