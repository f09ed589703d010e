"""When a stamp comes on the clock of trajectories, which runs slowly where goals are slow."""

from sys import maxsize

from arm_controllers.follower.schedule import Schedule


def trajectory_time(schedule: Schedule, now_ns: int, ahead_ns: int) -> int:
    """Return the trajectories' time [ns] when the states' time is `ahead_ns` from now.

    Goals are taken to be followed at the wanted speed, all else at full speed; `now_ns` is the
    trajectories' time now.
    """
    speed = schedule.scaling.wanted
    ends_ns = [*(each.from_ns for each in schedule.waiting), maxsize]
    for each, end_ns in zip(schedule.all, ends_ns, strict=True):
        begin_ns = max(now_ns, each.from_ns)
        slow_ns = min(end_ns, each.start_ns + int(1e9 * each.trajectory.end)) - begin_ns
        if each.scaled and slow_ns > 0 and now_ns + ahead_ns > begin_ns:
            ahead_ns -= begin_ns - now_ns
            if speed * ahead_ns < slow_ns:
                return begin_ns + round(speed * ahead_ns)
            now_ns, ahead_ns = begin_ns + slow_ns, ahead_ns - round(slow_ns / speed)
    return now_ns + ahead_ns
