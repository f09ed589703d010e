"""Any task as an environment of Gymnasium: one arm, or many in a batch.

The import registers the environments; it loads nothing but Gymnasium.
"""

from typing import Any

from gymnasium.envs import registration

# Laws and simulator as in the robot's files; laws of force have no design.
_FILES = {'natural_frequency': 0.0, 'timestep': 0.0}
# Environments that have a name; `arm_sim/Task-v0` is any task: gymnasium.make(..., task='cube').
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    'Task-v0': {},
    'Track-v0': {'task': 'sinusoid'},
    'Press-v0': {'task': 'press', 'law': 'hybrid_force_motion', **_FILES},
    'PegInHole-v0': {'task': 'peg_in_hole', 'law': 'cartesian_impedance', **_FILES},
    'PickAndPlace-v0': {
        'task': 'pick_and_place',
        'robot': 'ur5e gripper:=parallel',
        **_FILES,
    },
}

for _name, _given in ENVIRONMENTS.items():
    registration.register(
        f'arm_sim/{_name}', 'arm_sim.gym.environment:ArmEnv', kwargs=_given,
        vector_entry_point='arm_sim.gym.vector:ArmVectorEnv',
    )  # fmt: skip
