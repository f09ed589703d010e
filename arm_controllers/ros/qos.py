"""The QoS profiles of all nodes."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy


def _qos(
    depth: int,
    reliability: ReliabilityPolicy = ReliabilityPolicy.RELIABLE,
    durability: DurabilityPolicy = DurabilityPolicy.VOLATILE,
) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=reliability,
        durability=durability,
    )


CONTROL_QOS = _qos(1)
# The two ends of the control loop take the newest message only and acknowledge none: faster, and
# in lock-step a message that got lost is asked for again.
CONTROL_INPUT_QOS = _qos(1, ReliabilityPolicy.BEST_EFFORT)
# The simulator keeps enough states for a recorder that lags behind.
STATE_QOS = _qos(1000)
RECORD_QOS = _qos(100_000)
LATCHED_QOS = _qos(1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# ROS's own depth of 10 drops requests of many clients at once.
SERVICE_QOS = _qos(1000)
