"""Symbolic scalars that record a straight-line program: fold constants, share subexpressions."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Union

Scalar = Union['Expression', float]


@dataclass(eq=False, slots=True)
class Expression:
    """One value of a `Program`: an input or the result of an operation on other values.

    A plain float is a constant. x + 0, x * 1, x * 0, -(-x) and similar are folded when they are
    recorded, and the same operation on the same values is the same object.
    """

    program: 'Program'
    index: int
    operation: str
    arguments: tuple

    def __add__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return self
        if isinstance(other, Expression):
            if other.operation == 'neg':
                return self - other.arguments[0]
            if self.operation == 'neg':
                return other - self.arguments[0]
        return self.program.node('+', self, other)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return self
        if other is self:
            return 0.0
        if isinstance(other, Expression) and other.operation == 'neg':
            return self + other.arguments[0]
        if self.operation == 'neg':
            return -(self.arguments[0] + other)
        return self.program.node('-', self, other)

    def __rsub__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return -self
        if self.operation == 'neg':
            return self.arguments[0] + other
        return self.program.node('-', other, self)

    def __mul__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        if other == -1.0:
            return -self
        if self.operation == 'neg':
            return -(self.arguments[0] * other)
        if isinstance(other, Expression):
            if other.operation == 'neg':
                return -(self * other.arguments[0])
        elif other < 0.0:
            return -(self * -other)
        return self.program.node('*', self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self.program.node('/', self, other)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        if other == 0.0:
            return 0.0
        return self.program.node('/', other, self)

    def __neg__(self) -> Scalar:
        if self.operation == 'neg':
            return self.arguments[0]
        if self.operation == '-':
            return self.program.node('-', self.arguments[1], self.arguments[0])
        return self.program.node('neg', self)


class Program:
    """The values of one straight-line function, in the order of recording."""

    def __init__(self) -> None:
        self._nodes: list[Expression] = []
        self._known: dict[tuple, Expression] = {}

    def inputs(self, name: str, count: int) -> list[Expression]:
        """Return the expressions name[0] ... name[count - 1]."""
        return [self.node('input', f'{name}[{i}]') for i in range(count)]

    def node(self, operation: str, *arguments: Scalar | str) -> Expression:
        """Return the value of an operation, which is recorded if it is new."""
        key = [a.index if isinstance(a, Expression) else repr(a) for a in arguments]
        if operation in '+*':
            key.sort(key=str)
        found = self._known.get((operation, *key))
        if found is None:
            found = Expression(self, len(self._nodes), operation, arguments)
            self._nodes.append(found)
            self._known[operation, *key] = found
        return found

    def statements(self, outputs: Sequence[tuple[str, Scalar]]) -> list[str]:
        """Return Python statements that compute `outputs`, given as (target, value).

        Every input is read before any output is written, so an output may overwrite an input.
        A value that is used once is written inside the expression that uses it.
        """
        uses = self._uses(value for _, value in outputs)
        text: dict[Scalar, str] = {}

        def write(value: Scalar) -> str:
            return text[value] if isinstance(value, Expression) else repr(float(value))

        lines = []
        for node in filter(uses.get, self._nodes):
            first, *second = node.arguments
            if node.operation == 'input':
                written = first
            elif second:
                written = f'{write(first)} {node.operation} {write(*second)}'
            else:
                written = f'-{write(first)}'
            if uses[node] > 1 or node.operation in ('input', '/'):
                text[node] = f'x{node.index}'
                lines.append(f'{text[node]} = {written}')
            else:
                text[node] = f'({written})'
        return lines + [f'{target} = {write(value)}' for target, value in outputs]

    def _uses(self, outputs: Iterable[Scalar]) -> Counter[Expression]:
        """Return how often each value that the outputs need is used."""
        uses: Counter[Expression] = Counter()
        waiting = [*outputs]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Expression):
                uses[node] += 1
                waiting += node.arguments if uses[node] == 1 else ()
        return uses
