"""What is recorded of a run: in the loop without ROS and over topics the same."""

from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import ReferenceFunction
from arm_dynamics.checks import ArmError, Array, freeze
from arm_sim.loop.goals import sampled
from arm_sim.output_folder import whole_file
from arm_sim.simulation.pacing import TOO_SLOW_HELP

RECORD = 'record.npz'  # the file of a record in a task's folder


@dataclass(frozen=True)
class Record:
    """A run of k control periods; row i is the state at the start of period i.

    Attributes:
        t: (k,) [s].
        q, v: (k, n) state [rad | m], [rad/s | m/s].
        q_reference, v_reference: (k, n) what it was compared with.
        effort: (k, n) torque applied in the period [N.m | N].
        q_end: (n,) position at the end of the last period.
        contacts: (k, 3) contact facts at the end of each period, see ContactState; (0, 3): none.
        completed: False where the state left the finite numbers; the rows end before it.
        objects: (k + 1, m, 7) poses of m moving objects at the starts of the periods and at the
            end: position [m], quaternion x, y, z, w; empty where they were not recorded.
        wrench: (k, 6) as the force-torque sensor reports it; (0, 6): no sensor.
    """

    t: Array
    q: Array
    v: Array
    q_reference: Array
    v_reference: Array
    effort: Array
    q_end: Array
    completed: bool = True
    contacts: Array = field(default_factory=lambda: np.empty((0, 3)))
    objects: Array = field(default_factory=lambda: np.empty((0, 0, 7)))
    wrench: Array = field(default_factory=lambda: np.empty((0, 6)))

    def __post_init__(self) -> None:
        freeze(self)  # for tasks, measures and all other readers

    def checksum(self) -> str:
        """Return the SHA-256 of times, states, torques, objects: equal for bit-identical runs."""
        arrays = self.t, self.q, self.v, self.effort, self.q_end, self.objects, self.wrench
        return sha256(b''.join(each.tobytes() for each in arrays)).hexdigest()

    def save(self, path: Path) -> None:
        """Write the arrays for NumPy (.npz)."""
        with whole_file(path) as file:
            np.savez(file, **vars(self))

    @classmethod
    def load(cls, path: Path) -> 'Record':
        """Read what `save` wrote."""
        with np.load(path) as arrays:
            values = {x.name: arrays[x.name] for x in fields(cls) if x.name in arrays}
        return cls(**values | {'completed': bool(values['completed'])})


@dataclass(frozen=True)
class JointStates:
    """What `joint_states` said, sample by sample.

    Attributes:
        time_ns: (m,) stamps.
        q, v: (m, n) state at the stamp.
        effort: (m, n) torque applied in the control period that ends at the stamp.
        wrench: (m, 6) of the force-torque sensor; (0, 6): it is not recorded.
        contacts: (m, 3) contact facts of that period, see ContactState; (0, 3): none.
    """

    time_ns: NDArray[np.int64]
    q: Array
    v: Array
    effort: Array
    wrench: Array = field(default_factory=lambda: np.empty((0, 6)))
    contacts: Array = field(default_factory=lambda: np.empty((0, 3)))

    def record(
        self, reference_function: ReferenceFunction, start_ns: int, end_ns: int, period_ns: int
    ) -> Record:
        """Return the record from start to end, where the reference is a function of the stamp.

        Raises:
            ArmError: a sample of the period is missing.
        """
        keep = (self.time_ns >= start_ns) & (self.time_ns <= end_ns)
        expected = (end_ns - start_ns) // period_ns + 1
        if keep.sum() != expected:
            periods = np.unique(np.diff(self.time_ns[keep]))
            if len(periods) == 1 and periods[0] != period_ns:
                raise ArmError(
                    f'states come every {1e-6 * periods[0]:g} ms, the control period here is '
                    f'{1e-6 * period_ns:g} ms: a parameter file sets timestep and '
                    'control_decimation for all nodes, under /**'
                )
            raise ArmError(
                f'{keep.sum()} of {expected} states were recorded between '
                f't = {start_ns * 1e-9:.3f} s and {end_ns * 1e-9:.3f} s: the machine was too slow '
                f'for real time; {TOO_SLOW_HELP}'
            )
        stamps, q = self.time_ns[keep][:-1].astype(float), self.q[keep]
        q_wanted, v_wanted, _ = sampled(reference_function, stamps * 1e-9, q.shape[1])
        t, v, effort = (stamps - start_ns) * 1e-9, self.v[keep][:-1], self.effort[keep][1:]
        wrench = self.wrench[keep][:-1] if len(self.wrench) else self.wrench
        contacts = self.contacts[keep][1:] if len(self.contacts) else self.contacts
        return Record(
            t, q[:-1], v, q_wanted, v_wanted, effort, q_end=q[-1], wrench=wrench, contacts=contacts
        )
