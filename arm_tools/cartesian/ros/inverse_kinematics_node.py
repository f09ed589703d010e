"""The inverse kinematics services: poses to joint positions, every request answered."""

import math
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.subscription import Subscription

from arm_controllers.ros.diagnostics import status_publisher
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.nodes import Node, taken
from arm_controllers.ros.parameters import (
    declare_parameters,
    on_change_of,
    refuse_unknown_parameters,
)
from arm_controllers.ros.pose_messages import (
    pose_from_message,
    pose_to_message,
    poses_from_message,
)
from arm_controllers.ros.ros_types import Request, Response
from arm_controllers.ros.serialized_messages import JointReader, JointStateReader
from arm_controllers.ros.services import serve
from arm_controllers.ros.subscriptions import subscribe_joint_states
from arm_dynamics.checks import ArmError, one_of
from arm_dynamics.inverse_kinematics import (
    inverse_kinematics,
    solve_ik,
    solve_path_ik,
    solver_names,
    warm_up,
)
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import RobotArgument
from arm_interfaces.srv import ComputeFK, ComputeIK, ComputeIKPath
from arm_tools.cartesian.tip_parameters import TipParameters

_DIAGNOSTICS_PERIOD = 1.0
# Longest wait for the first message of joint_states [s]; a simulator publishes each 0.1 s.
_FIRST_STATE = 1.0
# What may change while the node runs.
_LIVE = ('position_tolerance', 'orientation_tolerance', 'solver', 'restarts', 'random_seed')


