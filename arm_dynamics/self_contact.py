"""Which links of an arm can touch each other."""

from functools import lru_cache
from pathlib import Path

from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.surroundings import Surroundings
from arm_dynamics.tool_link import expansion, srdf_of
from arm_dynamics.urdf_elements import read_tree

LinkPairs = frozenset[frozenset[str]]

_OVERLAP = -1e-6  # distance of two links that overlap [m]
_MOST_NAMED = 4  # pairs of links in a note


@lru_cache(maxsize=8)
def touching_links(
    model: RobotModel, srdf: str, start: tuple[float, ...] = ()
) -> tuple[LinkPairs, str]:
    """Return the pairs of links that can touch each other, and why others are left out, or ''.

    Left out are links with a common joint, pairs with `disable_collisions` in the SRDF, and pairs
    that overlap at the start.

    Args:
        model: the arm.
        srdf: file; '' takes one next to the URDF, if there is one.
        start: initial positions (n,) [rad | m]; () is nearest to zero within the limits.

    Raises:
        ArmError: the file is not an SRDF, or the positions are not those of the arm.
    """
    shapes = Clearance(model, Surroundings(floor=False))
    q = model.check_configuration(start or model.neutral(), 'initial_positions')
    near = shapes.distances(q) < _OVERLAP
    overlap = {frozenset(pair) for pair, now in zip(shapes.pairs, near, strict=True) if now}
    found = Path(srdf).expanduser() if srdf else model.file and srdf_of(Path(model.file))
    if found and found.suffix == '.xacro':
        raise ArmError(f'srdf is {srdf!r}: {expansion(found)}')
    apart = {frozenset(pair) for pair in shapes.pairs}
    rows = read_tree(found, f'SRDF {found}').iterfind('disable_collisions') if found else ()
    disabled = apart & {frozenset((row.get('link1', ''), row.get('link2', ''))) for row in rows}
    overlap -= disabled
    watched = frozenset(apart - disabled - overlap)
    why = [f'{Path(found).name} disables {len(disabled)}'] if found and disabled else []
    if overlap:
        named = [' and '.join(sorted(pair)) for pair in overlap][:_MOST_NAMED]
        more = ', ...' if len(overlap) > _MOST_NAMED else ''
        where = 'at the start' if start else 'where joints are nearest to zero'
        why.append(f'{len(overlap)} overlap {where} ({", ".join(sorted(named))}{more})')
    return watched, '; '.join(why)
