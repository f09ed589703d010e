"""Any robot, any controller, any engine: `ros2 launch arm_sim arm.launch.py robot:=my.urdf`."""

from arm_sim.launching.arguments import ARM, description, shared
from arm_sim.launching.arm import arm_nodes
from arm_sim.launching.needs import Need, sees_table

ARGUMENTS = shared(
    *ARM,
    'controller_manager',
    'tip_servo',
    'linear_move',
    'plan_motion',
    mode='realtime',
    record='false',
)
NEEDS = (Need(('table',), sees_table, 'contacts:=true, view, viewer, camera or plan_motion'),)
generate_launch_description = description(ARGUMENTS, arm_nodes, NEEDS)
