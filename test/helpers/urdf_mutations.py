"""URDF files that something went wrong with, drawn from a seed, and what becomes of each."""

import gc
import os
import resource
import signal
import traceback
from random import Random
from xml.etree import ElementTree

VALUES = (
    *(
        '',
        ' ',
        '\n',
        'x',
        'é',
        '"',
        '1 2',
        '0 0 0',
        '1 0 0',
        '1e308 0 0',
        '0x10',
        '1,5',
        '0',
        '-1',
    ),
    *(
        'nan',
        'inf',
        '-inf',
        '-1e308',
        '1e308',
        '1e-308',
        '1',
        '1e9',
        '1e-9',
        '${value}',
        '$(arg x)',
    ),
    *('fixed', 'floating', 'planar', 'revolute', 'continuous', 'prismatic'),
)
ELEMENTS = (
    '<mimic joint="{joint}" multiplier="2" offset="0.1"/>',
    '<limit/>',
    '<limit lower="1"/>',
    '<limit lower="1" upper="-1" effort="1" velocity="1"/>',
    '<dynamics damping="-1"/>',
    '<dynamics friction="0.5"/>',
    '<axis xyz="0 0 0"/>',
    '<axis xyz="1 1 1"/>',
    '<inertial/>',
    *(
        f'<inertial><mass value="{mass}"/>'
        f'<inertia ixx="{a}" iyy="1" izz="{c}" ixy="{xy}" ixz="0" iyz="0"/></inertial>'
        for mass, a, c, xy in ((0, 0, 0, 0), (1, 1, 9, 0), (1, -1, 1, 2))
    ),
    '<origin xyz="1" rpy="0"/>',
    '<parent link="{link}"/>',
    '<child link="{link}"/>',
    '<link name="{link}"/>',
    '<joint name="{joint}" type="revolute"/>',
    '<mujoco/>',
    '<gazebo/>',
    '<safety_controller soft_lower_limit="0" k_velocity="x"/>',
    '<transmission name="t"/>',
    '<visual><geometry><mesh filename="nowhere.stl"/></geometry></visual>',
    '<visual><geometry><sphere radius="-1"/></geometry></visual>',
    '<visual><geometry><box size="1"/></geometry><material name="m"/></visual>',
)


def mutated(text: str, random: Random) -> bytes:
    """Return a URDF with one to three changes of its elements, or of its bytes."""
    if random.random() < 0.15:
        return _other_bytes(text.encode(), random)
    tree = ElementTree.fromstring(text)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        _change(tree, random)
    return ElementTree.tostring(tree)


def _change(tree: ElementTree.Element, random: Random) -> None:
    parents = [parent for parent in tree.iter() if len(parent)]
    parent = random.choice(parents)
    place = random.randrange(len(parent))
    element = random.choice([each for each in tree.iter() if each.attrib])
    links, joints = (
        [each.get('name', '') for each in tree.findall(kind)] or ['x']
        for kind in ('link', 'joint')
    )
    name = random.choice(sorted(element.keys()))
    kind = random.randrange(8)
    if kind == 0:
        parent.remove(parent[place])
    elif kind == 1:
        parent.append(parent[place])
    elif kind == 2:
        text = random.choice(ELEMENTS).format(
            link=random.choice(links),
            joint=random.choice(joints),
        )
        parent.insert(place, ElementTree.fromstring(text))
    elif kind == 3:
        del element.attrib[name]
    elif kind == 4:  # links in another order, in a loop, twice
        ends = [end for end in tree.iter() if end.tag in ('parent', 'child')]
        if ends:
            random.choice(ends).set('link', random.choice(links))
    elif kind == 5:
        others = [each for each in tree.iter(element.tag) if name in each.attrib]
        element.set(name, random.choice(others).get(name))
    else:
        element.set(name, random.choice(VALUES))


def _other_bytes(data: bytes, random: Random) -> bytes:
    first, last = sorted(random.randrange(len(data)) for _ in range(2))
    last = min(last, first + 300)
    return random.choice(
        (
            data[:first],
            data[:first] + data[last:],
            data[:last] + data[first:],
            data[:first] + bytes(random.randrange(256) for _ in range(4)) + data[first:],
            data[:first] + data[last:] + data[first:last],
        )
    )


def what_becomes_of(use, path, seconds: int = 10) -> str:
    """Return '' or the one line of refusal of `use(path)`, in a process of its own.

    Neither of both is reported as 'FAILED: ...': a traceback, a crash, too much processor time.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        gc.freeze()  # objects of earlier tests whose threads do not exist here stay untouched
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))  # others' load does not count
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60 * seconds)
        said = ''
        try:
            use(path)
        except BaseException as error:
            said = f'{type(error).__name__}: {error}'
            if type(error).__name__ not in ('ArmError', 'JointLimitError'):
                said = f'FAILED: {said} {traceback.extract_tb(error.__traceback__)[-3:]}'
        os.write(write, said.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    _, status = os.waitpid(pid, 0)
    return said if status == 0 else f'FAILED: ended by signal {status}'
