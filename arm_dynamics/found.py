"""Things that are found by name, not listed: modules of a folder, and plugins of other packages.

A module `computed_torque.py` of the folder brings the thing of that name: the class
`ComputedTorque` in it, or whatever else in it has that name regardless of case and underscores. A
module whose name begins with an underscore is a helper and brings nothing. An installed package
brings more by entry points:

    [project.entry-points.'arm_sim.laws']
    my_law = 'my_package.my_module:MyLaw'
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module, metadata
from pkgutil import iter_modules
from typing import Any

from arm_dynamics.checks import ArmError, one_of


@dataclass
class Found:
    """What a folder and plugins bring; a module is imported only when it is asked for.

    Attributes:
        kind: what is found, for messages: 'law'.
        folder: a package, by its dotted name; each of its modules brings one.
        group: the name of a group of entry points, each of which brings one.
        needs: attributes that each must have.
        base: class of which each must be a subclass.
    """

    kind: str
    folder: str
    group: str
    needs: tuple[str, ...] = ()
    base: type | None = None

    @cached_property
    def _modules(self) -> frozenset[str]:
        modules = iter_modules(import_module(self.folder).__path__)
        return frozenset(module.name for module in modules if not module.name.startswith('_'))

    @cached_property
    def _plugins(self) -> dict[str, metadata.EntryPoint]:
        return {entry.name: entry for entry in metadata.entry_points(group=self.group)}

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        return tuple(sorted(self._modules | self._plugins.keys()))

    def load(self, name: str) -> Any:
        """Return the thing of that name.

        A plugin that has the name of a module of the folder, or cannot be imported, is refused.
        """
        one_of(self.kind, name, self.names())
        thing, where = self._plugin(name) if name in self._plugins else self._in_folder(name)
        if self.base and not (isinstance(thing, type) and issubclass(thing, self.base)):
            base = f'{self.base.__module__}.{self.base.__name__}'
            raise ArmError(f'{where} is no subclass of {base}')
        missing = [need for need in self.needs if not hasattr(thing, need)]
        if missing:
            raise ArmError(f'{where} has no {", ".join(missing)}')
        return thing

    def _in_folder(self, name: str) -> tuple[Any, str]:
        module = import_module(f'{self.folder}.{name}')
        wanted = name.replace('_', '')
        for attribute, thing in vars(module).items():
            if attribute.replace('_', '').lower() == wanted:
                return thing, f'{self.kind} {name!r} ({module.__file__})'
        expected = name.title().replace('_', '')
        raise ArmError(f'{self.kind} {name!r}: {module.__file__} has no class {expected!r}')

    def _plugin(self, name: str) -> tuple[Any, str]:
        plugin = self._plugins[name]
        package = '' if plugin.dist is None else f' of package {plugin.dist.name!r}'
        where = f'{self.kind} {name!r} ({plugin.value}{package})'
        if name in self._modules:
            raise ArmError(f'{where} has the name of {self.folder}.{name}; it needs another one')
        if not (name.isidentifier() and name.isascii()):
            raise ArmError(f'{where}: a name is made of letters, digits and underscores')
        try:
            return plugin.load(), where
        except Exception as error:  # somebody else's module may raise anything
            raise ArmError(
                f'{where} cannot be imported: {type(error).__name__}: {error}'
            ) from error
