"""What is assigned to the arrays of a reference is written into them."""

import numpy as np
import pytest

from arm_controllers.reference import Reference, SampledReference


def test_an_assigned_position_reaches_those_who_look_at_the_reference():
    def follow(t, reference):
        reference.q = [t, 2.0 * t]
        reference.v = np.float32([1.0, 2.0])

    shown = SampledReference(follow, 2, 1_000_000_000).at(3_000_000_000)
    np.testing.assert_array_equal(shown.q, [3.0, 6.0])
    np.testing.assert_array_equal(shown.row, [3.0, 6.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize('name', ['q', 'v', 'a', 'effort'])
def test_an_assignment_copies_and_another_length_is_refused(name):
    reference, values = Reference(2), np.ones(2)
    setattr(reference, name, values)
    values[:] = 5.0
    np.testing.assert_array_equal(getattr(reference, name), [1.0, 1.0])
    with pytest.raises(ValueError, match='broadcast'):
        setattr(reference, name, np.ones(3))
