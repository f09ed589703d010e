"""A package outside the repository that brings laws, tasks or solvers by entry points."""

import textwrap
from pathlib import Path


def write_plugins(
    folder: Path, modules: dict[str, str], entry_points: dict[str, dict[str, str]]
) -> Path:
    """Write what `pip install` leaves of a package; return the folder that is to be on the path.

    Args:
        folder: an empty or missing folder.
        modules: text by name of module.
        entry_points: 'module:Class' by name, by group.
    """
    package = 'plugins_of_a_user'
    (folder / package).mkdir(parents=True)
    (folder / package / '__init__.py').touch()
    for name, text in modules.items():
        (folder / package / f'{name}.py').write_text(textwrap.dedent(text))
    info = folder / f'{package}-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
    groups = (
        '\n'.join(
            [f'[{group}]', *(f'{name} = {package}.{value}' for name, value in given.items())]
        )
        for group, given in entry_points.items()
    )
    (info / 'entry_points.txt').write_text('\n'.join(groups) + '\n')
    return folder


# Computed torque as a user may write it.
LAW = '''
    """tau = M(q) (a_r + kd de + kp e) + C v + g, the user's own."""

    from dataclasses import dataclass

    from arm_controllers.laws import Law


    @dataclass(frozen=True)
    class Gains:
        kp: tuple[float, ...] = (400.0,)
        kd: tuple[float, ...] = (40.0,)


    class MyLaw(Law):
        Parameters = Gains
        knows = 65

        def __init__(self, model, parameters):
            self.model = model
            self.kp, self.kd = parameters.kp[0], parameters.kd[0]

        @classmethod
        def designed(cls, model, q, natural_frequency, damping_ratio):
            return Gains((natural_frequency**2,), (2 * damping_ratio * natural_frequency,))

        def __call__(self, q, v, reference, dt):
            e, de = self.model.difference(q, reference.q), reference.v - v
            a = reference.a + self.kd * de + self.kp * e
            return self.model.inverse_dynamics(q, v, a) + reference.effort
'''
