"""What the simulator shows: joint_states, /clock, /tf, robot_description, lines for the user.

One simulator shows an arm: a second one finds the first at its start, and gives way.
"""

import os
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import rclpy
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log, once_a_minute
from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.checks import ArmError, Array
from arm_sim.parent_process import LAUNCH
from arm_sim.ros.contact_messages import ContactMessages
from arm_sim.ros.device_outputs import DeviceOutputs
from arm_sim.ros.display import Displays
from arm_sim.ros.loop_messages import CONTACTS, STATE, WRENCH, LoopMessages
from arm_sim.simulation.simulation import Simulation

_CLOCK = '/clock'  # one for the whole graph, be there several arms
_LONGEST_WAIT = 2.0  # for one that is just ending, or that the graph still shows [s]
# Number of states that are handed over before the executor serves other callbacks.
_IN_A_ROW = 20


def whereabouts(process: int, environment: Mapping[str, str]) -> str:
    """Say which process on this machine it is, and of which launch."""
    launch = f' of launch {environment[LAUNCH]}' if LAUNCH in environment else ''
    return f'process {process}{launch} on {socket.gethostname()}'


class StateOutput:
    """Publishes the states of a simulation, called by its clock.

    Controllers in this process receive them directly while no other node subscribes.

    Attributes:
        displays: what viewers see, as on /tf.
        clock_every: number of states per message of /clock; 0: no messages.
        published: number of states so far, repeated ones included.
        holds_clock: whether a state is shown without its /clock, which `show_clock` publishes.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        urdf: str,
        clock_rate: float,
        tf_rate: float,
        loop: LoopMessages,
        transport: InProcessTransport,
        others: Sequence[str] = (),
    ):
        """Open the topics.

        `urdf` is shown as it is; `clock_rate`, `tf_rate`: [Hz of simulated time]; `others`: names
        in a state besides the joints, with zeros.
        """
        self._loop = loop
        self._simulation = simulation
        self._devices = DeviceOutputs(node, simulation, transport)
        # Each start of a simulator has a name of its own, which its states bear.
        sender = f'{node.get_name()} {token_hex(4)}, {whereabouts(os.getpid(), os.environ)}'
        model, n = simulation.model, len(simulation.plant.joint_names)
        self._followers = [
            i for i, x in enumerate(model.moving_joints) if x not in model.joint_names
        ]
        followers = [model.moving_joints[i] for i in self._followers]
        names = [*model.joint_names, *followers, *others]
        self._state = JointStateWriter(names, FIELDS, sender)
        fields = self._state.position, self._state.velocity, self._state.effort
        self._of_joints = [field[:n] for field in fields]
        self._of_followers = [field[n : n + len(followers)] for field in fields]
        self._shown = self._next = b''
        self.published = 0
        self._hands_over = self._handing_over = False
        self._clock, self._node = Clock(), node
        self._clock_publisher: Any = None
        self.set_clock_rate(clock_rate)
        self._state_publisher = node.create_publisher(JointState, 'joint_states', STATE_QOS)
        self._transport, self._others_listen = transport, False
        self._near = transport.state_subscribers(node.resolve_topic_name('joint_states'))
        description = node.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=urdf))
        self.displays = Displays(node, simulation, loop, tf_rate)
        self._contacts = ContactMessages()
        log = Log(node)
        self.warn, self.fail, self.note = once_a_minute(node), log.error, log.info
        self.holds_clock = False

    def set_clock_rate(self, rate: float) -> None:
        """Publish /clock so often [Hz of simulated time], no more often than states; 0: never."""
        node, publisher = self._node, self._clock_publisher
        self.clock_every = max(1, round(1e9 / (rate * self._simulation.period_ns))) if rate else 0
        if rate and publisher is None:
            self._clock_publisher = node.create_publisher(Clock, _CLOCK, CONTROL_QOS)
        elif not rate and publisher is not None:
            node.destroy_publisher(publisher)
            self._clock_publisher = None

    @property
    def clocks(self) -> int:
        """Number of other nodes that publish /clock, if this node does."""
        return self._node.count_publishers(_CLOCK) - 1 if self.clock_every else 0

    def show(self) -> None:
        """Publish the present state."""
        simulation, state = self._simulation, self._state
        plant, time_ns = simulation.plant, simulation.time_ns
        position, velocity, effort = self._of_joints
        measured = plant.measured
        position[:], velocity[:] = measured.q, measured.v
        effort[:] = plant.effort if measured.effort is None else measured.effort
        if self._followers:
            self._show_followers(position, velocity)
        self._shown = state.serialized(time_ns)
        wrenches = self._devices.show()
        self.show_again()
        if self._loop.wanted and plant.parameters.touching:
            self._loop.add(CONTACTS, self._contacts.at(plant.contacts.facts(), time_ns))
        for raw in wrenches if self._loop.wanted else ():
            self._loop.add(WRENCH, raw)
        self.displays.show()

    def _show_followers(self, position: Array, velocity: Array) -> None:
        """Show the joints that follow others by <mimic>: no actuator acts on them."""
        model, (q, v, _) = self._simulation.model, self._of_followers
        q[:] = model.all_positions(position)[self._followers]
        v[:] = model.all_rates(velocity)[self._followers]

    def show_objects(self) -> None:
        """Publish the objects of the present state, which were changed."""
        self.displays.show_objects()

    @property
    def state_bytes(self) -> list[bytes]:
        """Positions, velocities and efforts of the newest state."""
        return [each.tobytes() for each in self._of_joints]

    def show_clock(self, after: float = 0.0) -> None:
        """Publish /clock where it is due, `after` a pause [s] in which readers get its state."""
        if after > 0.0:
            os.sched_yield()  # readers on the same CPU core receive the state
            time.sleep(after)
        every, simulation = self.clock_every, self._simulation
        due = every and simulation.steps % every == 0
        if due and self._clock_publisher.get_subscription_count():
            set_stamp(self._clock.clock, simulation.time_ns)
            self._clock_publisher.publish(self._clock)

    def show_again(self) -> None:
        """Publish the last state and its /clock again, with the same bits."""
        self._publish_state()
        if not self.holds_clock:
            self.show_clock()

    def _publish_state(self) -> None:
        self.published += 1
        self._devices.publish()
        if self._loop.wanted:
            self._loop.add(STATE, self._shown)
        if not self._handing_over:
            self._look()
        if self._others_listen:
            self._state_publisher.publish(self._shown)
            return
        self._next = self._shown  # the newest counts, as in the queue of a topic
        if not self._hands_over:
            self._hands_over = True
            self._node.executor.create_task(self._hand_over)

    def _look(self) -> None:
        """Look whether nodes of other processes subscribe to the states."""
        near = len(self._near)
        self._transport.looks += 1
        self._others_listen = not near or self._state_publisher.get_subscription_count() > near

    def _hand_over(self) -> None:
        """Hand the newest state to controllers in this process, and what their answers cause."""
        self._look()
        self._handing_over = True
        try:
            for _ in range(_IN_A_ROW):
                state, self._next = self._next, b''
                if not state:
                    self._hands_over = False
                    return
                for take in tuple(self._near):
                    take(state)
        finally:
            self._handing_over = False
        self._node.executor.create_task(self._hand_over)


class OneSimulator:
    """Finds another simulator of this name, before this one shows its first state.

    On this machine by a socket, since the graph may need seconds to show a node that is there;
    elsewhere by the graph and its states. The socket has a name and no file (Linux's abstract
    sockets), and ends with its process.
    """

    def __init__(self, node: Node):
        """Begin to listen."""
        self._node, self._state = node, b''
        self._own = node.get_name(), node.get_namespace()
        self._name = f'\0arm_sim {node.context.get_domain_id()} {os.getuid()} {"".join(self._own)}'
        self._input = node.create_subscription(
            JointState, 'joint_states', self._on_state, CONTROL_INPUT_QOS, raw=True
        )

    def _on_state(self, raw: bytes) -> None:
        self._state = raw

    def refuse_another(self) -> None:
        """Raise ArmError where another node of this name shows states; listen no longer."""
        node, end = self._node, time.monotonic() + _LONGEST_WAIT
        holds = self._take()
        while not self._state and time.monotonic() < end:
            shown = node.get_node_names_and_namespaces().count(self._own) > 1
            if holds and not shown:
                break
            rclpy.spin_once(node, timeout_sec=0.05)
            holds = holds or self._take()
        node.destroy_subscription(self._input)
        if self._state:
            reader = JointStateReader((), ())
            reader.open(self._state)
            raise _refusal(reader.sender)
        if not holds:
            raise _refusal(f'{node.get_name()}, {self._holder()}')

    def _take(self) -> bool:
        """Take the name on this machine, for as long as this process lives."""
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(self._name)
        except OSError:
            taken.close()
            return False
        taken.listen(1000)
        self._held = taken
        return True

    def end(self) -> None:
        """Leave the name to others."""
        self._held.close()

    def _holder(self) -> str:
        """Return which process holds the name, as far as the system knows."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as other:
            other.setblocking(False)
            other.connect(self._name)
            peer = other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize('3i'))
            process = struct.unpack('3i', peer)[0]
            text = Path(f'/proc/{process}/environ').read_bytes().decode(errors='replace')
            pairs = (pair.partition('=') for pair in text.split('\0'))
            return whereabouts(process, {name: value for name, _, value in pairs})
        return f'another process on {socket.gethostname()}'


def _refusal(who: str) -> ArmError:
    return ArmError(
        f'the arm is simulated already, by {who!r}: end that, or take another ROS_DOMAIN_ID'
    )
