"""Drawn holes: how many pegs are inserted, how deep, when, with which force, and one checksum.

    ./ws python benchmarks/peg_in_hole.py --holes 1000 --workers 2

The ranges of place, turn and stiffness of the hole are the parameters of the task `peg_in_hole`.
"""

from drawn_cases import study

ROWS = (  # of the report, with the heading
    ('depth_mm', 'insertion depth [mm]'),
    ('inserted_at_s', 'inserted at [s]'),
    ('peak_force_n', 'peak force [N]'),
    ('above_20_n_s', 'time above 20 N [s]'),
    ('force_penalty', 'points for time above 20 N'),
    ('off_axis_mm', 'distance from the axis [mm]'),
    ('tilt_deg', 'tilt in the hole [deg]'),
)


def main() -> int:
    """Print the table; exit code 0 if at least 95 % of the pegs are inserted."""
    words = 'holes', 'with the peg in'
    robot, law = 'ur5e gripper:=peg', 'cartesian_impedance'
    return study(__doc__, 'peg_in_hole', ROWS, words, robot, law, least=0.95)


if __name__ == '__main__':
    raise SystemExit(main())
