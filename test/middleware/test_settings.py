# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
from legged_dynamics.middleware.dialect import StandaloneDialect
from legged_dynamics.middleware.loopback import LoopbackBus
from legged_dynamics.middleware.parameters import Parameter
from legged_dynamics.middleware.settings import declare_settings, follow_settings
from legged_dynamics.schema import Setting

TABLE = (Setting('gain', 1.0, 'N/m', 'Stiffness.', 0.0, 10.0),
         Setting('joints', [], '', 'Names.'))


def test_values_follow_changes_at_run_time_within_their_range():
    node = LoopbackBus().create_node('node', parameters={'gain': 2.0})
    values = declare_settings(node, StandaloneDialect(), TABLE)
    follow_settings(node, StandaloneDialect(), TABLE, values)
    assert values == {'gain': 2.0, 'joints': []}
    assert node.set_parameters_atomically([Parameter('gain', 5.0)]).successful
    assert values['gain'] == 5.0
    refused = node.set_parameters_atomically([Parameter('gain', 50.0)])
    assert not refused.successful
    assert values['gain'] == 5.0
    assert node.set_parameters_atomically([Parameter('joints', ['a', 'b'])]).successful
    assert values['joints'] == ['a', 'b']
