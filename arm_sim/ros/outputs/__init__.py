"""Topics of devices: one file each, named as the device, or an entry point of the group."""
