"""A recording that could not be written to its end."""

import random
import resource

from mcap.reader import make_reader

from arm_tools.recording.mcap_file import McapFile


def test_what_a_full_disk_took_is_read_by_every_mcap_reader(tmp_path):
    path, written = tmp_path / 'x.mcap', 0
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = McapFile(path)
    file.open_channel('/numbers', 'std_msgs/msg/String', 'string data\n')
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    try:
        while written < 100_000:
            file.write('/numbers', random.randbytes(100), written)
            written += 1
    except OSError:
        file.abandon()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    with path.open('rb') as stream:
        found = [message.log_time for _, _, message in make_reader(stream).iter_messages()]
    assert found == list(range(len(found)))
    assert 1000 < len(found) <= written + 1 < 100_000
