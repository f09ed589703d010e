import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from runpy import run_path

from setuptools import find_packages, setup

package_name = 'arm_sim'


def share_files(*folders):
    """Install the files of these folders, at any depth, into the same folders of share/arm_sim."""
    targets = defaultdict(list)
    for folder in folders:
        for path in sorted(Path(folder).rglob('*')):
            if path.is_file() and not {'__pycache__', 'images'} & {*path.parts}:
                targets[f'share/{package_name}/{path.parent}'].append(str(path))
    return list(targets.items())


def scripts():
    """Return the executables of `ros2 run`; a wheel, which is used without ROS, has none."""
    if 'bdist_wheel' in sys.argv:
        return []
    with suppress(ImportError):  # where setuptools has none, Ctrl-C in the first 0.1 s is loud
        from setuptools.command.easy_install import ScriptWriter

        quiet = (
            'import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n'
            'signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])\n'
        )
        ScriptWriter.template = quiet + ScriptWriter.template
    names = run_path('arm_sim/registered.py')['executables']()
    return [f'{name} = arm_sim.executables:{name}' for name in names]


def requirements():
    """Return the packages of requirements.txt, which `./ws` installs as well, by their group."""
    file = Path(__file__).resolve().with_name('requirements.txt')  # colcon links this file
    groups, group = defaultdict(list), ''
    for line in file.read_text().splitlines():
        package, _, comment = line.partition('#')
        if package.strip():
            groups[group].append(package.strip())
        else:
            group = comment.partition(':')[0].strip()
    return groups


def egg_info():
    """Return options that keep what is known of a wheel out of this folder.

    Python started here would find it there, in place of the workspace that `./ws` builds.
    """
    here = Path(__file__).resolve().parent
    if Path.cwd() != here:
        return {}  # colcon's
    (here / 'build').mkdir(exist_ok=True)
    return {'egg_info': {'egg_base': 'build'}}


REQUIRED = requirements()
FILM = 'imageio-ffmpeg'  # render to MP4
GYM = 'gymnasium>=1.1'  # arm_sim/Track-v0 and others
POLICY = ['onnx>=1.17', 'onnxruntime>=1.20']  # controller:=policy
VISER = 'viser>=1.1'  # view:=true
MOTION_MODEL = 'arm_lab.published.motion_model_plant:MotionModelPlant'
SIMULATION_SERVICES = 'arm_tools.standards.ros.simulation_services:SimulationServices'


setup(
    name=package_name,
    options=egg_info(),
    version='0.4.0',
    python_requires='>=3.11',
    packages=find_packages(include=['arm_*', 'arm_*.*'], exclude=['arm_interfaces*']),
    package_data={'': ['py.typed', '*.pyi']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{package_name}']),
        (f'share/{package_name}', ['package.xml']),
        *share_files('launch', 'config', 'urdf', 'docs/tutorial'),
    ],
    install_requires=REQUIRED['heart'],
    extras_require={
        # one extra for each package beside the heart, and for learning
        'lab': REQUIRED['lab'],
        'view': [*REQUIRED['lab'], *REQUIRED['view'], VISER, FILM],
        'plan': [*REQUIRED['lab'], *REQUIRED['plan'], 'ompl>=2', 'toppra>=0.6'],
        'learn': [*REQUIRED['lab'], GYM, *POLICY],
        # single parts
        'test': ['pytest'],  # what colcon test runs
        'dask': ['distributed>=2025.1'],  # --scheduler
        'gym': [GYM],
        'film': [FILM],
        'policy': POLICY,
        'hdf5': ['h5py>=3.11'],  # recordings
        'parquet': ['pyarrow>=17'],  # --parquet
        'robots': [*REQUIRED['robots'], 'example-robot-data', 'robot_descriptions', 'xacro'],
    },
    zip_safe=False,
    maintainer='The arm_sim developers',
    maintainer_email='arm_sim@users.noreply.github.com',
    description='Robot arms in simulation: dynamics, inverse kinematics, controllers, nodes.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': scripts(),
        'arm_sim.designs': ['over_topics = arm_lab.experiments.over_topics'],
        'arm_sim.engines': [f'motion_model = {MOTION_MODEL}'],
        'arm_sim.films': ['film_record = arm_tools.view.film_record:film_record'],
        'arm_sim.own_goals': ['own_goals = arm_lab.published.ros.own_goals:OwnGoals'],
        'arm_sim.pacings': ['manager = arm_tools.standards.manager_pacing:ManagerPacing'],
        'arm_sim.recorders': ['recorder = arm_tools.recording.ros.recorder:Recorder'],
        'arm_sim.simulator_services': [
            f'simulation_interfaces = {SIMULATION_SERVICES}',
            'manager_input = arm_tools.standards.ros.manager_input:manager_input',
        ],
        'arm_sim.tasks': [
            'excite = arm_lab.tasks.excite:Excite',
            'pose_hold = arm_lab.tasks.pose_hold:PoseHold',
        ],
        'pytest11': ['arm_sim = arm_lab.testing.plugin'],
    },
)
