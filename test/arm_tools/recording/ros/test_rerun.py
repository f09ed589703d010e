"""When a recorded goal was accepted, and what has changed since."""

import os

from control_msgs.action import FollowJointTrajectory
from rclpy.serialization import serialize_message

from arm_controllers.ros.cdr import starting_now
from arm_tools.recording.ros.recorded_run import RecordedRun
from arm_tools.recording.ros.rerun import accepted_ns, newer_policies


def test_a_late_recorder_changes_the_start_of_no_goal_that_its_sender_left_open():
    goal = FollowJointTrajectory.Goal()
    raw = starting_now(bytes(serialize_message(goal)), 20)
    assert [accepted_ns(recorded, raw) for recorded in (10, 20, 30)] == [20] * 3
    goal.trajectory.header.stamp.nanosec = 20  # of the sender, who sent it before
    assert accepted_ns(10, bytes(serialize_message(goal))) == 10


def test_a_policy_that_was_written_after_its_recording_is_named(tmp_path):
    recording, policy = tmp_path / 'recording.mcap', tmp_path / 'policy.onnx'
    for path, time in ((policy, 1000), (recording, 1001)):
        path.touch()
        os.utime(path, (time, time))
    known = {'/policy_controller': {'policy': str(policy)}, '/simulator': {'robot': 'ur5e'}}
    run = RecordedRun(recording, parameters=known)
    assert newer_policies(run) == []
    os.utime(policy, (1002, 1002))
    assert newer_policies(run) == [
        f'policy {str(policy)!r} was written after the recording: it may not be the recorded one'
    ]
