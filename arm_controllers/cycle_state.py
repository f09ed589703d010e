"""States of a controller's control cycle, and the events that lead from one to another."""

from enum import Enum

LONGEST_WAIT = 60.0  # of goals for the first state after the activation [s]


class CycleState(Enum):
    """What a controller does with the next state of the arm."""

    INACTIVE = 'inactive'  # nothing
    WAITING = 'waiting'  # it asks whether its joints are free
    READY = 'ready'  # it holds the arm where it is, and commands from there on
    COMMANDING = 'commanding'  # it answers with a command
    REJECTED = 'rejected'  # nothing: the simulator accepts no commands under its name
    RELEASING = 'releasing'  # it sends its release message again: the simulator may have lost it


class Event(Enum):
    """What changes the state of a control cycle."""

    ACTIVATE = 'activate'
    GRANT = 'grant'  # no other controller commands the joints
    BEGIN = 'begin'  # the first command
    LOSE = 'lose'  # no state comes, or the law has no finite command
    REJECT = 'reject'  # by the simulator
    ACCEPT = 'accept'  # by the simulator, after a rejection
    DEACTIVATE = 'deactivate'
    RELEASED = 'released'  # the simulator has received the release message


_ALWAYS = {Event.ACTIVATE: CycleState.WAITING, Event.DEACTIVATE: CycleState.INACTIVE}
_TRANSITIONS = {
    (CycleState.WAITING, Event.GRANT): CycleState.READY,
    (CycleState.READY, Event.BEGIN): CycleState.COMMANDING,
    (CycleState.COMMANDING, Event.LOSE): CycleState.READY,
    (CycleState.WAITING, Event.REJECT): CycleState.REJECTED,
    (CycleState.READY, Event.REJECT): CycleState.REJECTED,
    (CycleState.COMMANDING, Event.REJECT): CycleState.REJECTED,
    (CycleState.REJECTED, Event.ACCEPT): CycleState.READY,
    (CycleState.COMMANDING, Event.DEACTIVATE): CycleState.RELEASING,
    (CycleState.RELEASING, Event.DEACTIVATE): CycleState.RELEASING,
    (CycleState.RELEASING, Event.RELEASED): CycleState.INACTIVE,
}

# While no state has come yet, goals wait for it.
AWAITING = (CycleState.WAITING, CycleState.READY)


def next_state(state: CycleState, event: Event) -> CycleState:
    """Return the state after an event; an event without effect leaves the state."""
    return _TRANSITIONS.get((state, event), _ALWAYS.get(event, state))


def is_active(state: CycleState) -> bool:
    """Whether the controller was activated and not deactivated since."""
    return state not in (CycleState.INACTIVE, CycleState.RELEASING)
