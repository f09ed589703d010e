"""Every task as an environment of Gymnasium: one arm, or many in a batch.

The import registers the environments; it loads nothing but Gymnasium.
"""

from gymnasium.envs import registration

# Laws and simulator as in the robot's files; laws of force have no design.
_FILES = {'natural_frequency': 0.0, 'timestep': 0.0}
_MOTION = {
    'Track': 'sinusoid',
    'Step': 'step',
    'Push': 'push',
    'PayloadDrop': 'payload_drop',
    'PoseHold': 'pose_hold',
    'Cube': 'cube',
    'Excite': 'excite',
}
# Task, tool and law of tasks with contacts.
_CONTACT = {
    'Press': ('press', 'probe', 'hybrid_force_motion'),
    'Wipe': ('wipe', 'probe', 'hybrid_force_motion'),
    'FollowEdge': ('follow_edge', 'probe', 'hybrid_force_motion'),
    'PegInHole': ('peg_in_hole', 'peg', 'cartesian_impedance'),
    'OpenDoor': ('open_door', 'fork', 'cartesian_impedance'),
    'HandOver': ('hand_over', 'probe', 'hand_guiding'),
    'Collide': ('collide', 'probe', 'computed_torque'),
    'PickAndPlace': ('pick_and_place', 'parallel', 'computed_torque'),
}
# Arguments by name; `arm_sim/Task-v0` is any task: gymnasium.make(..., task='cube').
ENVIRONMENTS: dict[str, dict[str, object]] = {
    'Task-v0': {},
    **{f'{name}-v0': {'task': task} for name, task in _MOTION.items()},
    **{
        f'{name}-v0': {'task': task, 'robot': f'ur5e gripper:={tool}', 'law': law, **_FILES}
        for name, (task, tool, law) in _CONTACT.items()
    },
}

for _name, _given in ENVIRONMENTS.items():
    registration.register(
        f'arm_sim/{_name}', 'arm_lab.gym.environment:ArmEnv', kwargs=_given,
        vector_entry_point='arm_lab.gym.environment:ArmVectorEnv',
    )  # fmt: skip
