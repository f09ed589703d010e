"""An arm as an MJCF that MuJoCo writes: bodies, joints, servos, and where it starts."""

from pathlib import Path

import mujoco

from arm_dynamics.checks import ArmError, one_line
from arm_sim.engines.mujoco import arm_spec
from arm_sim.robot import Robot
from arm_sim.simulation.mujoco_inertias import refused_inertias
from arm_sim.simulation.plant import PlantParameters


def write_mjcf(robot: Robot, drives: PlantParameters, file: Path) -> None:
    """Write an arm, without shapes, with its start as the key frame `home`.

    Raises:
        ArmError: no MJCF can say what the arm is.
    """
    model = robot.model
    for link, (moments, _) in refused_inertias(model).items():
        numbers = ', '.join(f'{moment:.3g}' for moment in moments)
        raise ArmError(f'MuJoCo writes no inertia like that of link {link!r}: {numbers} kg m^2')
    spec = arm_spec(model, drives, shapes=False)
    spec.add_key(name='home', qpos=model.all_positions(robot.start).tolist())
    try:
        spec.compile()
        file.write_text(spec.to_xml())
        mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        reason = one_line(error).removeprefix('Error: ').partition(' Element name')[0]
        raise ArmError(f'MuJoCo writes none that it reads: {reason}') from None
