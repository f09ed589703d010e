"""Parameters of a controller that may be set while it runs: checked as a whole, then applied."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.parameter_values import (
    ParameterField,
    as_ros_value,
    from_ros_value,
    parameter_fields,
    read_fields,
)
from arm_controllers.ros.parameters import declare_parameter
from arm_controllers.second_order_gains import numbers
from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.model import RobotModel

_FREQUENCY, _RATIO = 'natural_frequency', 'damping_ratio'
# Parameters of the model that may be set while the node runs, as RobotModel takes them.
OF_JOINTS = ('armature', 'damping', 'friction')
FREQUENCY_AND_RATIO = (
    ParameterField(
        _FREQUENCY,
        (0.0,),
        tuple[float, ...],
        'of the error dynamics; sets the gains [rad/s]; 0 at the start: the gains set it',
    ),
    ParameterField(_RATIO, (1.0,), tuple[float, ...], 'of the error dynamics; likewise'),
)


class LiveParameters:
    """The parameters of a model, a law and a follower, declared on a node and kept valid.

    The gains of most laws may as well be set as `natural_frequency` [rad/s] and `damping_ratio`
    (see Law.designed). Setting one pair sets the other; at the start a frequency of zero
    leaves it to the gains.

    Attributes:
        model: the arm with its rotors and friction.
        law: the law's parameters.
        follower: the follower's parameters.
    """

    def __init__(
        self,
        node: Node,
        model_of: Callable[..., RobotModel],
        law_class: Any,
        apply: Callable[[RobotModel, Any, FollowerParameters], None],
    ):
        """Declare what is missing on the node and read all.

        Args:
            node: has OF_JOINTS declared, and what it declared itself stays as it is.
            model_of: makes the model from armature, damping and friction.
            law_class: has `Parameters`, and is built as law_class(model, parameters).
            apply: takes a new model, law and follower parameters into use.

        Raises:
            ArmError: a value that is refused.
        """
        self._node = node
        self._model_of = model_of
        self._law_class = law_class
        self._apply = apply
        self.model = model_of(**{name: self._numbers({}, name) for name in OF_JOINTS})
        joint_names = self.model.joint_names
        fields = [*parameter_fields(law_class.Parameters)]
        fields += parameter_fields(FollowerParameters, joint_names=joint_names)
        self._names = [field.name for field in fields]
        self._declare(*fields)
        if law_class.gains:
            self._declare_frequency()
        _, self.law, self.follower, _ = self._checked({})
        node.add_pre_set_parameters_callback(self._before)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._after)

    def _declare(self, *fields: ParameterField) -> None:
        for field in fields:
            declare_parameter(self._node, field, live=True)

    def _value(self, name: str) -> Any:
        return self._node.get_parameter(name).value

    def _checked(
        self, proposed: Mapping[str, Any]
    ) -> tuple[RobotModel, Any, FollowerParameters, Any]:
        """Return model, law's parameters, follower's, and the law, with some values replaced.

        Raises:
            ArmError: says which parameter, its value, and what is allowed.
        """
        values = {name: self._value(name) for name in self._names} | dict(proposed)
        law = read_fields(self._law_class.Parameters, values)
        follower = read_fields(FollowerParameters, values, joint_names=self.model.joint_names)
        model = self._model_with(proposed)
        TrajectoryFollower(model, follower)  # checks what is one number per joint
        return model, law, follower, self._law_class(model, law)

    def _model_with(self, named: Mapping[str, Any]) -> RobotModel:
        """Return the model, made anew where its joints' parameters are among those named."""
        if named.keys().isdisjoint(OF_JOINTS):
            return self.model
        return self._model_of(**{name: self._numbers(named, name) for name in OF_JOINTS})

    def _before(self, parameters: list[Parameter]) -> list[Parameter]:
        """Complete the pair of gains or of frequency and ratio by the other one."""
        try:
            added = self._other_pair({one.name: one.value for one in parameters})
        except ArmError:
            return parameters  # the check that follows says why
        return [*parameters, *added]

    def _other_pair(self, named: Mapping[str, Any]) -> list[Parameter]:
        """Return the gains where the frequency or ratio is set, or the other way round.

        Raises:
            ArmError: values that are refused.
        """
        law, pair = self._law_class, (_FREQUENCY, _RATIO)
        if not law.gains or named.keys().isdisjoint({*pair, *law.gains, 'armature'}):
            return []
        if named.keys().isdisjoint(pair):
            added = zip(pair, map(numbers, self._frequency_and_ratio(named)), strict=True)
        else:
            model = self._model_with(named)
            design = law.designed(model, model.neutral(), *self._pair(named, pair))
            added = ((name, getattr(design, name)) for name in law.gains)
        return [Parameter(name, value=as_ros_value(value)) for name, value in added]

    def _frequency_and_ratio(self, named: Mapping[str, Any]) -> tuple[Array, Array]:
        """Return what the gains say, for the inertias at the model's neutral configuration."""
        law, model = self._law_class, self._model_with(named)
        return law.frequency_and_ratio(model, model.neutral(), *self._pair(named, law.gains))

    def _pair(self, named: Mapping[str, Any], names: Sequence[str]) -> list[Array]:
        return [self._per_joint(named, name) for name in names]

    def _numbers(self, named: Mapping[str, Any], name: str) -> tuple[float, ...]:
        found = named[name] if name in named else self._value(name)
        return from_ros_value(name, found, tuple[float, ...])

    def _per_joint(self, named: Mapping[str, Any], name: str) -> Array:
        return per_joint(name, self._numbers(named, name), self.model.joint_names, minimum=0.0)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        proposed = {parameter.name: parameter.value for parameter in parameters}
        try:
            self._other_pair(proposed)
            self._checked(proposed)
        except ArmError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _after(self, parameters: list[Parameter]) -> None:
        changed = {parameter.name: parameter.value for parameter in parameters}
        self.model, self.law, self.follower, law = self._checked(changed)
        self._apply(self.model, law, self.follower)

    def _declare_frequency(self) -> None:
        """Declare frequency and ratio; where the user gave them they count, else the gains.

        Gains that already are those of the frequency stay to the last bit.
        """
        self._declare(*FREQUENCY_AND_RATIO)
        given = self._pair({}, (_FREQUENCY, _RATIO))
        counts = _FREQUENCY if given[0].any() else self._law_class.gains[0]
        own = self._frequency_and_ratio({})
        if counts != _FREQUENCY or not np.allclose(given, own, rtol=1e-9, atol=0.0):
            self._node.set_parameters(self._other_pair({counts: self._value(counts)}))