@dataclass(frozen=True)
class InverseKinematicsParameters(TipParameters):
    """Parameters of the node."""

    position_tolerance: float = parameter(1e-6, 'default position tolerance [m]', above=0, max=1)
    orientation_tolerance: float = parameter(
        1e-6, 'default orientation tolerance [rad]', above=0, max=3.2
    )
    solver: str = parameter('auto', 'solver of requests without one')
    restarts: int = parameter(60, 'number of random starts after the seed', min=0, max=10_000)
    random_seed: int = parameter(0, 'random seed of the restarts', min=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of('solver', self.solver, solver_names())


def answer(response: Response, result: NamedTuple) -> None:
    """Copy the fields of a result that the response has."""
    for name, value in result._asdict().items():
        if hasattr(response, name):
            setattr(response, name, value)


class InverseKinematicsNode(Node):
    """Answers `compute_ik`, `compute_fk` and `compute_ik_path` for one arm."""

    Parameters = InverseKinematicsParameters

    def __init__(self, transport: InProcessTransport | None = None):
        """Load the model, compile the solvers, create the services.

        `transport`: to a simulator in the same process.
        """
        super().__init__('inverse_kinematics')
        self._prefix = prefix_of(self)
        self.parameters = p = declare_parameters(self, self.Parameters, live=_LIVE)
        refuse_unknown_parameters(self)  # before the compiler, which takes its time
        self.model = p.model()
        self.requests = self.failures = 0
        self.last_failure = ''
        self._reader = JointReader(self.model.joint_names)
        self._state = JointStateReader(self.model.joint_names, ('position',))
        self._dropped, self._log = 0, Log(self, 1.0)
        self._newest = b''
        self._state_input: Subscription | None = None
        if transport is not None:
            self._subscribe()
            transport.subscribe_states(self.resolve_topic_name('joint_states'), self._keep)
        warm_up(self.model)  # no request has to wait for the compiler
        ik = inverse_kinematics(self.model)
        self._checked(p)
        on_change_of(self, [self.Parameters], self._checked, partial(setattr, self, 'parameters'))
        self._publish = status_publisher(self)
        serve(self, ComputeIK, 'compute_ik', partial(self._answer, self.compute_ik))
        serve(self, ComputeFK, 'compute_fk', partial(self._answer, self.compute_fk))
        serve(self, ComputeIKPath, 'compute_ik_path', partial(self._answer, self.compute_ik_path))
        self.create_timer(_DIAGNOSTICS_PERIOD, self._report)
        analytic = ik.analytic
        self._log.info(
            f'{RobotArgument.of(p.robot).label}: {self.model.nq} joints, '
            f'tip {self.model.tip_frame!r}, solver {p.solver!r}, '
            + (f'closed form {analytic.family}' if analytic else 'no closed form: iterative')
        )

    def _checked(self, parameters: InverseKinematicsParameters) -> InverseKinematicsParameters:
        """Raise ArmError for a solver that cannot be used for this arm."""
        if parameters.solver != 'auto':
            inverse_kinematics(self.model).solver(parameters.solver)
        return parameters

    def _answer(
        self, solve: Callable[[Request, Response], None], request: Request, response: Response
    ) -> None:
        """Answer a request, a malformed one with the reason; count them."""
        self.requests += 1
        try:
            solve(request, response)
        except ArmError as error:
            response.success, response.reason = False, shortened(str(error))
        if not response.success:
            self.failures += 1
            self.last_failure = response.reason

    def compute_ik(self, request: ComputeIK.Request, response: ComputeIK.Response) -> None:
        """Solve one pose."""
        response.joint_names = list(self.model.joint_names)
        seed = self._seed(request.seed)
        target = pose_from_message(request.target.pose, 'the target pose')
        base = self._frame_pose(request.target.header.frame_id, seed)
        solver = request.solver or self.parameters.solver
        result = solve_ik(self.model, base * target, seed, solver=solver, **self._options(request))
        response.position = array('d', result.q)
        answer(response, result)

    def compute_fk(self, request: ComputeFK.Request, response: ComputeFK.Response) -> None:
        """Compute the pose of a frame."""
        model = self.model
        names = list(request.joint_names) or list(model.joint_names)
        q = self._reader.read(names, request.position, 'position')
        pose = model.forward_kinematics(q, request.frame.removeprefix(self._prefix) or None)
        response.pose = pose_to_message(pose, self._prefix + model.base_frame)
        response.success = True

    def compute_ik_path(
        self, request: ComputeIKPath.Request, response: ComputeIKPath.Response
    ) -> None:
        """Solve a path on one branch, and time it if the request has a timing."""
        response.joint_names = list(self.model.joint_names)
        seed = self._seed(request.seed)
        base = self._frame_pose(request.path.header.frame_id, seed)
        poses = base.homogeneous @ poses_from_message(request.path)
        options = self._options(request)
        result = solve_path_ik(self.model, poses, seed, **options)
        response.positions = array('d', result.q.tobytes())
        answer(response, result)
        if result.success and request.timing:
            from arm_tools.cartesian.ros.timed_paths import answer_timed  # loads SciPy

            answer_timed(self.model, poses, result.q[0], options['frame'], request, response)

    def _seed(self, values: Sequence[float]) -> np.ndarray | None:
        """Return the request's seed, else the last joint state, else None."""
        if len(values):
            if len(values) != self.model.nq:
                has = f'{self.model.name!r} has {self.model.nq} joints'
                raise ArmError(f'seed has length {len(values)}, {has}')
            return np.array(values)
        if self._state_input is None:
            self._subscribe()
            self._wait_for_state()
        try:
            self._state.open(self._newest)
            return self._state.values('position').copy()
        except ArmError as error:  # none yet, or of another arm
            if self._newest:
                self._dropped += 1
                self._log.warning(f'state dropped: {error}')
            return None

    def _subscribe(self) -> None:
        """Receive joint_states: only once a request needs them, since it costs the loop time."""
        self._state_input = subscribe_joint_states(self, 'joint_states', self._keep)

    def _wait_for_state(self) -> None:
        """Wait shortly for the first state, if a node publishes states."""
        end = time.monotonic() + _FIRST_STATE
        while self.count_publishers('joint_states') and time.monotonic() < end:
            if raw := taken(self._state_input):
                self._newest = raw
                return
            time.sleep(0.001)

    def _keep(self, data: bytes) -> None:
        self._newest = data

    def _frame_pose(self, frame: str, seed: np.ndarray | None) -> pin.SE3:
        """Return a frame's pose in the base frame; that of a moving frame at the seed."""
        model, frame = self.model, frame.removeprefix(self._prefix)
        if frame in ('', model.base_frame):
            return pin.SE3.Identity()
        moves = model.pin_model.frames[model.frame_id(frame)].parentJoint > 0
        if moves and seed is None:
            raise ArmError(
                f'the pose is in {frame!r}, which moves with the arm: that needs a seed or '
                'joint_states'
            )
        q = model.neutral() if seed is None else seed
        return pin.SE3(model.forward_kinematics(q, frame))

    def _options(self, request: Request) -> dict[str, Any]:
        """Return the options of the solver; for a tolerance of 0, the node's own."""
        p = self.parameters
        options = {
            'frame': request.tip_frame.removeprefix(self._prefix) or None,
            'position_only': request.position_only,
            'axis_tolerances': list(request.axis_tolerances) or None,
            'restarts': p.restarts,
            'random_seed': p.random_seed,
        }
        for name in ('position_tolerance', 'orientation_tolerance'):
            value = getattr(request, name)
            if not math.isfinite(value) or value < 0.0:
                raise ArmError(f'{name} is {value}; it must be finite, and not negative')
            options[name] = value or getattr(p, name)
        return options

    def _report(self) -> None:
        values = {
            'arm': self.model.name,
            'requests': self.requests,
            'failures': self.failures,
            'last failure': self.last_failure,
            'dropped states': self._dropped,
        }
        self._publish(DiagnosticStatus.OK, 'answering requests', values)
