"""What an experiment says in vain: options that change nothing without another one."""

from collections.abc import Mapping
from dataclasses import fields

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import changed
from arm_lab.experiments.experiment import LoadedExperiment
from arm_sim.devices.faults import describe, read_faults
from arm_sim.devices.force_torque import ForceTorqueParameters
from arm_sim.devices.imu import ImuParameters
from arm_sim.devices.joint_torque import JointTorqueParameters

# Parameters that do nothing while another one has its default, by that one's name.
_NEEDED: Mapping[str, tuple[str, ...]] = {
    'joint_stiffness': ('joint_damping', 'encoders'),
    'static_friction': ('stribeck_velocity',),
    'ripple_amplitude': ('ripple_harmonic', 'ripple_phase'),
    'force_torque_frame': tuple(each.name for each in fields(ForceTorqueParameters)),
    'joint_torque': tuple(each.name for each in fields(JointTorqueParameters)),
    'imu_frame': tuple(each.name for each in fields(ImuParameters)),
}


def check_effect(loaded: LoadedExperiment) -> None:
    """Raise ArmError for an option that says nothing about this arm or task."""
    e = loaded.experiment
    if e.frequency and e.task != 'sinusoid':
        raise ArmError(f"frequency is {e.frequency:g}; it is of task 'sinusoid', not {e.task!r}")
    _check_faults(e.faults, e.task, loaded.task.duration)
    given = [('joints', name, value) for name, value in changed(e.joints).items()]
    given += [('sensors', name, value) for name, value in changed(e.sensors).items()]
    if not given:
        return
    plant = loaded.plant_parameters()
    acts = changed(plant)
    for part, name, value in given:
        for needed, names in _NEEDED.items():
            if name in names and name != needed and needed not in acts:
                raise ArmError(f'{part}.{name} is {value}; without {needed} it does nothing')
    if e.joints.joint_substeps > 1 and not plant.has_drive_trains:
        raise ArmError(
            f'joints.joint_substeps is {e.joints.joint_substeps}; without joint_stiffness, '
            'static_friction or ripple_amplitude it does nothing'
        )


def _check_faults(faults: str, task: str, duration: float) -> None:
    for fault in read_faults(faults):
        if fault.time >= duration:
            raise ArmError(
                f'faults: {describe(fault)}; task {task!r} ends at t = {duration:g} s, before it'
            )
        if fault.kind.startswith(('offset_', 'drifting_')) and not fault.value:
            raise ArmError(f'faults: {describe(fault)}; without value it does nothing')
