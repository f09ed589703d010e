import sys
from collections import defaultdict
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
    names = run_path('arm_sim/registered.py')['executables']()
    return [f'{name} = arm_sim.executables:{name}' for name in names]


def requirements():
    """Return the packages of requirements.txt, which `./ws` installs as well."""
    file = Path(__file__).resolve().with_name('requirements.txt')  # colcon links this file
    lines = file.read_text().splitlines()
    return [text for line in lines if (text := line.partition('#')[0].strip())]


setup(
    name=package_name,
    version='0.4.0',
    python_requires='>=3.12',
    packages=find_packages(include=['arm_*', 'arm_*.*'], exclude=['arm_interfaces*']),
    package_data={'': ['py.typed', '*.pyi']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{package_name}']),
        (f'share/{package_name}', ['package.xml']),
        *share_files('launch', 'config', 'urdf', 'docs/tutorial'),
    ],
    install_requires=requirements(),
    extras_require={
        'test': ['pytest'],  # what colcon test runs
        'dask': ['distributed>=2025.1'],  # --scheduler
        'gym': ['gymnasium>=1.1'],  # arm_sim/Track-v0 and others
        'film': ['imageio-ffmpeg'],  # render to MP4
        'plan': ['ompl>=2', 'toppra>=0.6'],  # motions around obstacles
        'policy': ['onnx>=1.17', 'onnxruntime>=1.20'],  # controller:=policy
        'parquet': ['pyarrow>=17'],  # --parquet
        'robots': ['example-robot-data', 'robot_descriptions', 'xacro'],  # robot:=
        'view': ['viser>=1.1'],  # view:=true
    },
    zip_safe=False,
    maintainer='The arm_sim developers',
    maintainer_email='arm_sim@users.noreply.github.com',
    description='Robot arms in simulation: dynamics, inverse kinematics, controllers, nodes.',
    license='Apache-2.0',
    entry_points={
        'console_scripts': scripts(),
        'arm_sim.recorders': ['recorder = arm_tools.recording.ros.recorder:Recorder'],
        'arm_sim.simulator_services': [
            'simulation_interfaces = arm_tools.standards.ros.simulation_services:SimulationServices',
        ],
    },
)
