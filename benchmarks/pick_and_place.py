"""Drawn blocks, picked up and put down: success rate, grip, slip, place, and one checksum.

    ./ws python benchmarks/pick_and_place.py --blocks 1000 --workers 2

The ranges of sides, mass, friction and pose are the parameters of the task `pick_and_place`.
"""

from drawn_cases import study

ROWS = (  # of the report, with the heading
    ('gripper_effort_n', 'effort of the gripper [N]'),
    ('slip_mm', 'slip in the hand [mm]'),
    ('place_error_mm', 'distance from the place [mm]'),
    ('place_turn_rad', 'turn from the place [rad]'),
)


def main() -> int:
    """Print the table; exit code 0 if every block is at its place."""
    words = 'blocks', 'at their place'
    robot, law = 'ur5e gripper:=parallel', 'computed_torque'
    return study(__doc__, 'pick_and_place', ROWS, words, robot, law)


if __name__ == '__main__':
    raise SystemExit(main())
