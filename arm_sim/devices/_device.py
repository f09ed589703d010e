"""A device: what a simulated arm has besides its physics, such as a drive, a sensor or a fault.

    command --> sent --> acting --> physics (act) --> read --> measurement

Commands pass the devices in rising `order`, readings in falling `order`: the outermost device
changes a command first and a reading last. A file `my_sensor.py` in `arm_sim/devices/` with a
class `MySensorDevice(Device)` is a device, and so is an entry point of the group `arm_sim.devices`
in a package of yours.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.link_loads import LinkLoads
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters
from arm_dynamics.plugins import PluginRegistry, is_foreign

# What PlantParameters is, with the fields of all devices; its module imports the devices.
OfPlant = Any


class Setup(NamedTuple):
    """What a device is made from.

    Attributes:
        plant: the physics: `q`, `v`, `effort` (..., n), `arms`, `joint_names`, `measured`.
        models: of all arms, or of the first one where the others differ in numbers alone.
        each: the parameters of each arm, with those of this device.
        period: of control [s].
    """

    plant: Any
    models: Sequence[RobotModel]
    each: Sequence[OfPlant]
    period: float

    def seeds(self, seed: int | None) -> Sequence[int]:
        """Return the random seed of each arm: from `seed` on, or those of the parameters."""
        if seed is None:
            return [one.sensor_seed for one in self.each]
        return range(seed, seed + len(self.each))


@dataclass(frozen=True, kw_only=True)
class NoParameters(Parameters):
    """A device without parameters."""


class Device:
    """A device of one arm or of many arms; arrays have the leading axes of the plant.

    Attributes:
        Parameters: frozen dataclass; its fields are parameters of every simulated arm.
        order: place between controller (0) and joints (100).
        alike: fields that all arms of a batch share.
        live: fields that may change while the arm runs, see `change`.
        is_sensor: whether an Experiment has the parameters among its `sensors`.
        changes_joints: whether it changes readings of positions and velocities of joints.
        needs_motion: whether it reads `plant.link_motion`, which costs time in each period.
        cut: link before which `plant.link_motion` has the wrench; empty: none.
        idle: whether the device does nothing now; it is skipped.
        name: in the registry of devices.
    """

    Parameters: ClassVar[type[Parameters]] = NoParameters
    order: ClassVar[float] = 50.0
    alike: ClassVar[tuple[str, ...]] = ()
    live: ClassVar[tuple[str, ...]] = ()
    is_sensor: ClassVar[bool] = True
    changes_joints: ClassVar[bool] = False
    needs_motion: ClassVar[bool] = False
    cut: str = ''
    idle = False
    name = ''

    @classmethod
    def wanted(cls, parameters: OfPlant) -> bool:
        """Return whether an arm with these parameters has the device."""
        raise NotImplementedError

    @classmethod
    def check(cls, setup: Setup) -> None:
        """Raise ArmError where parameters of the device have no meaning for the plant."""

    @classmethod
    def link_side(cls, model: RobotModel, parameters: OfPlant) -> tuple[RobotModel, OfPlant]:
        """Return what an engine steps where the arm has the device: here the arm as it is."""
        return model, parameters

    @classmethod
    def facts(cls, parameters: OfPlant) -> dict[str, object]:
        """Return what the report of a task says of the device, by the task node's parameters."""
        return {}

    def __init__(self, setup: Setup):
        """Prepare the device; the plant has no state yet.

        Raises:
            ArmError: parameters that are not allowed.
        """
        self.setup, self.plant = setup, setup.plant

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Forget everything; return the first reading, which `measured` is without this device.

        `seed`: of the first arm, the next arm has one more; None: those of the parameters.
        """
        return self.read(measured)

    def sent(self, command: Array) -> Array:
        """Return what becomes of a command (..., n) on its way to the joints."""
        return command

    def braked(self) -> None:
        """Forget commands that are on their way: the brake takes the joints in this period."""

    def acting(self, command: Array) -> Array:
        """Return what acts on the joints, also under the brake, in place of a command (..., n)."""
        return command

    def around(self, command: Array, act: Callable[[Array], None]) -> None:
        """Let the physics `act` over one control period."""
        act(command)

    def read(self, measured: Measurement) -> Measurement:
        """Return a measurement with the readings of this device, once in a control period."""
        return measured

    def know(self, model: RobotModel) -> None:
        """Use the controllers' model of the arm, for example without a payload."""

    def set_time(self, time_ns: int) -> None:
        """Continue at a simulated time [ns], now and after each reset."""

    def check_change(self, parameters: OfPlant) -> None:
        """Raise ArmError where `change` would refuse the parameters; nothing changes."""

    def change(self, parameters: OfPlant, time_ns: int) -> None:
        """Use these `live` parameters in place of the earlier ones from a time [ns] on."""

    def continue_from(self, before: Self) -> None:
        """Take over the state of the same device of another plant of the arm."""


_PLACE = __package__ or ''  # the folder, and the group of entry points
DEVICES = PluginRegistry('device', _PLACE, _PLACE, base=Device, suffix='Device')


@cache
def device_classes() -> dict[str, type[Device]]:
    """Return all devices by name, from the controller to the joints."""
    classes: dict[str, type[Device]] = DEVICES.load_all()
    return dict(sorted(classes.items(), key=lambda item: (item[1].order, item[0])))


