# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 components: convert, update, publish."""
import os

# Threads of the linear algebra cost more than they save on matrices of 20 rows. numpy reads these
# variables when it is imported first; later they have no effect.
for _name in ('OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS'):
    os.environ.setdefault(_name, '1')
