"""Parameters of a controller that may be set while it runs: checked as a whole, then applied."""

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameter_names import parameter_names
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.parameter_values import as_ros_value, from_ros_value
from arm_controllers.second_order_gains import GainsByFrequency, gains_by_frequency
from arm_dynamics.checks import per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

_FREQUENCY, _RATIO = 'natural_frequency', 'damping_ratio'
# Parameters of the model that may be set while the node runs, as RobotModel takes them.
OF_JOINTS = ('armature', 'damping', 'friction')


class LiveParameters:
    """The parameters of a model, a law and a follower, declared on a node and kept valid.

    The gains of most laws may as well be set as `natural_frequency` [rad/s] and `damping_ratio`
    (see second_order_gains.py). Setting one pair sets the other; at the start a frequency of zero
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
        fixed: Sequence[str],
        apply: Callable[[RobotModel, Any, FollowerParameters], None],
    ):
        """Declare what is missing on the node and read all.

        Args:
            node: has OF_JOINTS and the parameters of the law's dataclass declared.
            model_of: makes the model from armature, damping and friction.
            law_class: has `Parameters`, and is built as law_class(model, parameters).
            fixed: names that cannot change while the node runs.
            apply: takes a new model, law and follower parameters into use.

        Raises:
            ArmError: a value that is refused.
        """
        self._node = node
        self._model_of = model_of
        self._law_class = law_class
        self._fixed = frozenset(fixed)
        self._apply = apply
        self._law_kinds = typing.get_type_hints(law_class.Parameters)
        self._follower_kinds = typing.get_type_hints(FollowerParameters)
        self.model = model_of(**{name: self._numbers({}, name) for name in OF_JOINTS})
        self._follower_names = parameter_names(self.model.joint_names)
        defaults = FollowerParameters()
        for name, (field, joint) in self._follower_names.items():
            default = getattr(defaults, field)
            value = as_ros_value(default) if joint is None else default[0]
            self._declare(name, value)
        if gains := self._gains({}):
            self._declare_frequency(gains.names[0])
        _, self.law, self.follower, _ = self._checked({})
        node.add_pre_set_parameters_callback(self._before)
        node.add_on_set_parameters_callback(self._check)
        node.add_post_set_parameters_callback(self._after)

    def close(self) -> None:
        """Take the callbacks off the node."""
        self._node.remove_pre_set_parameters_callback(self._before)
        self._node.remove_on_set_parameters_callback(self._check)
        self._node.remove_post_set_parameters_callback(self._after)

    def _declare(self, name: str, value: Any) -> None:
        if not self._node.has_parameter(name):
            self._node.declare_parameter(name, value, ParameterDescriptor(dynamic_typing=True))

    def _value(self, name: str) -> Any:
        return self._node.get_parameter(name).value

    def _checked(
        self, proposed: Mapping[str, Any]
    ) -> tuple[RobotModel, Any, FollowerParameters, Any]:
        """Return model, law's parameters, follower's, and the law, with some values replaced.

        Raises:
            ArmError: says which parameter, its value, and what is allowed.
        """

        def value(name: str, kind: Any) -> Any:
            found = proposed[name] if name in proposed else self._value(name)
            return from_ros_value(name, found, kind)

        law = self._law_class.Parameters(
            **{name: value(name, kind) for name, kind in self._law_kinds.items()}
        )
        fields: dict[str, Any] = {}
        for name, (field, joint) in self._follower_names.items():
            if joint is None:
                fields[field] = value(name, self._follower_kinds[field])
            else:
                fields[field] = (*fields.get(field, ()), value(name, float))
        follower = FollowerParameters(**fields)
        model = self._model_with(proposed)
        TrajectoryFollower(model, follower)  # checks what is one number per joint
        return model, law, follower, self._law_class(model, law)

    def _model_with(self, named: Mapping[str, Any]) -> RobotModel:
        """Return the model, made anew where its joints' parameters are among those named."""
        if named.keys().isdisjoint(OF_JOINTS):
            return self.model
        return self._model_of(**{name: self._numbers(named, name) for name in OF_JOINTS})

    def _gains(self, named: Mapping[str, Any]) -> GainsByFrequency | None:
        return gains_by_frequency(self._law_class, self._model_with(named))

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
        gains = self._gains(named)
        if gains is None:
            return []
        if _FREQUENCY in named or _RATIO in named:
            names = gains.names
            values = gains.from_frequency(*self._pair(named, (_FREQUENCY, _RATIO)))
        elif not named.keys().isdisjoint((*gains.names, 'armature')):
            names = (_FREQUENCY, _RATIO)
            values = gains.to_frequency(*self._pair(named, gains.names))
        else:
            return []
        return [self._parameter(name, x) for name, x in zip(names, values, strict=True)]

    def _parameter(self, name: str, values: np.ndarray) -> Parameter:
        one_number = self._law_kinds.get(name) is float
        return Parameter(name, value=float(values[0]) if one_number else values.tolist())

    def _pair(self, named: Mapping[str, Any], names: tuple[str, str]) -> list[np.ndarray]:
        return [self._per_joint(named, name) for name in names]

    def _numbers(self, named: Mapping[str, Any], name: str) -> tuple[float, ...]:
        found = named[name] if name in named else self._value(name)
        return from_ros_value(name, found, tuple[float, ...])

    def _per_joint(self, named: Mapping[str, Any], name: str) -> np.ndarray:
        return per_joint(name, self._numbers(named, name), self.model.joint_names, minimum=0.0)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        proposed = {parameter.name: parameter.value for parameter in parameters}
        for name in proposed:
            if name in self._fixed and proposed[name] != self._value(name):
                reason = f'{name} cannot change while the node runs; set it and start again'
                return SetParametersResult(successful=False, reason=reason)
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

    def _declare_frequency(self, gain: str) -> None:
        """Declare frequency and ratio; where the user gave them they count, else the gains."""
        self._declare(_FREQUENCY, [0.0])
        self._declare(_RATIO, [1.0])
        given = _FREQUENCY if self._per_joint({}, _FREQUENCY).any() else gain
        self._node.set_parameters(self._other_pair({given: self._value(given)}))