def link_side(model: RobotModel, parameters: OfPlant) -> tuple[RobotModel, OfPlant]:
    """Return what an engine steps, as the devices of an arm leave it."""
    for each in device_classes().values():
        if each.wanted(parameters):
            model, parameters = each.link_side(model, parameters)
    return model, parameters


def device_facts(parameters: OfPlant) -> dict[str, object]:
    """Return what the report of a task says of the devices."""
    each = device_classes().values()
    return {name: fact for one in each for name, fact in one.facts(parameters).items()}


def live_fields() -> frozenset[str]:
    """Return the fields of device parameters that may change while the arm runs."""
    return frozenset(field for each in device_classes().values() for field in each.live)


def combined(name: str, classes: Iterable[type[Device]]) -> object:
    """Return a dataclass of this name with the parameters of these devices."""
    bases = tuple(dict.fromkeys(each.Parameters for each in classes))
    return dataclass(frozen=True, kw_only=True)(type(name, bases, {'__doc__': 'Devices.'}))


def _overriding(devices: Iterable[Device], hook: str) -> list[Callable[..., Any]]:
    """Return this method of the devices that have their own."""
    own = (each for each in devices if getattr(type(each), hook) is not getattr(Device, hook))
    return [getattr(each, hook) for each in own if not each.idle]


class Devices:
    """The devices of a plant, from the controller to the joints.

    Attributes:
        has_readings: whether a device changes the measurement.
        changes_joint_readings: whether a device changes the readings of positions.
        needs_motion: whether a device reads `plant.link_motion`.
    """

    def __init__(self, setup: Setup):
        """Make the devices that the parameters ask for.

        Raises:
            ArmError: what a device refuses.
        """
        self._by_name: dict[str, Device] = {}
        for name, kind in device_classes().items():
            kind.check(setup)
            if not any(map(kind.wanted, setup.each)):
                continue
            device = self._by_name[name] = kind(setup)
            device.name = name
            if is_foreign(kind):
                from arm_sim.devices._foreign import look_at

                look_at(device)
        self.needs_motion = any(each.needs_motion for each in self)
        self.refresh()

    def __iter__(self) -> Iterator[Device]:
        return iter(self._by_name.values())

    def refresh(self) -> None:
        """Look again which devices are idle."""
        each = list(self)
        self._sent, self._braked = _overriding(each, 'sent'), _overriding(each, 'braked')
        self._acting, self._around = _overriding(each, 'acting'), _overriding(each, 'around')
        self._read = _overriding(reversed(each), 'read')
        self.has_readings = bool(self._read)
        self.changes_joint_readings = any(x.changes_joints and not x.idle for x in each)

    def link_motion(self, models: Sequence[RobotModel]) -> LinkLoads:
        """Return the loads and the motion of the links of N arms that devices read.

        Raises:
            ArmError: no link of this name, or the base.
        """
        named = next((each for each in self if each.cut), None)
        try:
            return LinkLoads(models, named.cut if named else '')
        except ArmError as error:
            raise ArmError(f'{named.name}.frame: {error}' if named else str(error)) from None

    def get(self, name: str) -> Any:
        """Return the device of this name; None: the arm has none."""
        return self._by_name.get(name)

    def reset(self, seed: int | None, measured: Measurement) -> Measurement:
        """Reset all devices; return the first reading."""
        for each in reversed(list(self)):
            measured = each.reset(seed, measured)
        return measured

    def sent(self, command: Array) -> Array:
        """Return what becomes of a command on its way to the joints."""
        for change in self._sent:
            command = change(command)
        return command

    def braked(self) -> None:
        """Forget commands that are on their way."""
        for forget in self._braked:
            forget()

    def act(self, command: Array, act: Callable[[Array], None]) -> None:
        """Let a command act on the joints over one control period."""
        for change in self._acting:
            command = change(command)
        if not self._around:
            act(command)
        for around in self._around:  # at most one: the drive trains
            around(command, act)

    def read(self, measured: Measurement) -> Measurement:
        """Return what all sensors report of the state at the end of a control period."""
        for read in self._read:
            measured = read(measured)
        return measured

    def know(self, model: RobotModel) -> None:
        """Give the devices the controllers' model of the arm."""
        for each in self:
            each.know(model)

    def set_time(self, time_ns: int) -> None:
        """Continue at a simulated time [ns]."""
        for each in self:
            each.set_time(time_ns)

    def check_change(self, names: frozenset[str], parameters: OfPlant) -> None:
        """Raise ArmError where no device takes, or one refuses, changed parameters."""
        if idle := names & live_fields() - {field for each in self for field in each.live}:
            raise ArmError(f'{min(idle)} has no effect: the arm began without this device')
        for each in self:
            if names.intersection(each.live):
                each.check_change(parameters)

    def change(self, names: frozenset[str], parameters: OfPlant, time_ns: int) -> None:
        """Use changed parameters of these names from a simulated time [ns] on."""
        for each in self:
            if names.intersection(each.live):
                each.change(parameters, time_ns)

    def continue_from(self, before: 'Devices') -> None:
        """Take over the state of the devices of another plant of the arm."""
        for name, each in self._by_name.items():
            if (other := before.get(name)) is not None:
                each.continue_from(other)
        self.refresh()
