"""
Package legged_dynamics for colcon (ament_python) and pip; its version is in package.xml.

A build compiles the kernels for any processor of its kind, and puts them into the package: see
`build_backend.py`.
"""
import os
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from xml.etree import ElementTree

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

PACKAGE = 'legged_dynamics'
# Tried with the demo. 3.10 is for the nodes alone, on Cyclone DDS, which has no wheel for 3.14.
PYTHONS = ('3', '3.10', '3.11', '3.12', '3.13', '3.14')
HERE = Path(__file__).resolve().parent
# Read as a file: the package's dependencies may not be installed yet.
NODES = run_path(str(HERE / PACKAGE / 'node_registry.py'))['NODES']
BACKEND = run_path(str(HERE / 'build_backend.py'))
MANIFEST = ElementTree.parse(HERE / 'package.xml').getroot()


class BuildWithKernels(build_py):
    """Copy the package, and compile its kernels into the copy."""

    def run(self):
        """Compile after all is copied; not for an editable install, which has no copy."""
        super().run()
        if BACKEND['can_compile']() and not getattr(self, 'editable_mode', False):
            compile_kernels(Path(self.build_lib).resolve() / PACKAGE / 'kernels.sqlite')


def compile_kernels(target: Path):
    """Compile the kernels in a process of its own, which says how far it is."""
    target.unlink(missing_ok=True)
    paths = [str(HERE), *filter(None, [os.environ.get('PYTHONPATH')])]
    nodes = [name for name in os.environ.get(BACKEND['SWITCH'], '').split(',') if name in NODES]
    done = subprocess.run([sys.executable, '-m', PACKAGE, 'warm', *nodes,
                           '--into', str(target)],
                          cwd=HERE, check=False, stdin=subprocess.DEVNULL, env={
                              **os.environ, 'PYTHONPATH': os.pathsep.join(paths),
                              'PYTHONDONTWRITEBYTECODE': '1', 'NUMBA_DISABLE_JIT': '0'})
    if done.returncode:
        print('The kernels could not be compiled now, and will be when they are first used; '
              'LEGGED_DYNAMICS_COMPILE=0 leaves it out.', file=sys.stderr)


class PlatformDistribution(Distribution):
    """A distribution whose wheel is for one platform and Python where it has kernels."""

    def has_ext_modules(self):
        """Return whether machine code is in it."""
        return BACKEND['can_compile']() or super().has_ext_modules()


def share_files() -> list:
    """List config/, launch/ and examples/ as data files below share/, keeping their folders."""
    found = {}
    for folder in ('config', 'launch', 'examples'):
        for path in sorted((HERE / folder).rglob('*')):
            if path.is_file() and path.suffix in {'.yaml', '.urdf', '.rviz', '.py', '.xml',
                                                  '.osim', '.mot', '.md'}:
                parent = path.parent.relative_to(HERE)
                folder = found.setdefault(f'share/{PACKAGE}/{parent}', [])
                folder.append(str(path.relative_to(HERE)))
    return sorted(found.items())


EXTRAS = {
    'dds': ['cyclonedds>=11'],
    'sim': ['mujoco>=4'],
    'bag': ['rosbags>=0.10', 'mcap>=1.6', 'matplotlib>=3.5'],
    'cli': ['argcomplete>=3', 'rich>=13'],
    'c3d': ['ezc3d>=1.5'],
    # Inverse kinematics of markers; wheels for Linux on x86-64, macOS and Windows.
    'opensim': ['opensim>=4.5; python_version >= "3.11" and platform_machine != "aarch64"'],
    'tables': ['pandas>=2', 'pyarrow>=14'],
    'fleet': ['pandas>=2', 'pyarrow>=14'],
    'view': ['viser>=1.1'],
    # What builds the documents' site: not in 'all'.
    'docs': ['sphinx>=7.4', 'myst-nb>=1.2', 'numpydoc>=1.8', 'furo>=2024.8',
             'django-static-mathjax>=3.2.2,<4'],       # MathJax itself; needs no Django
    'rerun': ['rerun-sdk>=0.23'],
    'zoo': ['example-robot-data>=4.1'],       # 400 MB: not in 'all'
    'test': ['pytest>=7', 'pytest-xdist>=3.5', 'hypothesis>=6', 'pin>=2.7', 'quadprog>=0.1.11',
             'ruff>=0.6', 'mypy>=1.10', 'playwright>=1.40'],
}
# What the demo runs on, its page in the browser included, and nothing that only developers need.
EXTRAS['demo'] = [name for extra in ('dds', 'sim', 'bag', 'view', 'cli')
                  for name in EXTRAS[extra]]
NOT_IN_ALL = {'zoo', 'docs', 'demo', 'rerun'}

# Real ROS 2 from PyPI, built by a third party from open recipes: for tests, and for those who have
# no ROS 2 of their own. Not part of `all`, for where rclpy is, nodes run on it.
JAZZY = '; python_version >= "3.11" and python_version < "3.13" and platform_system == "Linux"'
ROS2 = [f'{name} {JAZZY}' for name in (
    'empy==3.3.4', 'ros-jazzy-rclpy[fastrtps]==7.1.6', 'ros-jazzy-sensor-msgs==5.3.6',
    'ros-jazzy-diagnostic-msgs==5.3.6', 'ros-jazzy-visualization-msgs==5.3.6',
    'ros-jazzy-nav-msgs==5.3.6', 'ros-jazzy-trajectory-msgs==5.3.6',
    'ros-jazzy-std-srvs==5.3.6')]

setup(
    name=PACKAGE,
    version=MANIFEST.findtext('version'),
    description=MANIFEST.findtext('description'),
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    author=MANIFEST.findtext('author'),
    maintainer=MANIFEST.findtext('maintainer'),
    maintainer_email=MANIFEST.find('maintainer').get('email'),
    license=MANIFEST.findtext('license'),
    project_urls={found.get('type'): found.text for found in MANIFEST.findall('url')},
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Developers',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        *(f'Programming Language :: Python :: {version}' for version in PYTHONS),
        'Topic :: Scientific/Engineering',
        'Typing :: Typed',
    ],
    packages=find_packages(include=[PACKAGE, f'{PACKAGE}.*']),
    package_data={PACKAGE: ['pages/assets/*', 'ros/*/definitions.msg',
                            'recordings/fleet/tables.txt', 'py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        *share_files(),
    ],
    python_requires='>=3.10',
    install_requires=BACKEND['NEEDS'],
    cmdclass={'build_py': BuildWithKernels},
    distclass=PlatformDistribution,
    extras_require={**EXTRAS, 'ros2': ROS2,
                    'all': [name for extra, names in EXTRAS.items()
                            if extra not in NOT_IN_ALL for name in names]},
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'legged-dynamics = legged_dynamics.cli:main',
            *(f'{name} = {entry.module}:main' for name, entry in sorted(NODES.items())),
        ],
    },
)
