"""`ros2 run arm_sim export FILE... --to lerobot`: recordings in the format of other software."""

from dataclasses import MISSING, dataclass, field
from typing import Annotated

from tyro.conf import Positional

from arm_dynamics.parameters import parameter
from arm_lab.command_line import CommandOptions, Folder, command
from arm_lab.experiments.parquet import pyarrow
from arm_lab.progress import new_console, progress
from arm_sim.output_folder import writable_folder
from arm_tools.readers.findings import print_doubts
from arm_tools.readers.read_options import ReadAs
from arm_tools.recording.lerobot import episode_of, write_dataset


@dataclass(frozen=True)
class Options(CommandOptions):
    """Write recordings as training data: a LeRobotDataset v3 with one episode per recording."""

    files: Positional[Annotated[tuple[str, ...], 'FILE ...']] = parameter(
        MISSING, 'paths of MCAP files, or of folders with a rosbag2 recording'
    )
    to: str = parameter('lerobot', 'format that is written', one_of=('lerobot',))
    fps: int = parameter(50, 'frames per second of recorded time [Hz]', min=1, max=1000)
    output_dir: Folder = parameter('dataset', 'folder of the dataset')
    reading: ReadAs = field(default_factory=ReadAs)


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    pyarrow('the export')  # refused before hours of recordings are read
    console, episodes = new_console(), []
    with progress('recordings', len(options.files)) as advance:
        for number, file in enumerate(options.files):
            episodes.append(episode_of(file, options.fps, options.reading))
            print_doubts(episodes[-1].findings, file)
            advance(number + 1)
    folder = writable_folder(options.output_dir)
    frames = write_dataset(folder, episodes, options.fps)
    features = ', '.join([*episodes[0].names, *episodes[0].pictures])
    count = f'{len(episodes)} episode{"s" * (len(episodes) > 1)}'
    console.print(f'wrote {count} of {frames} frames ({features}) to {folder}')
