"""Devices of a simulated arm: one file each, or an entry point of the group `arm_sim.devices`."""

from dataclasses import dataclass
from typing import Any

from arm_sim.devices._device import (
    DEVICES,
    Device,
    Devices,
    Setup,
    combined,
    device_classes,
    device_facts,
    link_side,
    live_fields,
)

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

# The parameters of all devices, as one flat list of names: what nodes and files have.
_SENSORS = {name: each for name, each in device_classes().items() if each.is_sensor}
_OF_SENSORS: Any = combined('SensorParameters', _SENSORS.values())
_OF_DEVICES: Any = combined('DeviceParameters', device_classes().values())


class _Sensed:
    @property
    def exact(self) -> bool:
        """Whether every reading is the state itself, and there are no other sensors."""
        return not any(each.wanted(self) for each in _SENSORS.values())


@dataclass(frozen=True, kw_only=True)
class SensorParameters(_Sensed, _OF_SENSORS):
    """The sensors of an arm; the defaults are exact joint sensors and no others."""


@dataclass(frozen=True, kw_only=True)
class DeviceParameters(_Sensed, _OF_DEVICES):
    """The devices of an arm; with the defaults commands act and readings come unchanged."""


def needs_motion(parameters: object) -> bool:
    """Return whether an arm with these parameters has a device that reads `plant.link_motion`."""
    return any(each.needs_motion and each.wanted(parameters) for each in device_classes().values())


def alike() -> tuple[str, ...]:
    """Return the fields of device parameters that all arms of a batch share."""
    return tuple(field for each in device_classes().values() for field in each.alike)
