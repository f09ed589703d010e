"""A task over ROS 2 topics: prepare the arm, send the goal, record, measure, report."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped

from arm_controllers.follower.goal import Goal
from arm_controllers.parameter_values import ParameterField, parameter_fields
from arm_controllers.ros.messages import wrench_message
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.process_settings import pin_to_core
from arm_controllers.ros.running import run_node
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.plugins import extension
from arm_dynamics.robots import RobotArgument
from arm_sim.devices import device_facts
from arm_sim.loop.events import Push
from arm_sim.loop.goals import goal_reference, without_joint
from arm_sim.loop.measures import Tracking, error_facts, track
from arm_sim.loop.outcome import (
    draw_pictures,
    load_pictures,
    outcome,
    picture_process,
    print_outcome,
    write_outcome,
)
from arm_sim.loop.record import Record
from arm_sim.loop.report import Results, plain
from arm_sim.output_folder import writable_folder
from arm_sim.robot import Robot
from arm_sim.ros.clients import CLIENTS
from arm_sim.ros.goal_run import SOON, GoalRun
from arm_sim.ros.prediction import running_nodes
from arm_sim.ros.task_parameters import AnyTaskParameters, TaskNodeParameters
from arm_sim.tasks import Run, Task, task_class, task_classes

_PROGRESS_LINES = 5


def task_fields(name: str, joint_names: Sequence[str]) -> Iterator[ParameterField]:
    """Yield the parameters of a task's node; `comparison`: of the node that runs any task."""
    yield from parameter_fields(TaskNodeParameters)
    if name != 'comparison':
        yield from parameter_fields(task_class(name).Parameters)
        return
    yield from parameter_fields(AnyTaskParameters)
    for task in task_classes().values():
        yield from parameter_fields(task.Parameters)


def asked(task: Task, parameters: TaskNodeParameters, q: Array) -> tuple[Goal | None, int]:
    """Return the goal for an arm at rest at q (n,), and the stamp where measuring begins [ns]."""
    if parameters.start == 'rest':
        return task.goal_from(q, parameters.period_ns)
    return task.goal(), 0


