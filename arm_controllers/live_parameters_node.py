"""Parameters of a controller that may be set while it runs: checked as a whole, then applied."""

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.base_node import as_ros_value, from_ros_value
from arm_controllers.follower import TrajectoryFollower
from arm_controllers.follower_names import parameter_names
from arm_controllers.follower_parameters import FollowerParameters
from arm_dynamics.checks import per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel

_LAWS_WITH_ACCELERATION_GAINS = ('computed_torque', 'computed_torque_pid')
_FREQUENCY, _RATIO = 'natural_frequency', 'damping_ratio'


class LiveParameters:
    """The parameters of a law and of a follower, declared on a node and kept valid.

    Where the law's gains act on accelerations (`kp` [1/s^2], `kd` [1/s]), they may as well be set
    as `natural_frequency` wn [rad/s] and `damping_ratio` z: kp = wn^2, kd = 2 z wn. Setting one
    pair sets the other; at the start a frequency of zero leaves it to the gains.

    Attributes:
        law: the law's parameters.
        follower: the follower's parameters.
    """

    def __init__(
        self,
        node: Node,
        model: RobotModel,
        law_class: Any,
        fixed: Sequence[str],
        apply: Callable[[Any, FollowerParameters], None],
    ):
        """Declare what is missing on the node and read all.

        Args:
            node: has the parameters of the law's dataclass declared.
            model: its joints name parameters.
            law_class: has `Parameters`, and is built as law_class(model, parameters).
            fixed: names that cannot change while the node runs.
            apply: takes a new law and new follower parameters into use.

        Raises:
            ArmError: a value that is refused.
        """
        self._node = node
        self._model = model
        self._law_class = law_class
        self._fixed = frozenset(fixed)
        self._apply = apply
        self._law_kinds = typing.get_type_hints(law_class.Parameters)
        self._follower_kinds = typing.get_type_hints(FollowerParameters)
        self._follower_names = parameter_names(model.joint_names)
        defaults = FollowerParameters()
        for name, (field, joint) in self._follower_names.items():
            default = getattr(defaults, field)
            value = as_ros_value(default) if joint is None else default[0]
            self._declare(name, value)
        self._by_frequency = law_class.name in _LAWS_WITH_ACCELERATION_GAINS
        if self._by_frequency:
            self._declare_frequency()
        self.law, self.follower, _ = self._checked({})
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

    def _checked(self, proposed: Mapping[str, Any]) -> tuple[Any, FollowerParameters, Any]:
        """Return the law's parameters, the follower's, and the law, with some values replaced.

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
        TrajectoryFollower(self._model, follower)  # checks what is one number a joint
        return law, follower, self._law_class(self._model, law)

    def _before(self, parameters: list[Parameter]) -> list[Parameter]:
        """Complete the pair of gains or of frequency and ratio by the other one."""
        named = {parameter.name: parameter.value for parameter in parameters}
        if not self._by_frequency:
            return parameters
        try:
            if _FREQUENCY in named or _RATIO in named:
                wn, ratio = (self._per_joint(named, name) for name in (_FREQUENCY, _RATIO))
                added = {'kp': wn**2, 'kd': 2 * ratio * wn}
            elif 'kp' in named or 'kd' in named:
                kp, kd = (self._per_joint(named, name) for name in ('kp', 'kd'))
                added = _frequency_and_ratio(kp, kd)
            else:
                return parameters
        except ArmError:
            return parameters  # the check that follows says why
        return [*parameters, *(Parameter(name, value=x.tolist()) for name, x in added.items())]

    def _per_joint(self, named: Mapping[str, Any], name: str) -> np.ndarray:
        found = named[name] if name in named else self._value(name)
        values = from_ros_value(name, found, tuple[float, ...])
        return per_joint(name, values, self._model.joint_names, minimum=0.0)

    def _check(self, parameters: list[Parameter]) -> SetParametersResult:
        proposed = {parameter.name: parameter.value for parameter in parameters}
        for name in proposed:
            if name in self._fixed and proposed[name] != self._value(name):
                reason = f'{name} cannot change while the node runs; set it and start again'
                return SetParametersResult(successful=False, reason=reason)
        try:
            if self._by_frequency:
                for name in (_FREQUENCY, _RATIO):
                    self._per_joint(proposed, name)
            self._checked(proposed)
        except ArmError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _after(self, parameters: list[Parameter]) -> None:
        self.law, self.follower, law = self._checked({})
        self._apply(law, self.follower)

    def _declare_frequency(self) -> None:
        """Declare frequency and ratio; where the user gave them they count, else the gains."""
        self._declare(_FREQUENCY, [0.0])
        self._declare(_RATIO, [1.0])
        wn, ratio = (self._per_joint({}, name) for name in (_FREQUENCY, _RATIO))
        if wn.any():
            pairs = {'kp': wn**2, 'kd': 2 * ratio * wn}
        else:
            pairs = _frequency_and_ratio(*(self._per_joint({}, name) for name in ('kp', 'kd')))
        self._node.set_parameters([Parameter(name, value=x.tolist()) for name, x in pairs.items()])


def _frequency_and_ratio(kp: np.ndarray, kd: np.ndarray) -> dict[str, np.ndarray]:
    """Return wn and z of e'' + kd e' + kp e = 0 (z = 1 without stiffness)."""
    wn = np.sqrt(kp)
    ratio = np.divide(kd, 2 * wn, out=np.ones_like(kd), where=wn > 0)
    return {_FREQUENCY: wn, _RATIO: ratio}
