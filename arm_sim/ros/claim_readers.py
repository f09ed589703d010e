"""Readers of commands: one for all joints of the arm, and one per controller of some of them."""

from collections.abc import Sequence

from arm_controllers.ros.command_messages import CommandReader


class ClaimReaders:
    """Opens each command with the reader for the joints of its controller's claim."""

    def __init__(self, joint_names: Sequence[str], interfaces: Sequence[str]):
        """`interfaces`: of the commands, per joint of the arm."""
        self._interfaces = dict(zip(joint_names, interfaces, strict=True))
        self._whole = self._of(joint_names)
        self._partial: dict[str, CommandReader] = {}  # by controller

    def _of(self, joint_names: Sequence[str]) -> CommandReader:
        return CommandReader(joint_names, [self._interfaces[name] for name in joint_names])

    def open(self, raw: bytes) -> CommandReader:
        """Return the reader that has opened a command."""
        whole = self._whole
        if not self._partial:
            whole.open(raw)
            return whole
        for reader in self._partial.values():
            if reader.opens(raw):
                return reader
        whole.open(raw)
        own = self._partial.get(whole.sender)
        if own is None:
            return whole
        own.open(raw)
        return own

    def reopen(
        self, raw: bytes, reader: CommandReader, joint_names: Sequence[str]
    ) -> CommandReader:
        """Return a reader of these joints that has opened a command, which `reader` has opened."""
        if len(joint_names) == len(self._interfaces):
            return reader
        reader = self._of(joint_names)
        reader.open(raw)
        return reader

    def keep(self, source: str, reader: CommandReader, joint_names: Sequence[str]) -> None:
        """Open the commands of a controller with this reader, from `reopen`, from now on."""
        if len(joint_names) == len(self._interfaces):
            self._partial.pop(source, None)
        else:
            self._partial[source] = reader

    def get(self, source: str, reader: CommandReader) -> CommandReader:
        """Return the reader of a controller of some joints; `reader` for all joints."""
        return self._partial.get(source, reader)
