"""The QoS profiles of all nodes; reliable, newest kept and volatile where nothing else is said."""

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

CONTROL_QOS = QoSProfile(depth=1)
# The two ends of the control loop take the newest message only and acknowledge none: faster, and
# in lock-step a message that got lost is asked for again.
CONTROL_INPUT_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
# A command each of several controllers, which may come at once.
COMMANDS_QOS = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
# The simulator keeps enough states, a controller enough commands, for a recorder that lags behind.
STATE_QOS = QoSProfile(depth=1000)
RECORD_QOS = QoSProfile(depth=100_000)
LATCHED_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# ROS's own depth of 10 drops requests of many clients at once. A goal may have megabytes.
SERVICE_QOS = QoSProfile(depth=1000)
ACTION_QOS = QoSProfile(depth=100)
# Of both ends of an action: each client also receives what the server answers to the others.
ACTION_SERVICES = {f'{x}_service_qos_profile': ACTION_QOS for x in ('goal', 'cancel', 'result')}
