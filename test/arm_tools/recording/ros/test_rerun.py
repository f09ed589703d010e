"""When a recorded goal was accepted."""

from control_msgs.action import FollowJointTrajectory
from rclpy.serialization import serialize_message

from arm_controllers.ros.cdr import starting_now
from arm_tools.recording.ros.rerun import accepted_ns


def test_a_late_recorder_changes_the_start_of_no_goal_that_its_sender_left_open():
    goal = FollowJointTrajectory.Goal()
    raw = starting_now(bytes(serialize_message(goal)), 20)
    assert [accepted_ns(recorded, raw) for recorded in (10, 20, 30)] == [20] * 3
    goal.trajectory.header.stamp.nanosec = 20  # of the sender, who sent it before
    assert accepted_ns(10, bytes(serialize_message(goal))) == 10
