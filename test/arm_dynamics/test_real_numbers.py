"""Arguments that are no real numbers are refused where NumPy would make some of them."""

import numpy as np
import pytest

from arm_dynamics.checks import ArmError, finite


class Tensor:
    """As torch's: an array on request, or none while gradients are needed."""

    def __init__(self, numbers, grad=False):
        self.numbers, self.grad = numbers, grad

    def __array__(self, dtype=None, copy=None):
        if self.grad:
            raise RuntimeError('call detach() first')
        return np.array(self.numbers, dtype)


@pytest.mark.parametrize(
    ('values', 'words'),
    [
        (np.zeros(2) + 1j, r'array\(\[0.\+1.j, 0.\+1.j\]\)'),
        ([1j, 2], r'\[1j, 2\]'),
        (['1', '2'], r"\['1', '2'\]"),
        ('abc', "'abc'"),
        (None, 'None'),
        ([None, 0.0], r'\[None, 0.0\]'),
        ({'a': 1}, "{'a': 1}"),
        ([[1.0], [2.0, 3.0]], 'list, setting an array element with a sequence'),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), r'masked_array\(data=\[1.0, --\]'),
        (Tensor([1.0, 2.0], grad=True), r'Tensor, call detach\(\) first'),
    ],
)
def test_what_is_no_real_number_is_refused_with_its_value(values, words):
    with pytest.raises(ArmError, match=rf'^action is {words}.*; it must be \(2,\) real numbers$'):
        finite('action', values, (2,))


@pytest.mark.parametrize(
    'values',
    [
        [1, 0], (1.0, 0), np.array([1, 0], 'f4'), np.array([1, 0]), np.array([1.0, 0.0], object),
        np.array([True, False]), np.ma.array([1.0, 0.0]), Tensor([1.0, 0.0]),
    ],
)  # fmt: skip
def test_real_numbers_of_any_type_are_taken(values):
    np.testing.assert_array_equal(finite('action', values, (2,)), [1.0, 0.0])


def test_a_number_that_is_not_finite_is_named_by_its_index():
    with pytest.raises(ArmError, match=r'^action\[1, 0\] is nan; it must be finite$'):
        finite('action', [[0.0, 1.0], [np.nan, 2.0]], (2, 2))
    with np.errstate(over='ignore'):
        np.testing.assert_array_equal(finite('action', [1e200], (1,)), [1e200])
