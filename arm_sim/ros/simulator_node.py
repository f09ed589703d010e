"""The simulator: publishes states, applies commands, is the master of time."""

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from std_srvs.srv import SetBool, Trigger

from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import components, prefix_of, to_ns
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters, refuse_unknown_parameters
from arm_controllers.ros.process_settings import pin_to_core
from arm_controllers.ros.qos import CONTROL_QOS
from arm_controllers.ros.services import serve
from arm_dynamics.checks import ArmError, units
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import extension
from arm_dynamics.robots import RobotArgument
from arm_sim.ros.command_input import CommandInput
from arm_sim.ros.diagnostics import SimulatorDiagnostics
from arm_sim.ros.loop_messages import LoopMessages
from arm_sim.ros.simulator_service import RunningSimulator, open_services
from arm_sim.ros.simulator_setup import (
    LIVE,
    LiveSimulator,
    SimulatorParameters,
    description_of,
    pacing_class,
    pacing_of,
    set_up,
    show_scene,
    simulator_fields,
)
from arm_sim.ros.state_output import OneSimulator, StateOutput
from arm_sim.simulation.clock import Clock, OwnCommands
from arm_sim.simulation.plant import plant_class
from arm_sim.simulation.readers import Readers

# How often a clock ticks that expects messages to be lost [s].
_OFTEN = 1e-4


