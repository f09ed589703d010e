"""What the user knows of recorded efforts and positions: options, some of them by a preset."""

from dataclasses import dataclass, replace

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_tools.inspection.effort_presets import PRESETS
from arm_tools.readers.findings import Currents


@dataclass(frozen=True)
class EffortsAre(Parameters):
    """What the recorded efforts and positions are, where this is known."""

    efforts: str = parameter(
        'auto', 'unit of the recorded efforts: torque (N.m, or N of a slide), or current, or any '
        'other multiple of each torque', one_of=('auto', 'torque', 'current'),
    )  # fmt: skip
    gravity: str = parameter(
        'auto', "weight of the links in the recorded efforts",
        one_of=('auto', 'included', 'missing'),
    )  # fmt: skip
    flip_efforts: str = parameter(
        'auto', 'joints whose recorded effort has the other sign, separated by commas, or none'
    )
    flip_positions: str = parameter(
        'auto', 'joints whose recorded position has the other sign, separated by commas, or none'
    )
    shift_positions: str = parameter(
        '', 'what is added to recorded positions [rad | m], as elbow_joint=1.5708'
    )
    exchange_joints: str = parameter('', 'two joints that the recording has exchanged, as a,b')
    effort_order: str = parameter(
        '', 'under which name the effort of each joint of the arm is recorded, as a,c,b'
    )
    effort_scales: str = parameter(
        '',
        'recorded effort over torque of each joint, as elbow_joint=0.1,wrist_1_joint=0.09; or '
        'the identified.json of identify; efforts of other joints are not used',
    )

    preset: str = parameter(
        '', 'what the efforts of a driver are: ur (currents), ur_torque, franka (tau_J), '
        'franka_external; --efforts and --gravity override it', one_of=('', *PRESETS),
    )  # fmt: skip

    def with_preset(self, said: list[str]) -> 'EffortsAre':
        """Return these with what a preset, or lines `said` on the file, know; add a line.

        Raises:
            ArmError: nothing is to be learnt from such efforts.
        """
        preset = self.preset
        if not preset and self.efforts == 'auto' and any(isinstance(x, Currents) for x in said):
            said.append(
                'efforts: read as currents, as the file says (--efforts torque overrides it)'
            )
            return replace(self, efforts='current')
        if not preset:
            return self
        efforts, gravity, what = PRESETS[preset]
        if not efforts:
            raise ArmError(f'--preset {preset}: {what}')
        said.append(f'preset {preset}: {what}')
        known = {'efforts': efforts, 'gravity': gravity}
        return replace(self, **{k: x for k, x in known.items() if getattr(self, k) == 'auto'})


UNKNOWN = EffortsAre()
