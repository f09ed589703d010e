"""Our laws on a robot that another ros2_control runs: presets of drives, supervisor, rehearsal."""
