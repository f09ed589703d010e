"""Parameters of another node, set for a while."""

from collections.abc import Callable, Mapping

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future


class LentParameters:
    """Sets parameters of a node, and sets them back."""

    def __init__(self, node: Node, owner: str):
        """`node` sets parameters of the node `owner`."""
        service = f'{owner}/set_parameters_atomically'
        self._read = node.create_client(GetParameters, f'{owner}/get_parameters')
        self._write = node.create_client(SetParametersAtomically, service)
        self._before: list[ParameterMessage] = []
        self._back: Future | None = None
        self._asked: Mapping[str, object] | None = None  # the values that are being set

    def set(self, values: Mapping[str, object], then: Callable[[str], None]) -> None:
        """Set values by name, and call `then` with the reason of a refusal; '': they are set.

        Where they are given back before the owner has answered, nothing is set.
        """
        if not values:
            then('')
            return
        self._asked = values
        wanted = [Parameter(name, value=x).to_parameter_msg() for name, x in values.items()]

        def on_read(answer: Future) -> None:
            if self._asked is not values:
                return
            before = answer.result().values
            if len(before) != len(wanted):
                then(f'it has no parameters {", ".join(values)}')
                return
            pairs = zip(values, before, strict=True)
            self._before = [ParameterMessage(name=name, value=x) for name, x in pairs]
            request = SetParametersAtomically.Request(parameters=wanted)
            self._write.call_async(request).add_done_callback(on_set)

        def on_set(answer: Future) -> None:
            result = answer.result().result
            if not result.successful:
                self._before = []
            then('' if result.successful else result.reason)

        def read(_: Future | None = None) -> None:
            asked = self._read.call_async(GetParameters.Request(names=[*values]))
            asked.add_done_callback(on_read)

        if self._back is None:
            read()
        else:  # what is read must be the owner's own
            self._back.add_done_callback(read)

    def give_back(self) -> None:
        """Set the parameters to what they were before; a node that has gone took them along."""
        self._asked = None
        if self._before:
            request = SetParametersAtomically.Request(parameters=self._before)
            here = self._write.service_is_ready()
            self._back = self._write.call_async(request) if here else None
            self._before = []
