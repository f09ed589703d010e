"""Devices of a simulated arm: one file each, or an entry point of the group `arm_sim.devices`."""

from arm_sim.devices._device import (
    DEVICES,
    Device,
    Devices,
    Setup,
    device_facts,
    link_side,
    live_fields,
)
from arm_sim.devices._parameters import DeviceParameters, SensorParameters, alike, needs_motion

__all__ = [
    'DEVICES',
    'Device',
    'DeviceParameters',
    'Devices',
    'SensorParameters',
    'Setup',
    'alike',
    'device_facts',
    'link_side',
    'live_fields',
    'needs_motion',
]
