"""`ros2 launch` for an environment with launch and ros2cli but without ros2launch."""

import os
from pathlib import Path

import launch
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
from ros2cli.command import CommandExtension

SUFFIXES = ('launch.py', 'launch.xml', 'launch.yaml', 'launch.yml')


class LaunchCommand(CommandExtension):
    """Run a launch file."""

    def add_arguments(self, parser, cli_name):
        """Add the arguments, named as in the real ros2 launch."""
        del cli_name
        add = parser.add_argument
        add('package_name', help='package of the launch file, or the path of a launch file')
        add('launch_file_name', nargs='?', help='launch file in the package')
        add('launch_arguments', nargs='*', help='arguments of the launch file, <name>:=<value>')
        add('-n', '--noninteractive', action='store_true', help='run without a terminal')
        add('-d', '--debug', action='store_true', help="show launch's own debug messages")
        add('-p', '--print-description', action='store_true', help='print the launch description')
        add(
            '-s',
            '--show-args',
            '--show-arguments',
            action='store_true',
            help='print the arguments',
        )
        add('-a', '--show-all-subprocesses-output', action='store_true', help='print all output')

    def main(self, *, parser, args):
        """Run, or print what is asked for; the result is the exit code."""
        try:
            path, arguments = resolve(args)
            pairs = [split_argument(argument) for argument in arguments]
            if args.show_args:
                return print_arguments(path)
            if args.print_description:
                print(launch.LaunchIntrospector().format_launch_description(load(path)))
                return 0
        except (ArgumentError, launch.invalid_launch_file_error.InvalidLaunchFileError) as error:
            parser.exit(1, f'{error}\n')
        if args.show_all_subprocesses_output:
            os.environ['OVERRIDE_LAUNCH_PROCESS_OUTPUT'] = 'both'
        service = launch.LaunchService(
            argv=arguments, noninteractive=args.noninteractive, debug=args.debug
        )
        source = AnyLaunchDescriptionSource(str(path))
        include = IncludeLaunchDescription(source, launch_arguments=pairs)
        service.include_launch_description(launch.LaunchDescription([include]))
        return service.run()


class ArgumentError(Exception):
    """A command line that names nothing to launch; the message says why."""


def resolve(args):
    """Return the launch file's path and the launch arguments."""
    first, second = args.package_name, args.launch_file_name
    if Path(first).is_file():
        return Path(first), [second, *args.launch_arguments] if second else []
    if not second:
        raise ArgumentError(
            f"no launch file '{first}', and no launch file named for a package '{first}'"
        )
    try:
        share = Path(get_package_share_directory(first))
    except PackageNotFoundError as error:
        raise ArgumentError(error.args[0]) from None
    except ValueError as error:
        raise ArgumentError(f"'{first}' is neither a launch file nor a package: {error}") from None
    found = [file for file in share.rglob(second) if file.is_file()]
    if len(found) == 1:
        return found[0], args.launch_arguments
    if found:
        raise ArgumentError(
            f"'{second}' is in {first} more than once: {', '.join(map(str, found))}"
        )
    names = sorted(f.name for f in share.rglob('*') if f.name.endswith(SUFFIXES))
    raise ArgumentError(
        f"no '{second}' in package {first}; there is: {', '.join(names) or 'none'}"
    )


def split_argument(argument):
    """Return name and value of `name:=value`."""
    name, separator, value = argument.partition(':=')
    if not separator or not name:
        raise ArgumentError(f"malformed launch argument '{argument}', expected <name>:=<value>")
    return name, value


def load(path):
    """Return the launch description that a launch file makes."""
    return AnyLaunchDescriptionSource(str(path)).get_launch_description(launch.LaunchContext())


def print_arguments(path):
    """Print the arguments that the launch file declares."""
    arguments = load(path).get_launch_arguments()
    print("Arguments (pass arguments as '<name>:=<value>'):")
    for argument in arguments:
        print(f"\n    '{argument.name}':")
        print(f'        {argument.description}')
        if argument.default_value is not None:
            default = [part.describe() for part in argument.default_value]
            print(f'        (default: {" + ".join(default)})')
    if not arguments:
        print('\n  No arguments.')
    return 0