class TaskNode(Node):
    """Runs a task once, from the reset of the simulator to the report.

    Attributes:
        parameters, task_parameters: of the node, and of its task.
    """

    fields_of = staticmethod(task_fields)

    def __init__(self, name: str, pictures: Executor):
        """Declare and check parameters.

        Args:
            name: of the task; '': the parameter `task` names it.
            pictures: process that draws.
        """
        super().__init__(f'{name or "comparison"}_task')
        self._pictures = pictures
        self.name = name or declare_parameters(self, AnyTaskParameters).task
        self._task_class = task_class(self.name)
        self.parameters = p = declare_parameters(self, TaskNodeParameters)
        self.task_parameters = self._declare_of_task()
        self.output_dir = writable_folder(p.output_dir or f'{self.name}_output')
        model = p.model()
        self.robot = Robot(p.robot, model, model.neutral())
        self._planned = self._task_class(self.robot, self.task_parameters)
        self.period_ns = p.period_ns
        self._wrenches = self.create_publisher(WrenchStamped, 'external_wrench', 500)
        self._gripper: Any = None
        self._wrench_goals = self.create_publisher(WrenchStamped, f'{p.server}/wrench_goal', 10)
        self._recorder = None if p.record == 'none' else self._make_recorder(p.record == 'bag')

    def _make_recorder(self, bag: bool) -> Any:
        """Return the recorder of the run; of several passes, of the last one."""
        path = self.output_dir / ('recording' if bag else 'recording.mcap')
        make = extension('arm_sim.recorders', 'recorder')
        return make(self, lambda _: path, bag, own_states=False, server=self.parameters.server)

    def _declare_of_task(self) -> Any:
        """Return the task's parameters; raise ArmError for names that every task's node has."""
        kind = self._task_class.Parameters
        reserved = {field.name for field in parameter_fields(TaskNodeParameters)}
        both = sorted(reserved & {field.name for field in parameter_fields(kind)})
        if both:
            raise ArmError(f'task {self.name!r} needs other names for {", ".join(both)}')
        return declare_parameters(self, kind)

    def run(self, executor) -> int:
        """Run the task; return the exit code: 0 if all limits hold, 1 if not."""
        p, model = self.parameters, self.robot.model
        self._say(f'{RobotArgument.of(p.robot).label} under {p.law}, {p.mode}')
        pin_to_core(p.core)
        recorder = self._recorder
        take: dict[str, Any] = {}
        if recorder:
            take = {'on_messages': recorder.take, 'is_recorded': recorder.has_new_goal}
        arm = GoalRun(self, executor, model.joint_names, p.server, p.timeout, **take)
        q, v = arm.reset()
        if recorder and p.law != 'none':
            arm.wait_until(lambda: recorder.ready, 'description and parameters')
        robot = replace(self.robot, start=q)
        ik = None
        if self._task_class.asks_ik:
            call_ik = partial(arm.call, of='inverse_kinematics')
            ik = CLIENTS.load('ik_client')(self, model.base_frame, call_ik)
        task = self._task_class(robot, self.task_parameters, ik)
        for note in task.notes:
            self._say(note)
        if task.gripper:
            self._gripper = CLIENTS.load('gripper_goals')(self, arm.waiting, task.gripper)
        nodes = running_nodes(self, p.law, arm.call)
        compared = task.report.asks_prediction
        expected = nodes.predicted(task) if compared and p.law != 'external' else None
        goal, start_ns = asked(task, p, q)
        if task.push is not None:
            arm.wait_until(lambda: self._wrenches.get_subscription_count() > 0, 'simulator')
        end_ns = start_ns + round(task.duration * 1e9 / self.period_ns) * self.period_ns
        follow, ends = goal_reference(goal, model, q, v), (start_ns, end_ns)
        if p.mode == 'lockstep':  # in real time nothing may hold up the states
            self._pictures.submit(load_pictures)
        lesson, passes = None, list[dict[str, float]]()
        states: Any = None
        if p.passes > 1:
            if goal is None:
                raise ArmError(f'passes is {p.passes}; task {self.name!r} has no goal to repeat')
            from arm_sim.loop.learning import GoalLearner, Learner  # few motions are repeated

            make = partial(Learner, *nodes.believed(), cutoff=p.learning_cutoff)
            lesson = GoalLearner(goal, follow, end_ns, self.period_ns, make)
        while len(passes) < p.passes:
            if lesson and passes:
                goal = lesson.next_goal(states)
                arm.reset()
            states = self._pass(arm, task, goal, ends)
            record = states.record(follow, *ends, self.period_ns)
            record = self._with_objects(record, arm, task, ends)
            tracking = track(model, record, error=p.geometry)
            passes.append(self._error(tracking, record))
        facts = self._facts(arm, states.time_ns) | {'passes_mm': passes}
        run = Run(record, tracking, facts, expected)
        report, checks = outcome(task, run)
        parts = (self._task_class, robot, self.task_parameters, run, report)
        drawn = self._pictures.submit(draw_pictures, self.output_dir, *parts)
        if recorder:
            recorder.close({'task': self._metadata(facts, ends)})
        print_outcome(task, report, checks)
        names = write_outcome(self.output_dir, task, run, report)
        if recorder and recorder.name:
            names.append(recorder.name)
        drawn.result()
        self._say(f'{", ".join(names)} are in {self.output_dir}')
        return 1 if report['limits_held'] is False else 0

    def _pass(self, arm: GoalRun, task: Task, goal: Goal | None, ends: tuple[int, int]):
        """Return the states of one motion since the reset; `ends` [ns]: of the measured part."""
        if task.push is not None:
            self._send(task.push, arm.joint_states().q[-1], ends[0])
        if self._gripper is not None:
            self._gripper.send(task.gripper_goals(), ends[0])
            goal = goal and without_joint(goal, task.gripper)
        if task.wrench is not None:
            self._send_goal(arm, task.wrench, ends[0] + task.wrench_start_ns)
        period_ns = self.period_ns if self.parameters.mode == 'lockstep' else 0
        arm.follow(goal, ends[1], period_ns, self._print_progress(task, *ends), task.goal_may_end)
        return arm.joint_states()

    def _with_objects(
        self, record: Record, arm: GoalRun, task: Task, ends: tuple[int, int]
    ) -> Record:
        """Return a record with the poses of the task's object, as they were published."""
        if not task.moved_object:
            return record
        stamps = np.arange(ends[0], ends[1] + 1, self.period_ns)
        poses = CLIENTS.load('poses_over_time')(arm.objects, stamps, task.moved_object)
        return replace(record, objects=poses)

    def _error(self, tracking: Tracking, record: Record) -> dict[str, float]:
        """Return RMS and maximum of the tip's error [mm]; print them if there are more passes."""
        error = error_facts(record.t, tracking.error, 1e3)
        if self.parameters.passes > 1:
            most = f'at most {error["max"]:.3g} mm'
            self._say(f'pass: tracking error {error["rms"]:.3g} mm RMS, {most}')
        return error

    def _send(self, push: Push, q, start_ns: int) -> None:
        """Publish the changes of a push, in the axes that its frame has at q."""
        rotation = self.robot.model.forward_kinematics(q, push.frame).rotation
        own = (np.reshape(push.wrench, (2, 3)) @ rotation).ravel()
        for time, share in push.samples():
            stamp = round(time * 1e9 / self.period_ns) * self.period_ns
            self._wrenches.publish(wrench_message(push.frame, share * own, start_ns + stamp))

    def _send_goal(self, arm: GoalRun, wrench: Array, from_ns: int) -> None:
        """Publish the wrench that the tool is to exert, in base axes."""
        goals = self._wrench_goals
        arm.wait_until(goals.get_subscription_count, f'subscription to {goals.topic_name}')
        goals.publish(wrench_message('', wrench, from_ns))
        arm.wait_until(lambda: goals.wait_for_all_acked(SOON), 'receipt of the wrench goal')

    def _print_progress(self, task: Task, start_ns: int, end_ns: int) -> Callable[[int], None]:
        """Return a function of the stamp [ns] that prints the progress."""
        lines = [(0.0, 'the arm moves to the start')] if start_ns else []
        for share in (i / _PROGRESS_LINES for i in range(_PROGRESS_LINES + 1)):
            lines.append((start_ns + share * (end_ns - start_ns), task.report.progress(share)))

        def progress(time_ns: int) -> None:
            while lines and time_ns >= lines[0][0]:
                self._say(lines.pop(0)[1])

        return progress

    def _say(self, text: str) -> None:
        print(f'{self.name}: {text}', flush=True)

    # Reporting

    def _facts(self, arm: GoalRun, stamps) -> Results:
        p = self.parameters
        facts: Results = {'robot': RobotArgument.of(p.robot).label, 'engine': p.engine}
        facts |= {'integrator': p.integrator, 'mode': p.mode, 'feedforward': p.feedforward}
        facts |= {'task': self.name, 'controller': p.law, 'errors': p.errors} | device_facts(p)
        facts['cycles_per_second'] = (len(stamps) - 1) / arm.wall_time
        if p.mode == 'realtime':
            facts['achieved_real_time_factor'] = float(stamps[-1]) * 1e-9 / arm.wall_time
            for key in ('late ticks', 'skipped periods', 'stale commands'):
                facts[key.replace(' ', '_')] = int(arm.diagnostics.get(key, 0))
        return facts

    def _metadata(self, facts: Results, ends: tuple[int, int]) -> dict[str, str]:
        """Return the metadata of the run for its recording."""
        values = {'node': self.get_fully_qualified_name(), 'facts': facts}
        values |= {'start_ns': ends[0], 'end_ns': ends[1]}
        return {name: json.dumps(plain(value)) for name, value in values.items()}


def main(name: str) -> int:
    """Run the node of a task; `comparison`: of the task that the parameter `task` names."""
    try:
        pictures = picture_process()
    except OSError as error:
        print(f'{name}_task: no process for pictures: {error.strerror}', file=sys.stderr)
        return 1
    task = '' if name == 'comparison' else name
    with pictures:  # a pool that is collected while Python ends may print a traceback
        return run_node(f'{name}_task', lambda: TaskNode(task, pictures))
