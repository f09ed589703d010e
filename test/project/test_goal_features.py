"""The comparison with joint_trajectory_controller in docs/: each row has tests."""

import re

from repository import ROOT, TESTS

TEXT = (ROOT / 'docs' / 'trajectory_goals.md').read_text()
TABLE = TEXT[TEXT.index('## Feature by feature') : TEXT.index('## The same goals to JTC')]
SAME = re.search(r'The same as in JTC: (.*?)\. *\n?Acceleration', TABLE, re.DOTALL)[1]
ONLY = re.search(r'Only here: (.*?)\.\n\n', TABLE, re.DOTALL)[1]
ROWS = [line.split('|')[1].strip() for line in TABLE.splitlines() if line.startswith('|')][2:]
OFFERED = (
    [
        re.sub(r' \(\[.*|(?<=its own) \(.*|\[(`\w+`)\]\(.*', r'\1', ' '.join(each.split()))
        for each in SAME.split(';')
    ]
    + [' '.join(each.split()).partition(' (')[0] for each in ONLY.split(';')]
    + ROWS
)
FILES = {
    'E': 'test_goal_ends.py',
    'F': 'test_follower.py',
    'G': 'launch_goals_test.py',
    'N': 'test_controller_node_options.py',
    'O': 'test_goal_options.py',
    'R': 'test_goal_rules.py',
    'S': 'launch_states_test.py',
    'W': 'launch_switch_test.py',
    'X': 'launch_faults_test.py',
}
# Each feature with its tests: a file, or a letter of `FILES` and a test of that file.
TESTED = """
topic and action, joints in any order
  G test_action_goal_reaches_its_point_with_feedback_on_the_way
  G test_topic_goal_is_followed_too
  F test_joints_are_taken_by_name_in_any_order
`controller_state`: reference, feedback, error, output
  G test_controller_state_holds_reference_feedback_error_and_output_at_its_rate
feedback of the action
  G test_action_goal_reaches_its_point_with_feedback_on_the_way
`query_state`
  G test_query_state_returns_where_the_reference_will_be
linear, cubic, quintic by fields
  F test_goal_is_reached_and_succeeds
  test_trajectory.py
velocities at some points only
  F test_mixed_points_use_velocities_where_both_ends_of_a_segment_have_them
effort feedforward
  E test_effort_is_handed_through_as_feedforward_and_fades_when_canceled
partial goals
  F test_joints_left_out_of_a_partial_goal_finish_the_motion_that_they_are_in
start stamp now, future, past
  F test_goal_with_a_future_stamp_waits_while_the_old_one_runs_on
  F test_points_already_past_are_dropped_and_the_rest_is_joined_without_a_jump
several waiting goals
  F test_more_waiting_goals_than_allowed_are_refused
replacement
  F test_new_goal_replaces_the_running_one_without_a_jump
  G test_new_goal_replaces_the_running_one_without_a_jump
stream of single points
  F test_stream_of_single_points_at_50_hz_never_drops_to_zero_velocity
  S test_stream_of_single_points_at_50_hz_moves_without_stopping
objects around the arm
  test_object_check.py
  test_checked_goals.py
empty trajectory
  F test_empty_trajectory_brakes_and_holds
`allow_trajectory_replacement` (newest version)
  O test_without_replacement_joints_that_the_new_goal_leaves_out_brake_and_hold
names, lengths, order of times checked
  R test_field_of_another_length_is_refused
  R test_times_that_do_not_increase_are_refused_with_the_point
  G test_refused_goal_says_joint_value_limit_point_and_time_and_the_running_one_goes_on
not finite numbers refused
  R test_number_that_is_not_finite_is_refused_with_joint_point_and_time
position, velocity, acceleration limits
  O test_motion_sampled_at_full_speed_runs_although_its_polynomials_overshoot_between_points
  O test_overshoot_is_between_points_points_themselves_keep_the_limits
  R test_position_beyond_its_limit_between_two_points_is_refused_at_its_extreme
  R test_extremes_agree_with_dense_sampling_on_random_goals
torque limit by inverse dynamics
  R test_torque_beyond_its_limit_is_refused_with_joint_value_and_limit
  test_goal_torque.py
start too far from the arm
  R test_start_too_far_from_the_arm_is_refused_with_the_distance
velocity at the end
  E test_velocity_at_the_end_is_braked_after_the_goal
path and goal tolerances, goal time
  G test_violated_path_tolerance_ends_the_goal_with_joint_error_and_limit
  E test_goal_that_is_not_met_in_time_ends_with_joint_error_limit_and_time
tolerances in the goal (override, 0, -1)
  E test_tolerance_of_a_goal_overrides_the_controllers_own
tolerance of acceleration
  O test_tolerance_of_acceleration_is_checked_as_a_value
`cmd_timeout`
  O test_an_arm_that_does_not_arrive_is_waited_for_no_longer_than_cmd_timeout
goal that is never met
  E test_every_goal_ends_in_finite_time_by_default_even_if_the_arm_never_rests
cancel
  O test_deceleration_zero_stops_at_once_on_a_cancel_and_one_joint_may_be_alone_in_that
  E test_cancel_brakes_within_the_deceleration_and_holds
  G test_cancel_decelerates_holds_and_is_reported
braking within position limits
  test_braking.py
hold after a violation
  E test_violation_in_motion_brakes_from_the_measured_state
continuous joints
  F test_continuous_joint_takes_the_short_way_from_point_to_point
deactivation ends the goal
  W test_switch_in_motion_moves_no_joint_by_more_than_its_speed_times_one_step
switch of controllers in motion
  W test_switch_in_motion_moves_no_joint_by_more_than_its_speed_times_one_step
  test_laws_switching.py
two active controllers on one arm
  W test_controller_that_activates_itself_next_to_an_active_one_is_refused_by_its_name
  X test_second_publisher_of_commands_is_refused_and_both_are_named
time jumps
  F test_jump_of_time_drops_the_goal_and_holds_the_arm_where_it_is
  X test_reset_of_time_drops_the_goal_and_holds_at_the_initial_state
  X test_controller_that_hung_finds_time_far_ahead_drops_its_goal_and_holds
the arm jumps: another simulator, or a distance that it cannot have moved
  S test_another_arm_at_the_next_stamp_ends_the_goal_and_is_held_where_it_is
controller killed in motion
  X test_controller_killed_in_motion_the_plant_brakes_logs_it_and_a_new_one_takes_over
states with NaN, joints missing or renamed
  S test_bad_state_is_dropped_with_the_joint_named_and_gets_no_command
malformed goals
  F test_no_goal_whatever_its_numbers_crashes_the_follower_or_breaks_a_limit
  G test_thousand_malformed_goals_leave_the_node_alive_and_the_arm_where_it_is
goal in a lifecycle transition
  X test_goal_is_refused_in_every_state_but_active_and_the_arm_stays
state of the controller as text
  test_diagnostics.py
parameters set while running
  G test_tolerances_and_limits_are_set_while_running_or_refused_with_a_reason
  test_live_parameters.py
velocities only (`allow_integration_in_goal_trajectories`)
  O test_points_of_velocities_alone_are_integrated_where_that_is_allowed
  O test_points_of_accelerations_are_integrated_twice
`interpolation_method: none`
  O test_without_interpolation_the_arm_is_asked_to_be_at_a_point_until_the_next
`positions_upsampling` (newest version)
  test_clamped_spline.py test_knot_velocities_are_those_of_scipys_clamped_spline
  test_upsampling.py test_a_second_chunk_goes_on_with_position_and_velocity_of_the_first
`speed_scaling`, by parameter and `~/speed_scaling_input`
  O test_at_half_speed_a_goal_takes_twice_its_time_along_the_same_path
  O test_speed_changes_within_deceleration_limits_and_the_reference_stays_consistent
  N test_speed_is_scaled_by_topic_and_shown_with_the_time_in_the_goal
end on force or distance
  test_end_on_force.py
`time_from_start`, `speed_scaling_factor` in `controller_state`
  N test_speed_is_scaled_by_topic_and_shown_with_the_time_in_the_goal
`joints`
  N test_joints_are_checked_against_the_robot
  N test_the_model_of_a_controller_has_the_joints_that_it_commands
`gains`, `command_interfaces` and other parameters of its own
  N test_parameters_without_meaning_are_named_in_one_line_and_never_refused
velocity commands
  launch_two_controllers_test.py
"""


def features():
    """Return the tests of each feature, as the words of a line of `TESTED`."""
    found, feature = {}, ''
    for line in TESTED.strip().splitlines():
        if line.startswith(' '):
            found[feature].append(line.split())
        else:
            feature = line
            found[feature] = []
    return found


def functions(file):
    return re.findall(r'^def (test_\w+)', next(TESTS.rglob(file)).read_text(), re.MULTILINE)


def test_every_offered_feature_has_tests():
    assert len(OFFERED) > 30
    tests = features()
    assert sorted(tests) == sorted(OFFERED)
    assert all(tests.values())


def test_every_named_test_exists_in_its_file():
    named = 0
    for feature, tests in features().items():
        for letter, *names in tests:
            file = FILES.get(letter, letter)
            assert any(TESTS.rglob(file)), f'{feature}: {file}'
            assert not set(names) - set(functions(file)), f'{feature}: {file} {names}'
            named += len(names)
    assert named > 30
