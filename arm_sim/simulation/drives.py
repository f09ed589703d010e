"""What stands between a command and the joints of a real arm, and between joints and readings."""

from collections import deque
from dataclasses import dataclass, fields

import numpy as np

from arm_controllers.drive_convention import DriveConvention
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter


@dataclass(frozen=True, kw_only=True)
class DriveParameters(DriveConvention):
    """The drives of an arm. The default is none of it: what is commanded acts, at once."""

    compensation_scale: float = parameter(
        1.0, "factor on gravity and friction in the drives' own compensation [1]", min=0, max=10
    )
    effort_rate_limit: PerJoint = parameter(
        (), 'largest rate of an effort command [N.m/s | N/s]; empty: no limit', above=0
    )
    command_delay: int = parameter(
        0, 'delay from a state to the effect of its command [control periods]', min=0, max=1000
    )
    command_jitter: int = parameter(
        0, 'largest additional delay, drawn in each period [control periods]', min=0, max=1000
    )
    jitter_seed: int = parameter(0, 'random seed of the command jitter')
    encoder_resolution: PerJoint = parameter(
        (),
        'step of measured positions [rad | m], which give the velocities; empty: exact',
        above=0,
    )

    def drives(self) -> dict[str, object]:
        """Return what differs from its default, by name."""
        own = [(each.name, each.default) for each in fields(DriveParameters)]
        now = {name: getattr(self, name) for name, default in own}
        return {name: now[name] for name, default in own if now[name] != default}

    def check_drives(self, command_interface: str, takes_goals: bool) -> None:
        """Raise ArmError for what drives with this command have no use for."""
        told = self.drives()
        if told and takes_goals:
            raise ArmError(f'{next(iter(told))}: a motion model has no drives')
        efforts = ('effort_convention', 'friction_compensation', 'effort_rate_limit')
        for name in efforts if command_interface != 'effort' else ():
            if name in told:
                raise ArmError(
                    f'{name} is {told[name]!r}; it is for drives that take effort, and these take '
                    f'{command_interface}'
                )
        if 'compensation_scale' in told and not self.compensates:
            raise ArmError(
                f'compensation_scale is {self.compensation_scale:g}; the drives compensate '
                "nothing: effort_convention 'gravity_compensated' or friction_compensation"
            )


class Drives:
    """Passes commands on to the joints: late, no faster than it can, with what it adds itself.

    Attributes:
        model: what they know of the arm.
    """

    def __init__(self, model: RobotModel, parameters: DriveParameters, period: float):
        """`period` [s] is that of commands."""
        p, names = parameters, model.joint_names
        self.model, self._parameters, self._period = model, p, period
        self._step: Array | None = None
        if p.encoder_resolution:
            self._step = per_joint('encoder_resolution', p.encoder_resolution, names, 0.0, True)
        self._seen = np.zeros(model.nv)
        self._most: Array | None = None
        if p.effort_rate_limit:
            rate = per_joint('effort_rate_limit', p.effort_rate_limit, names, 0.0, True)
            self._most = rate * period
        self._sent: deque[Array] = deque(maxlen=1 + p.command_delay + p.command_jitter)
        self.reset()

    def reset(self) -> None:
        """Begin anew: nothing is under way, the draws are those of the beginning."""
        self._random = np.random.default_rng(self._parameters.jitter_seed)
        self.release()

    def release(self) -> None:
        """Forget what is under way. The first command after it acts at once."""
        self._sent.clear()
        self._age = 0
        self._last: Array | None = None

    def effect(self, command: Array, q: Array, v: Array) -> Array:
        """Return what acts on the joints (n,) when `command` (n,) is sent at the state q, v.

        Commands never overtake each other; before `command_delay` periods the first one acts.
        """
        p, sent = self._parameters, self._sent
        sent.append(command.copy())
        late = p.command_delay
        if p.command_jitter:
            late += int(self._random.integers(p.command_jitter + 1))
        self._age = min(late, self._age + 1, len(sent) - 1)
        acting = sent[-1 - self._age]
        if self._most is not None:
            if self._last is not None:
                acting = np.clip(acting, self._last - self._most, self._last + self._most)
            self._last = acting
        if p.compensates:
            acting = acting + p.compensation_scale * p.added(self.model, q, v)
        return acting

    def read(self, q: Array, v: Array, moved: bool = True) -> tuple[Array, Array]:
        """Return the state (n,), (n,) as it is measured; v as it is unless the arm has moved."""
        if self._step is None:
            return q, v
        before, self._seen = self._seen, np.rint(q / self._step) * self._step
        return self._seen, (self._seen - before) / self._period if moved else v.copy()
