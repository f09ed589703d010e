"""Commands that a simulator can never use, and what their controller is told."""

from collections.abc import Sequence
from typing import NoReturn

from arm_dynamics.checks import ArmError
from arm_sim.simulation.claims import Claims

_ACTUATORS = {'position': 'servo', 'velocity': 'velocity', 'effort': 'torque'}


def refuse(claims: Claims, source: str, fields: Sequence[str]) -> NoReturn:
    """Reject a controller that commands by fields that no actuator takes; raise ArmError.

    Its goals end with the reason: it would answer for ever, and time would stand still.
    """
    claims.refuse_rejected(source)  # such as a name under which two publishers command
    why = (
        f'{source!r} commands {", ".join(fields)}, which the actuators of its joints do not take: '
        f'start the simulator with actuator {_ACTUATORS[fields[0]]}'
    )
    claims.reject(source, why, spoofed=False)
    raise ArmError(why)
