"""The command `compare_controllers` as a launch."""

import sys
from collections.abc import Mapping

from launch.actions import ExecuteProcess, LogInfo

from arm_sim.launching.processes import exit_options, quiet_start
from arm_sim.ros.config import config_file


def comparison(given: Mapping[str, str], page: list[object], **options: str) -> list[object]:
    """Return `compare_controllers` with these options; its end is the end of the launch.

    `page`: its server where requested; the page shows runs over topics.
    """
    name, config = 'compare_controllers', given['config']
    for robot in options['robots'].split(',') if config else ():
        config_file(robot.strip(), config)
    common = {'config': config, 'scene': given['scene'], 'output-dir': given['output_dir']}
    options = {**options, **common}
    arguments = [f'--{option}={value}' for option, value in options.items()]
    tool = ExecuteProcess(
        cmd=[sys.executable, '-m', 'arm_sim.executables', name, *arguments],
        name=name,
        prefix=quiet_start(),
        output_format='{line}',
        **exit_options(name, succeeds=True),
    )
    if page and options.get('over', 'topics') == 'loop':
        return [tool, LogInfo(msg='view: a loop without nodes has no page; use topics')]
    return [*page, tool]
