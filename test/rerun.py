# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""
Run pytest, and each test that fails once more by itself.

``python test/rerun.py -m pytest ...``. A test that passes by itself is named as unstable in the
last lines, and the exit code is that of a success; one that fails again fails.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

# More failures than these have one cause, and it is not a busy machine.
MOST = 10
FAILED, NO_TESTS = 1, 5     # pytest's exit codes


def main(arguments):
    """Return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        code = subprocess.run([sys.executable, *arguments, '-o', f'cache_dir={folder}']).returncode
        kept = Path(folder) / 'v' / 'cache' / 'lastfailed'
        failed = list(json.loads(kept.read_text())) if kept.exists() else []
    if code == NO_TESTS:
        return 0
    if code != FAILED or not 0 < len(failed) <= MOST:
        return code
    unstable, broken = [], []
    for test in failed:
        print(f'Once more, by itself: {test}', flush=True)
        again = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', test])
        (unstable if again.returncode == 0 else broken).append(test)
    for test in unstable:
        print(f'Unstable: failed among others and passed by itself: {test}')
    for test in broken:
        print(f'Failed twice: {test}')
    return FAILED if broken else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
