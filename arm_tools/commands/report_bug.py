"""`ros2 run arm_sim report_bug FOLDER`: what somebody else needs to see a fault, in one file."""

import json
import platform
import re
import socket
import struct
import tempfile
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Annotated

from mcap.exceptions import McapError
from mcap.records import Channel, Message, Metadata, Schema
from mcap.stream_reader import StreamReader
from mcap.writer import Writer
from tyro.conf import Positional

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import parameter
from arm_lab.command_line import CommandOptions, File, command
from arm_sim.output_folder import whole_file
from arm_tools.commands.doctor import facts


@dataclass(frozen=True)
class Options(CommandOptions):
    """Pack the newest recording of a folder with `doctor --json`.

    The home folder and the name of this machine are replaced by as many x. What else the
    recording names, such as folders elsewhere, stays: look into the file before you send it.
    """

    recording: Positional[Annotated[str, 'FOLDER']] = parameter(
        MISSING, 'path of a folder with MCAP files, such as cube_output, or of an MCAP file'
    )
    output: File = parameter('bug_report.zip', 'path of the file that is written')


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    file, names = _newest(Path(options.recording)), private_names()
    with tempfile.TemporaryDirectory(prefix='arm_sim_') as folder:
        copy = Path(folder) / 'recording.mcap'
        copy_without(names, file, copy)
        doctor = without(names, json.dumps(facts(), indent=2, ensure_ascii=False).encode())
        with whole_file(options.output) as stream, zipfile.ZipFile(stream, 'w') as packed:
            packed.writestr('doctor.json', doctor, zipfile.ZIP_DEFLATED)
            packed.write(copy, copy.name)
    print(f'report_bug: {file} and doctor.json are in {options.output}; attach it to an issue')


def private_names() -> list[str]:
    """Return the home folder, also as JSON writes it, and the names of this machine."""
    home, hosts = str(Path.home()), {socket.gethostname(), platform.node()}
    hosts |= {name.partition('.')[0] for name in hosts}
    names = {home, json.dumps(home)[1:-1], *hosts} - {'/', '', 'localhost'}
    return sorted(names, key=len, reverse=True)  # the longest first: one may begin with another


def without(names: Iterable[str], data: bytes) -> bytes:
    """Return data of the same length, with an x for each byte of these words and paths."""
    for name in map(str.encode, names):
        word = rb'(?<!\w)' + re.escape(name) + rb'(?!\w)'
        data = re.sub(word, b'x' * len(name), data)
    return data


def copy_without(names: Iterable[str], source: Path, target: Path) -> None:
    """Copy an MCAP file as far as it can be read; types and topics stay as they are."""
    schemas, channels = {0: 0}, {}
    with source.open('rb') as stream, target.open('wb') as copied:
        writer = Writer(copied)
        writer.start(profile='ros2', library='arm_sim')
        with suppress(McapError, struct.error):  # a recording that a crash has ended
            for record in StreamReader(stream).records:
                if isinstance(record, Schema):
                    schemas[record.id] = writer.register_schema(
                        record.name, record.encoding, record.data
                    )
                elif isinstance(record, Channel):
                    channels[record.id] = writer.register_channel(
                        record.topic,
                        record.message_encoding,
                        schemas[record.schema_id],
                        record.metadata,
                    )
                elif isinstance(record, Message):
                    writer.add_message(
                        channels[record.channel_id],
                        record.log_time,
                        without(names, record.data),
                        record.publish_time,
                        record.sequence,
                    )
                elif isinstance(record, Metadata):
                    texts = {
                        key: without(names, text.encode()).decode()
                        for key, text in record.metadata.items()
                    }
                    writer.add_metadata(record.name, texts)
        writer.finish()
    if not channels:
        raise ArmError(f'{source}: no recording: it has no topic')


def _newest(path: Path) -> Path:
    files = [path] if path.is_file() else [*path.rglob('*.mcap')]
    if not files:
        raise ArmError(
            f"no recording: '{path}' has no .mcap file; a task writes one into its output_dir, "
            'arm.launch.py with record:=true into recordings'
        )
    return max(files, key=lambda file: file.stat().st_mtime)
