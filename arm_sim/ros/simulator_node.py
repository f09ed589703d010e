"""The simulator: publishes states, applies commands, is the master of time."""

import sys
import time

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger

from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, LATCHED_QOS, STATE_QOS
from arm_controllers.ros.running import pin_to_core, run_node
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.errors import ArmError
from arm_sim.plants.engines import plant_class
from arm_sim.plants.simulation import PhysicsDivergedError
from arm_sim.ros.diagnostics import SimulatorDiagnostics
from arm_sim.ros.own_goals import OwnGoals, let_time_go_on
from arm_sim.ros.simulator_setup import SimulatorParameters, set_up

# How often a state that nobody has answered is sent again, and how long a brake may take.
_RESEND_PERIOD = 0.1
_LONGEST_BRAKING = 5.0
# A real-time simulator that is further behind than this gives up catching up.
_CATCH_UP_STEPS = 10


class SimulatorNode(Node):
    """Publishes state k; applies the command that answers it; publishes state k + 1."""

    def __init__(self):
        """Build the plant, refuse to run if it differs from the model, and show state 0."""
        super().__init__('simulator')
        self.parameters = p = declare_parameters(self, SimulatorParameters)
        engine = plant_class(p.engine)
        setup = set_up(p, declare_parameters(self, engine.Parameters))
        self._model, self.simulation, self._recorder, agreement = setup
        plant = self.simulation.plant

        self._lockstep = p.mode == 'lockstep'
        self._paused = p.start_paused
        self._steps_allowed = 0
        self._pending: np.ndarray | None = None
        self._held = np.zeros(len(plant.joint_names))
        self._command_ns = 0
        self._awaiting_since = time.monotonic()
        self._fault = ''
        self._commander = ''
        clock_steps = 1e9 / (p.clock_rate * self.simulation.period_ns)
        self._clock_every = max(1, round(clock_steps))

        self._field = 'position' if plant.command_interface == 'position' else 'effort'
        self._state = JointStateWriter(plant.joint_names, FIELDS)
        self._shown = b''
        self._command = JointStateReader(plant.joint_names, (self._field,))
        self._clock_message = Clock()
        self._state_publisher = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        self._clock_publisher = self.create_publisher(Clock, '/clock', CONTROL_QOS)
        self._diagnostics = SimulatorDiagnostics(self, self.simulation, p.mode, p.engine)
        description = self.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=self._model.urdf))
        self.create_subscription(
            JointState, 'joint_commands', self._on_command, CONTROL_INPUT_QOS, raw=True
        )
        self.create_subscription(WrenchStamped, 'external_wrench', self._on_wrench, 10)
        self.create_service(Trigger, '~/reset', self._on_reset)
        self.create_service(SetBool, '~/pause', self._on_pause)
        self.create_service(Trigger, '~/step', self._on_step)
        self.create_service(Trigger, '~/save_inputs', self._on_save_inputs)
        self.create_timer(1.0, self._report)
        self.create_timer(_RESEND_PERIOD, self._on_silence)
        if not self._lockstep:
            self._anchor = (time.monotonic_ns(), 0)
            self.create_timer(self.simulation.period_ns * 1e-9 / p.real_time_factor, self._on_tick)
        self._own: OwnGoals | None = None
        if engine.takes_goals:
            period_ns = self.simulation.period_ns
            self._own = OwnGoals(self, self._model, period_ns, realtime=not self._lockstep)
            if self._lockstep:
                let_time_go_on(self, self._go_on)
        self._viewer = _viewer(plant, self._model) if p.viewer else None
        if self._viewer is not None:
            self.create_timer(1 / 60, self._viewer.sync)
        pin_to_core(p.core)
        self._publish_state()
        self.get_logger().info(
            f'{p.robot}: {len(plant.joint_names)} joints, engine {p.engine}, {p.mode}, '
            f'{1e9 / self.simulation.period_ns:g} Hz; model and plant agree to {agreement:.1e}'
        )

    def destroy_node(self) -> None:
        """Write the recording of inputs; close the viewer, whose thread reads the plant."""
        if self._recorder is not None:
            self._recorder.save(self.parameters.record_inputs)
        if self._viewer is not None:
            self._viewer.close()
        super().destroy_node()

    # The loop

    def _on_command(self, raw: bytes) -> None:
        simulation, command = self.simulation, self._command
        command.open(raw)
        sender = command.sender
        if self._own is not None and self._own.in_charge:
            self._own.give_up(sender)
            self._commander, self._pending = sender, None
        if sender != self._commander and not simulation.braking:
            self._diagnostics.rival = sender
            self._refuse(
                ArmError(
                    f'two controllers command the arm: {self._commander!r} is heeded,'
                    f' {sender!r} is not; deactivate one of them'
                )
            )
            return
        if command.empty and not simulation.braking:
            self._on_release(sender)
            return
        stamp = command.time_ns
        oldest = simulation.time_ns if self._lockstep else self._command_ns
        if not oldest <= stamp <= simulation.time_ns:
            self._diagnostics.stale += 1
            return
        try:
            values = command.values(self._field)
        except ArmError as error:
            self._refuse(error)
            return
        if self._fault:
            return
        self._commander = sender
        self._command_ns = stamp
        self._pending = self._held
        self._held[:] = values
        if self._lockstep and (not self._paused or self._steps_allowed):
            self._advance()

    def _on_release(self, commander: str) -> None:
        """A controller hands the arm back: brake and hold, without waiting for a time-out."""
        self.get_logger().info(f'{commander!r} has released the arm: braking, then holding')
        self.simulation.brake()
        self._pending = None
        if self._own is not None:
            self._own.take_over()
            self._publish_state()
        elif self._lockstep and not self._paused:
            self._brake_to_rest()

    def _go_on(self) -> bool:
        """Lock-step without a controller: take the next step of the own goals, if any is due."""
        assert self._own is not None
        if not self._own.in_charge or self._paused or self._fault:
            return False
        self._advance()
        return True

    def _answer(self) -> None:
        """Answer the state just published with the command of the own goals."""
        simulation, own = self.simulation, self._own
        if own is not None and own.in_charge and not self._fault:
            q, v = simulation.plant.q.copy(), simulation.plant.v.copy()
            self._held[:] = own.command(simulation.time_ns, q, v)
            self._pending, self._commander = self._held, self.get_name()
            self._command_ns = simulation.time_ns

    def _brake_to_rest(self) -> None:
        """Lock-step: let time go on without commands until the arm is at rest."""
        simulation = self.simulation
        end = simulation.time_ns + round(_LONGEST_BRAKING * 1e9)
        while not self._fault and not simulation.at_rest and simulation.time_ns < end:
            self._advance()

    def _advance(self) -> None:
        """Step with the command that is there (brake without one) and publish the new state."""
        if self._paused:
            self._steps_allowed -= 1
        try:
            self.simulation.advance(self._pending)
        except PhysicsDivergedError as error:
            self._fault = str(error)
            self.get_logger().error(self._fault)
            return
        except ArmError as error:
            self._refuse(error)
            return
        if self._lockstep:
            self._pending = None
        self._publish_state()

    def _publish_state(self) -> None:
        simulation, state = self.simulation, self._state
        state.position[:] = simulation.plant.q
        state.velocity[:] = simulation.plant.v
        state.effort[:] = simulation.plant.effort
        self._awaiting_since = time.monotonic()
        self._shown = state.serialized(simulation.time_ns)
        self._state_publisher.publish(self._shown)
        if simulation.steps % self._clock_every == 0 and (
            self._clock_publisher.get_subscription_count()  # else nobody pays for it
        ):
            set_stamp(self._clock_message.clock, simulation.time_ns)
            self._clock_publisher.publish(self._clock_message)
        self._answer()

    def _on_silence(self) -> None:
        """Nothing new for a while: show the state again; lock-step: in the end, brake to rest."""
        if self._fault:
            return
        silence = time.monotonic() - self._awaiting_since
        if silence < _RESEND_PERIOD:
            return
        simulation = self.simulation
        commanded = self._lockstep and not simulation.braking and not self._paused
        if commanded and silence > self.parameters.lockstep_timeout:
            self._say_braking(silence)
            simulation.brake()
            self._pending = None
            if self._own is not None:
                self._own.take_over()
                self._publish_state()
            else:
                self._brake_to_rest()
            return
        since = self._awaiting_since
        self._state_publisher.publish(self._shown)
        self._awaiting_since = since

    def _on_tick(self) -> None:
        """Real time: take the steps that the wall clock says are due."""
        if self._paused or self._fault:
            self._anchor = (time.monotonic_ns(), self.simulation.time_ns)
            while self._steps_allowed and not self._fault:
                self._advance()
            return
        simulation = self.simulation
        wall, simulated = self._anchor
        elapsed = (time.monotonic_ns() - wall) * self.parameters.real_time_factor
        due = int(elapsed - (simulation.time_ns - simulated)) // simulation.period_ns
        self._diagnostics.late += due > 1
        if due > _CATCH_UP_STEPS:
            self._diagnostics.skipped += due - 1
            self._anchor = (time.monotonic_ns(), simulation.time_ns + simulation.period_ns)
            due = 1
        for _ in range(due):
            age = simulation.time_ns - self._command_ns
            self._diagnostics.oldest_command_ns = max(self._diagnostics.oldest_command_ns, age)
            if self._pending is not None and age > self.parameters.command_timeout * 1e9:
                self._say_braking(age * 1e-9)
                self._pending = None
            self._advance()

    def _say_braking(self, silence: float) -> None:
        self.get_logger().warning(
            f'no command for {silence:.3g} s (t = {self.simulation.time_ns * 1e-9:.3f} s): '
            'braking to rest; a controller that returns takes over from there'
        )

    # Services and other input

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.simulation.reset()
        self._pending = None
        self._fault = ''
        self._command_ns = 0
        self._anchor = (time.monotonic_ns(), 0)
        self._publish_state()
        response.success = True
        response.message = 'at the initial state, t = 0'
        return response

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._paused = request.data
        self._steps_allowed = 0
        response.success = True
        response.message = 'paused' if self._paused else 'running'
        if not self._paused and self._lockstep and self._pending is not None:
            self._advance()
        return response

    def _on_step(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._paused and not self._fault
        if not response.success:
            response.message = self._fault or 'not paused: pause first'
            return response
        self._steps_allowed += 1
        response.message = f'one control period from t = {self.simulation.time_ns * 1e-9:.4f} s'
        if self._lockstep and self._pending is not None:
            self._advance()
        return response

    def _on_save_inputs(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        """Write the recording as it is now."""
        try:
            if self._recorder is None:
                raise ArmError('parameter record_inputs is empty: nothing is recorded')
            self._recorder.save(self.parameters.record_inputs)
            response.success, response.message = True, self.parameters.record_inputs
        except ArmError as error:
            response.success, response.message = False, str(error)
        return response

    def _on_wrench(self, message: WrenchStamped) -> None:
        """Hold a wrench, given in the axes of its frame, from its stamp on (0: now)."""
        force, torque = message.wrench.force, message.wrench.torque
        wrench = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
        header = message.header
        try:
            self.simulation.push(header.frame_id, wrench, to_ns(header.stamp))
        except ArmError as error:
            self._refuse(error)

    def _refuse(self, error: ArmError) -> None:
        self._diagnostics.refuse(error)
        self.get_logger().warning(f'{error}', throttle_duration_sec=1.0)

    def _report(self) -> None:
        self._diagnostics.report(self._fault, self._paused, self._commander)


def _viewer(plant, model):
    """Return the open viewer; its library is loaded for it only."""
    from arm_sim.plants.viewer import open_viewer

    return open_viewer(plant, model)


def main() -> int:
    """Run the node."""
    return run_node('simulator', SimulatorNode)


if __name__ == '__main__':
    sys.exit(main())
