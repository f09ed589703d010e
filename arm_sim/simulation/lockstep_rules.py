"""What each kind of lock-step does when claims end: time depends on answers alone."""

from arm_sim.simulation.clock import Clock


def brake_to_rest(clock: Clock) -> None:
    """Step until the arm is at rest, as far as time may go, while the brake holds it."""
    simulation = clock.simulation
    while simulation.braking and clock.command is None and clock.may_step:
        if simulation.can_be_claimed():
            break
        clock.step(None)


def take_if_all_have_answered(clock: Clock) -> None:
    """Use the commands of all claims if each answers the present state."""
    present_ns = clock.simulation.time_ns
    if clock.claims.oldest_ns == present_ns:
        clock.take(present_ns, clock.claims.command)
