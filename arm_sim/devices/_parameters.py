"""The parameters of all devices, as one flat list of names: what nodes and files have."""

from dataclasses import dataclass
from typing import Any

from arm_sim.devices._device import combined, device_classes

_SENSORS = {name: each for name, each in device_classes().items() if each.is_sensor}
_OF_SENSORS: Any = combined('SensorParameters', _SENSORS.values())
_OF_DEVICES: Any = combined('DeviceParameters', device_classes().values())


@dataclass(frozen=True, kw_only=True)
class SensorParameters(_OF_SENSORS):
    """The sensors of an arm; the defaults are exact joint sensors and no others."""

    @property
    def exact(self) -> bool:
        """Whether every reading is the state itself, and there are no other sensors."""
        return _exact(self)


@dataclass(frozen=True, kw_only=True)
class DeviceParameters(_OF_DEVICES):
    """The devices of an arm; with the defaults commands act and readings come unchanged."""

    @property
    def exact(self) -> bool:
        """Whether every reading is the state itself, and there are no other sensors."""
        return _exact(self)


def _exact(parameters: Any) -> bool:
    return not any(each.wanted(parameters) for each in _SENSORS.values())


def needs_motion(parameters: Any) -> bool:
    """Return whether an arm with these parameters has a device that reads `plant.link_motion`."""
    return any(each.needs_motion and each.wanted(parameters) for each in device_classes().values())


def alike() -> tuple[str, ...]:
    """Return the fields of device parameters that all arms of a batch share."""
    return tuple(field for each in device_classes().values() for field in each.alike)
