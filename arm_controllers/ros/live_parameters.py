"""Parameters of a controller that may be set while it runs: checked as a whole, then applied."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.law import Law
from arm_controllers.parameter_values import (
    ParameterField,
    as_ros_value,
    from_ros_value,
    parameter_fields,
    read_fields,
)
from arm_controllers.ros.parameters import declare_parameter, on_change
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, with_arrays

# Parameters of the model that may be set while the node runs, as RobotModel takes them.
OF_JOINTS = ('armature', 'damping', 'friction')
_PAIR = ('natural_frequency', 'damping_ratio')
FREQUENCY_AND_RATIO = (
    ParameterField(_PAIR[0], (0.0,), PerJoint, 'natural frequency [rad/s]; 0: by the gains'),
    ParameterField(_PAIR[1], (1.0,), PerJoint, 'damping ratio [1]; sets the gains'),
)


class _Checked(NamedTuple):
    """Values that are allowed together: of the model, the law's parameters, guard and follower."""

    model: RobotModel
    parameters: object
    guard: GuardParameters
    follower: FollowerParameters
    law: Law


class LiveParameters:
    """The parameters of a model, a law, a guard and a follower, declared on a node, kept valid.

    The gains of most laws may as well be set as `natural_frequency` [rad/s] and `damping_ratio`
    (see Law.designed). Setting one pair sets the other; at the start a frequency of zero
    leaves it to the gains.

    Attributes:
        model: the arm with its rotors and friction.
        law: the law's parameters.
        guard: the guard's parameters.
        follower: the follower's parameters.
    """

    def __init__(
        self,
        node: Node,
        model_of: Callable[..., RobotModel],
        law_class: type[Law],
        build: Callable[[RobotModel, object, GuardParameters], Law],
        apply: Callable[[RobotModel, Law, bool, FollowerParameters], None],
    ):
        """Declare what is missing on the node and read all.

        Args:
            node: has OF_JOINTS declared, and what it declared itself stays as it is.
            model_of: makes the model from armature, damping and friction.
            law_class: has `Parameters`.
            build: makes the law from a model, its parameters and those of the guard.
            apply: takes a new model, law and follower parameters into use; says whether the law
                has to begin again: the model, its parameters or the kind of the guard changed.

        Raises:
            ArmError: a value that is refused.
        """
        self._node, self._model_of, self._apply = node, model_of, apply
        self._law_class, self._build = law_class, build
        self.model = self._model_with({})
        fields = [*parameter_fields(law_class.Parameters)]
        fields += parameter_fields(GuardParameters, GuardParameters.prefix)
        fields += parameter_fields(FollowerParameters, joint_names=self.model.joint_names)
        self._names = [field.name for field in fields]
        for field in (*fields, *(FREQUENCY_AND_RATIO if law_class.gains else ())):
            declare_parameter(node, field, live=True)
        if law_class.gains:
            self._agree()
        _, self.law, self.guard, self.follower, _ = self._checked({})
        node.add_pre_set_parameters_callback(self._before)
        on_change(node, self._check, self._use)

    def _agree(self) -> None:
        """Set the gains by frequency and ratio where the user gave these, else these by the gains.

        Gains that already are those of the frequency stay to the last bit.
        """
        given = self._arrays({}, _PAIR)
        counts = _PAIR[0] if given[0].any() else self._law_class.gains[0]
        own = self._frequency_and_ratio({})
        if counts != _PAIR[0] or not np.allclose(given, own, rtol=1e-9, atol=0.0):
            self._node.set_parameters(self._other_pair({counts: self._value({}, counts)}))

    def _value(self, named: Mapping[str, object], name: str) -> object:
        return named[name] if name in named else self._node.get_parameter(name).value

    def _numbers(self, named: Mapping[str, object], name: str) -> PerJoint:
        return from_ros_value(name, self._value(named, name), PerJoint)

    def _arrays(self, named: Mapping[str, object], names: Sequence[str]) -> list[Array]:
        joints = self.model.joint_names
        return [per_joint(name, self._numbers(named, name), joints, minimum=0.0) for name in names]

    def _checked(self, named: Mapping[str, object]) -> _Checked:
        """Return all with new values.

        Raises:
            ArmError: says which parameter, its value, and what is allowed.
        """
        values = {name: self._value(named, name) for name in self._names}
        law = read_fields(self._law_class.Parameters, values)
        guard = read_fields(GuardParameters, values, GuardParameters.prefix)
        with_arrays(guard, self.model.joint_names)  # of a guard that is off, too
        follower = read_fields(FollowerParameters, values, joint_names=self.model.joint_names)
        model = self._model_with(named)
        TrajectoryFollower(model, follower)  # checks what is one number per joint
        return _Checked(model, law, guard, follower, self._build(model, law, guard))

    def _model_with(self, named: Mapping[str, object]) -> RobotModel:
        """Return the model, rebuilt if parameters of its joints are among the named ones."""
        if hasattr(self, 'model') and named.keys().isdisjoint(OF_JOINTS):
            return self.model
        return self._model_of(**{name: self._numbers(named, name) for name in OF_JOINTS})

    def _frequency_and_ratio(self, named: Mapping[str, object]) -> tuple[Array, Array]:
        """Return what the gains say, for the inertias at the model's neutral configuration."""
        law, model = self._law_class, self._model_with(named)
        return law.frequency_and_ratio(model, model.neutral(), *self._arrays(named, law.gains))

    def _other_pair(self, named: Mapping[str, object]) -> list[Parameter]:
        """Return the gains where the frequency or ratio is set, or the other way round.

        Raises:
            ArmError: values that are refused.
        """
        law = self._law_class
        if not law.gains or named.keys().isdisjoint({*_PAIR, *law.gains, 'armature'}):
            return []
        if named.keys().isdisjoint(_PAIR):
            pair = (array.tolist() for array in self._frequency_and_ratio(named))
            return [Parameter(name, value=x) for name, x in zip(_PAIR, pair, strict=True)]
        model = self._model_with(named)
        design = law.designed(model, model.neutral(), *self._arrays(named, _PAIR))
        return [Parameter(name, value=as_ros_value(getattr(design, name))) for name in law.gains]

    def _before(self, parameters: list[Parameter]) -> list[Parameter]:
        """Complete the pair of gains or of frequency and ratio by the other one."""
        with suppress(ArmError):  # the check that follows says why
            return parameters + self._other_pair({one.name: one.value for one in parameters})
        return parameters

    def _check(self, changed: Mapping[str, object]) -> _Checked:
        self._other_pair(changed)
        return self._checked(changed)

    def _use(self, new: _Checked) -> None:
        again = new.model is not self.model or new.parameters != self.law
        again |= new.guard.kind != self.guard.kind
        self.model, self.law, self.guard, self.follower, law = new
        self._apply(new.model, law, again, new.follower)
