"""Contact switches: closed while a link touches something."""

from dataclasses import dataclass

from arm_controllers.measurement import Measurement
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.devices._device import Device, Setup


@dataclass(frozen=True, kw_only=True)
class ContactSwitchParameters(Parameters):
    """Links with a contact switch."""

    contact_switches: tuple[str, ...] = parameter(
        (), 'links with a contact switch, closed while the link touches something (engine mujoco)'
    )


class ContactSwitchesDevice(Device):
    """The contact switches: `Measurement.readings['contact_switches']`, (k,) 1 where closed."""

    Parameters = ContactSwitchParameters
    order = 70.0

    @classmethod
    def wanted(cls, parameters: ContactSwitchParameters) -> bool:
        """Return whether a link has a switch."""
        return bool(parameters.contact_switches)

    def __init__(self, setup: Setup):
        super().__init__(setup)
        plant, self.links = self.plant, setup.each[0].contact_switches
        for link in self.links:
            if plant.arms or not plant.parameters.touching:
                where = 'a batch' if plant.arms else 'an arm without scene and contacts'
                raise ArmError(f'contact_switches: {link!r}: {where} has none')
            setup.models[0].frame_id(link)

    def read(self, measured: Measurement) -> Measurement:
        """Return which links touch something; none does before the first integration step."""
        closed = self.plant.contacts.touched(self.links).astype(float)
        return measured.with_reading('contact_switches', closed)
