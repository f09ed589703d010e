"""What recorded positions and efforts are not: findings of one regression with the arm's model.

For commands that read the numbers as they are; `inspection` applies them.
"""

import numpy as np

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_lab.identification.conventions import Reading, conventions
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.findings import Doubt


def wrong_numbers(model: RobotModel, samples: MotionSamples) -> list[str]:
    """Return what shows that the numbers are not as the model has them; none where too few do.

    An arm that touches something is another one: leave its recordings out.
    """
    whole = np.isfinite(np.hstack([samples.q, samples.effort])).all(axis=1)
    try:
        found = conventions(model, samples.part(np.flatnonzero(whole)))
    except ArmError:  # too short, or too slow
        return []
    names = np.array(model.joint_names)
    unit = {'deg': 'degrees', 'turns': 'turns'}.get(found.unit)
    lines = [f'positions fit the arm in {unit}, not in radians'] if unit else []
    lines += [as_words(alike[0]) for alike in found.positions]
    if (found.signs < 0.0).any():
        lines.append(f'the efforts of {", ".join(names[found.signs < 0.0])} have the other sign')
    if found.mounted:
        lines.append(f'the efforts fit the arm with gravity {np.round(found.mounted, 2).tolist()}')
    if found.gravity == 'missing':
        lines.append('the efforts fit the arm without gravity')
    if found.newtons and found.strange.any():
        lines.append(f'the efforts of {", ".join(names[found.strange])} are in another unit')
    if found.factor != 1.0:
        lines.append(f'the efforts are {found.factor:.2g} times those of the arm')
    if not found.newtons:
        known = np.isfinite(found.scales)
        pairs = zip(names[known], found.scales[known], strict=True)
        lines.append(
            'the efforts are no N.m, recorded over modelled: '
            + ', '.join(f'{name} {scale:.3g}' for name, scale in pairs)
        )
    return [Doubt(f'numbers: {line}; they are used as recorded') for line in lines]


def model_of(urdf: str) -> RobotModel | None:
    """Return the arm of a recorded URDF; None where there is none, or one that is not read."""
    try:
        return RobotModel(urdf) if urdf else None
    except ArmError:
        return None


def as_words(of: Reading) -> str:
    """Return another reading of the numbers in words."""
    if of.kind == 'order':
        return f'efforts fit the arm if those of its joints are under {", ".join(of.joints)}'
    if of.kind == 'reversed':
        return f'positions fit the arm with the other sign of {of.joints[0]}'
    if of.kind == 'turned':
        return f'positions fit the arm with {of.offset:+.4f} rad added to {of.joints[0]}'
    if of.kind == 'unit':
        return f'positions fit the arm with {of.joints[0]} in {of.unit}'
    return f'positions fit the arm with {" and ".join(of.joints)} exchanged'
