"""A law behind a supervisor in the loop."""

from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_tools.driving.supervisor import Supervisor


class SupervisedLaw(Law):
    """A law behind a supervisor, as the loop runs it: its state is (law's, supervisor's)."""

    def __init__(self, law: Law, supervisor: Supervisor):
        """Take both; the law's model need not be the supervisor's."""
        self.law, self.model, self.supervisor = law, law.model, supervisor
        self.command_interface, self.lookahead = law.command_interface, law.lookahead
        self.needs, self.goal_needs, self.many_arms = law.needs, law.goal_needs, law.many_arms

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return the state with which the law takes over the arm."""
        return self.law.start(measured, reference), ()

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the supervised command (..., n)."""
        law, own = state
        own = own or self.supervisor.start(measured.q, measured.v, dt)
        command, law = self.law(law, measured, reference, dt)
        goal = reference.ahead(self.lookahead).q if self.lookahead else reference.q
        sent, own = self.supervisor(own, measured.q, measured.v, command, dt, goal)
        return sent, (law, own)
