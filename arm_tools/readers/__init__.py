"""Recordings of any program, read as the states of an arm's joints: `recorded_samples`.

Messages (`recorded_messages`, `joint_streams`), tables (`tables` over `text_table` and `arrays`)
and datasets (`lerobot_reader`) are read as they were recorded; what the numbers are is decided in
`arm_tools.inspection`. A new format of tables is a suffix and a function in `array_files` or
`tables`, one of messages an encoding in `other_encodings`.
"""
