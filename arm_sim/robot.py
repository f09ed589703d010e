"""A robot by name: its model, and what its parameter files say."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from arm_controllers.laws import law_names
from arm_controllers.parameter_file import Sections, mapping, yaml_value
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.robots import ArmParameters, RobotArgument, find_urdf
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.model_gains import with_law_gains, with_servo_gains
from arm_sim.parameter_files import SHARED, files_of, merged, parameters_of


@dataclass(frozen=True)
class Robot:
    """An arm and the facts about it from its parameter files.

    Attributes:
        name: of the robot.
        model: from its URDF, with what the files say of gravity, rotors and friction.
        start: (n,) where the arm starts [rad | m].
        sections: what the files say, by node; an arm without a file has servo gains by its model.
        is_shipped: whether the arm belongs to this package, so that its files are complete.
    """

    name: str
    model: RobotModel
    start: Array
    sections: Sections = field(default_factory=dict)
    is_shipped: bool = True

    @classmethod
    def load(cls, name: str, config: str | Path = '') -> 'Robot':
        """Read a robot, named as `RobotArgument` says, and its parameter files, `config` on top.

        Raises:
            ArmError: no such robot, or a file that does not hold what it should.
        """
        sections = merged(files_of(name, config))
        model = read_fields(ArmParameters, {**sections[SHARED], 'robot': name}).model()
        start = parameters_of(sections, 'simulator').get('initial_positions', model.neutral())
        start = model.check_configuration(start, f'initial_positions of {name}')
        shipped = RobotArgument.of(name).is_shipped
        if not shipped:
            sections = with_servo_gains(sections, model)
        return cls(find_urdf(name).stem, model, start, sections, shipped)

    def parameters(self, *nodes: str) -> ParameterValues:
        """Return what the files say to nodes, the last one strongest."""
        return parameters_of(self.sections, *nodes)

    def sections_for(self, law: str) -> Sections:
        """Return the sections, with a law's gains by the model of an arm that is not shipped."""
        if self.is_shipped or law not in law_names():
            return self.sections
        return with_law_gains(self.sections, self.model, self.start, law)

    def controller_parameters(self, law: str) -> ParameterValues:
        """Return the parameters of a law's controller node."""
        return parameters_of(self.sections_for(law), f'{law}_controller')

    def with_error(self, error: ModelError) -> ParameterValues:
        """Return the simulator's parameters for the arm with an error; none where there is none.

        Its URDF is written to a folder that lives as long as this process.
        """
        if error == ModelError():
            return {}
        wrong = with_error(self.model, error)
        path = temporary_folder() / f'{self.name}_with_error.urdf'
        path.write_text(wrong.urdf)
        return {'robot': str(path), **wrong.arm_parameters()}


def model_error_of(given: str | Mapping[str, object], name: str, model: RobotModel) -> ModelError:
    """Return the error that an argument gives in YAML, e.g. '{payload: 2.0, mass_scale: [1.3]}'.

    Raises:
        ArmError: names the argument; its text is something else, or not for this model.
    """
    known = [each.name for each in fields(ModelError)]
    values = mapping(name, yaml_value(name, given) if isinstance(given, str) else given, known)
    try:
        error = read_fields(ModelError, values)
        with_error(model, error)
    except ArmError as refusal:
        raise ArmError(f'{name}: {str(refusal).removeprefix(ModelError.prefix)}') from None
    return error