class SimulatorNode(Node):
    """Publishes state k; applies the command that answers it; publishes state k + 1.

    Attributes:
        simulation: the simulated arm.
        arm_clock: the clock that steps the arm.
        output: what the node publishes of the arm's state.
    """

    fields_of = staticmethod(simulator_fields)

    def __init__(self, transport: InProcessTransport | None = None):
        """Build the plant, refuse to run if it differs from the model, and publish state 0.

        `transport`: to controllers in the same process.
        """
        super().__init__('simulator')
        self._log = Log(self)
        self._one, self._prefix = OneSimulator(self), prefix_of(self)
        self.parameters = p = declare_parameters(self, SimulatorParameters, live=LIVE)
        engine = plant_class(p.engine)
        of_plant = declare_parameters(self, engine.Parameters, live=LIVE)
        self.simulation, agreement = set_up(p, of_plant)
        self._one.refuse_another()
        show_scene(self, of_plant.scene)
        model, period_ns = self.simulation.model, self.simulation.period_ns

        own: OwnCommands | None = None
        if engine.takes_goals:
            made = extension('arm_sim.own_goals', 'own_goals')
            own = made(self, self.simulation, realtime=p.mode == 'realtime')
        refuse_unknown_parameters(self)
        urdf = description_of(p, model)
        loop, transport = LoopMessages(self), transport or InProcessTransport()
        names = pacing_class(p).further_names
        self.output = shown = StateOutput(
            self, self.simulation, urdf, p.clock_rate, p.tf_rate, loop, transport, names
        )
        self.arm_clock = clock = self._make_clock(shown, own)
        commands = CommandInput(
            self, clock, lambda error: self._diagnostics.refuse(error), loop, transport,
            lambda: shown.published,
        )  # fmt: skip
        fixed = {'mode': p.mode, 'engine': p.engine}
        self._diagnostics = SimulatorDiagnostics(self, clock, shown, commands, fixed)
        self.create_subscription(WrenchStamped, 'external_wrench', self._on_wrench, 500)
        self.create_subscription(
            Time, '~/run_until', lambda stamp: clock.allow_until(to_ns(stamp)), CONTROL_QOS
        )
        serve(self, Trigger, '~/reset', self._reset)
        serve(self, SetBool, '~/pause', self._pause)
        serve(self, Trigger, '~/step', self._step)
        self.create_timer(clock.pacing.tick_period, clock.tick)
        self._often = self.create_timer(_OFTEN, clock.tick)
        self._often.cancel()
        clock.wake = self._wake
        LiveSimulator(self, p, of_plant, clock, shown)
        refuse = self._diagnostics.refuse
        self._opened = open_services(RunningSimulator(self, clock, self._payload, refuse))
        pin_to_core(p.core)
        clock.show()
        for note in self.simulation.plant.notes:
            self._log.warning(note)
        joints = f'{model.nv} joint{"s" * (model.nv != 1)} ({", ".join(model.joint_names)})'
        self._log.info(
            f'{RobotArgument.of(p.robot).label}: {joints}, tool frame {model.tip_frame!r}, '
            f'engine {p.engine}, {p.mode}, {1e9 / period_ns:g} Hz; '
            f'{_added(model)}model and plant agree to {agreement:.1e}'
        )

    def _payload(self) -> float:
        """Return what hangs on the tool frame now [kg]."""
        falls, now = self.parameters.payload_end, self.simulation.time_ns
        gone = self.simulation.payload_fell or (falls > 0.0 and round(falls * 1e9) <= now)
        return 0.0 if gone else self.get_parameter('payload').value

    def _make_clock(self, shown: StateOutput, own: OwnCommands | None) -> Clock:
        p = self.parameters
        clock = Clock(
            self.simulation, shown, pacing_of(p), own, p.start_paused, p.awaited_controllers
        )
        if p.mode == 'lockstep':
            self._open_readers(clock.readers)
        if own is not None:
            own.begin(clock.go_on)
        return clock

    def _open_readers(self, readers: Readers) -> None:
        """Let time in lock-step wait for recorder and cameras."""

        def on_stamp(reader: str) -> Callable[[Time], None]:
            return lambda stamp: readers.note(to_ns(stamp), reader)

        topics = {'recorder': 'recorded_until', 'camera': 'rendered_until'}
        inputs = {
            reader: self.create_subscription(Time, f'~/{topic}', on_stamp(reader), CONTROL_QOS)
            for reader, topic in topics.items()
        }
        if self.parameters.wait_for_camera:
            readers.await_camera()
        readers.is_there = lambda reader: inputs[reader].get_publisher_count() > 0

    def _wake(self, period: float) -> None:
        """Let the clock tick often, where it asks for its next tick so soon [s]."""
        soon = period < self.arm_clock.pacing.tick_period
        if soon == self._often.is_canceled():  # only a change costs something
            (self._often.reset if soon else self._often.cancel)()

    def destroy_node(self) -> None:
        """Release the simulator's name."""
        self._one.end()
        super().destroy_node()

    def _reset(self, request: Trigger.Request, response: Trigger.Response) -> str:
        self.arm_clock.reset()
        return 'at the initial state, t = 0'

    def _pause(self, request: SetBool.Request, response: SetBool.Response) -> str:
        self.arm_clock.pause(request.data)
        return 'paused' if request.data else 'running'

    def _step(self, request: Trigger.Request, response: Trigger.Response) -> str:
        clock = self.arm_clock
        if clock.fault or not clock.paused:
            raise ArmError(clock.fault or 'not paused: pause first')
        t = self.simulation.time_ns * 1e-9
        clock.allow_step()
        return f'one control period from t = {t:.4f} s'

    def _on_wrench(self, message: WrenchStamped) -> None:
        """Hold a wrench, given in the axes of its frame, from its stamp on (0: now)."""
        wrench, header = components(message.wrench.force, message.wrench.torque), message.header
        try:
            frame = header.frame_id.removeprefix(self._prefix)
            self.simulation.push(frame, wrench, to_ns(header.stamp))
        except ArmError as error:
            self._diagnostics.refuse(error)


_ADDED = {
    'armature': ('rotor inertia', 'kg m^2 | kg'),
    'damping': ('damping', 'N.m.s/rad | N.s/m'),
    'friction': ('Coulomb friction', 'N.m | N'),
}


def _added(model: RobotModel) -> str:
    """Return what the parameters change in the joints of the URDF, for the first log line."""
    said = []
    for name, values in model.added.items():
        what, of = _ADDED[name]
        shown = values[:1] if np.ptp(values) == 0.0 else values
        numbers = ', '.join(f'{each:g}' for each in shown)
        said.append(f'{what} {numbers} {units(of, model.prismatic)}')
    return f"parameters in place of the URDF's: {', '.join(said)}; " if said else ''
