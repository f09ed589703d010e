"""Installs the node and its configuration."""

from setuptools import setup

name = 'controller_package'
setup(
    name=name,
    version='0.1.0',
    packages=[name],
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{name}']),
        (f'share/{name}', ['package.xml']),
        (f'share/{name}/config', ['config/controllers.yaml']),
    ],
    extras_require={'test': ['pytest']},
    license='Apache-2.0',
    entry_points={'console_scripts': [f'computed_torque = {name}.computed_torque:main']},
)
