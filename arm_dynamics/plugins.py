"""Registries of plugins: modules of a folder, and entry points of installed packages.

A module `computed_torque.py` of the folder brings the plugin of that name: the class
`ComputedTorque` in it, or any other object whose name is the same without case and underscores. A
module whose name begins with an underscore is a helper and brings no plugin. An installed package
adds plugins by entry points:

    [project.entry-points.'arm_sim.laws']
    my_law = 'my_package.my_module:MyLaw'
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import Any

from arm_dynamics.checks import ArmError, one_line, one_of, say_once

OWN = frozenset(f'arm_{each}' for each in ['dynamics', 'controllers', 'sim', 'lab', 'tools'])


def is_foreign(kind: type) -> bool:
    """Return whether a class is of another package than these, or of a user's file."""
    return kind.__module__.partition('.')[0] not in OWN


@cache
def _installed(path: tuple[str, ...]) -> metadata.EntryPoints:
    """Return what the packages on this path bring; a file of each is read."""
    return metadata.entry_points()


@dataclass
class PluginRegistry:
    """Plugins of one kind by name; a plugin's module is imported when the plugin is loaded.

    Attributes:
        kind: what a plugin is, for messages: 'law'.
        folder: dotted name of the package whose modules are plugins; empty: there is none.
        group: name of the group of entry points.
        needs: attributes that each plugin must have.
        base: class of which each plugin must be a subclass.
        suffix: what a class of the folder has behind its module's name: 'Plant'.
    """

    kind: str
    folder: str
    group: str
    needs: tuple[str, ...] = ()
    base: type | None = None
    suffix: str = ''

    @cached_property
    def _modules(self) -> frozenset[str]:
        modules = iter_modules(import_module(self.folder).__path__ if self.folder else ())
        return frozenset(module.name for module in modules if not module.name.startswith('_'))

    @cached_property
    def _entry_points(self) -> dict[str, metadata.EntryPoint]:
        found = _installed(tuple(sys.path)).select(group=self.group)
        return {entry.name: entry for entry in found}

    def refresh(self) -> None:
        """Look for plugins again, as after an installation."""
        _installed.cache_clear()
        for cached in ('_modules', '_entry_points'):
            vars(self).pop(cached, None)

    def names(self) -> tuple[str, ...]:
        """Return the names of all plugins, sorted."""
        return tuple(sorted(self._modules | self._entry_points.keys()))

    def load(self, name: str) -> Any:
        """Return the plugin of this name.

        Raises:
            ArmError: no such plugin; it lacks what each must have; an entry point that cannot be
                imported, or that has the name of a module of the folder.
        """
        one_of(self.kind, name, self.names())
        is_module = name not in self._entry_points
        plugin, where = self._from_folder(name) if is_module else self._from_entry_point(name)
        if self.base and not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            base = f'{self.base.__module__}.{self.base.__name__}'
            raise ArmError(f'{where} is no subclass of {base}')
        if missing := [need for need in self.needs if not hasattr(plugin, need)]:
            raise ArmError(f'{where} has no {", ".join(missing)}')
        return plugin

    def load_all(self, make: Callable[[Any], Any] = lambda plugin: plugin) -> dict[str, Any]:
        """Return what `make` makes of each plugin by name.

        One of another package that cannot be had is left out, and a line names it.
        """
        made: dict[str, Any] = {}
        for name in self.names():
            try:
                made[name] = make(self.load(name))
            except Exception as error:  # a plugin of another package may raise anything
                if name not in self._entry_points:
                    raise
                where, text = self._where(name), one_line(error)
                say_once(f'{text if where in text else f"{where}: {text}"}; it is left out')
                if name in self._modules:
                    made[name] = make(self._from_folder(name)[0])
        return made

    def _from_folder(self, name: str) -> tuple[object, str]:
        module = import_module(f'{self.folder}.{name}')
        wanted = (name + self.suffix).replace('_', '').lower()
        for attribute, value in vars(module).items():
            if attribute.replace('_', '').lower() == wanted:
                return value, f'{self.kind} {name!r} ({module.__file__})'
        expected = name.title().replace('_', '') + self.suffix
        raise ArmError(f'{self.kind} {name!r}: {module.__file__} has no class {expected!r}')

    def _from_entry_point(self, name: str) -> tuple[object, str]:
        entry, where = self._entry_points[name], self._where(name)
        if name in self._modules:
            raise ArmError(f'{where} has the name of {self.folder}.{name}; it needs another one')
        if not (name.isidentifier() and name.isascii()):
            raise ArmError(f'{where}: a name must be of letters, digits and underscores')
        try:
            return entry.load(), where
        except Exception as error:  # a plugin of another package may raise anything
            kind = type(error).__name__
            raise ArmError(f'{where} cannot be imported: {kind}: {error}') from error

    def _where(self, name: str) -> str:
        entry = self._entry_points[name]
        package = '' if entry.dist is None else f' of package {entry.dist.name!r}'
        return f'{self.kind} {name!r} ({entry.value}{package})'


def extension(group: str, name: str) -> Any:
    """Return what an installed package adds by an entry point; raises ArmError as `load`."""
    return PluginRegistry(group, '', group).load(name)
