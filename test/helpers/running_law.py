"""A law with its state, for tests that call it period by period."""

from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference


class RunningLaw:
    """Keeps the state of a law from call to call.

    The reference of a call is the one that the law looks at, whatever its lookahead is.
    """

    def __init__(self, law):
        self.law, self.state = law, None

    def reset(self, q, v):
        """Start at q, v (..., n), where the reference is as well."""
        reference = Reference(q.shape[-1], q.shape[:-1])
        reference.q[:], reference.v[:] = q, v
        reference.future = lambda periods: reference
        self.state = self.law.start(Measurement(q, v), reference)

    def __call__(self, q, v, reference, dt):
        """Return the command (..., n)."""
        if reference.future is None:
            reference.future = lambda periods: reference
        measured = Measurement(q, v)
        if self.state is None:
            self.state = self.law.start(measured, reference)
        command, self.state = self.law(self.state, measured, reference, dt)
        return command
