# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ROS 2 components: convert, update, publish."""
import os

# Threads of the linear algebra on matrices of 20 rows cost more than they give. It is read when
# numpy is loaded first: where that has been before, nothing changes.
for _name in ('OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'OMP_NUM_THREADS'):
    os.environ.setdefault(_name, '1')
