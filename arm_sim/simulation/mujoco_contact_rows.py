"""What contacts do to the links of an arm, from MuJoCo's arrays, compiled."""

import math

from arm_dynamics.compiling import announce, unlocked_njit

announce('arm_sim.simulation.mujoco_contact_rows', 'contacts')


@unlocked_njit
def link_forces(cfrc_ext, subtree_com, bodies, roots, wrenches):
    """Write the forces and torques (N, l, 6) on links about the base's origin, in base axes.

    Args:
        cfrc_ext, subtree_com: MuJoCo's arrays of these names, with an axis of the arms.
        bodies, roots: (l,) of the links, and the first bodies of their trees.
        wrenches: is written.
    """
    for k in range(wrenches.shape[0]):
        for i in range(bodies.shape[0]):
            load, about, row = cfrc_ext[k, bodies[i]], subtree_com[k, roots[i]], wrenches[k, i]
            row[0], row[1], row[2] = load[3], load[4], load[5]
            row[3] = load[0] + about[1] * load[5] - about[2] * load[4]
            row[4] = load[1] + about[2] * load[3] - about[0] * load[5]
            row[5] = load[2] + about[0] * load[4] - about[1] * load[3]


@unlocked_njit
def contact_facts(is_link, geoms, distances, rows, forces, slips, facts):
    """Write the contact facts (3,) of links; see ContactState.

    Args:
        is_link: whether each shape belongs to a link.
        geoms, distances, rows: (k, 2), (k,) [m], (k,) of the contacts: shapes, distance, and
            first constraint row, -1: it has none.
        forces, slips: of the constraint rows: normal and two tangents of a contact.
        facts: is written.
    """
    depth, load, slip = 0.0, 0.0, 0.0
    for i in range(distances.shape[0]):
        if not (is_link[geoms[i, 0]] or is_link[geoms[i, 1]]):
            continue
        depth = max(depth, -distances[i])
        row = rows[i]
        if row >= 0:
            normal, one, two = forces[row], forces[row + 1], forces[row + 2]
            load += math.sqrt(normal * normal + one * one + two * two)
            if normal > 0.0:
                one, two = slips[row + 1], slips[row + 2]
                slip = max(slip, math.sqrt(one * one + two * two))
    facts[0], facts[1], facts[2] = 1e3 * depth, load, 1e3 * slip
