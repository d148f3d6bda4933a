# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the pages of this folder, and the reference out of the docstrings (numpydoc)."""
from pathlib import Path
from xml.etree import ElementTree

_MANIFEST = ElementTree.parse(Path(__file__).resolve().parent.parent / 'package.xml').getroot()

project, author = 'legged_dynamics', _MANIFEST.findtext('author')
release = version = _MANIFEST.findtext('version')
project_copyright = f'2026 {author}'

extensions = ['myst_parser', 'numpydoc', 'sphinx.ext.autodoc', 'sphinx.ext.mathjax']
source_suffix = {'.md': 'markdown'}
exclude_patterns = ['_build']
html_theme, html_title = 'furo', 'legged_dynamics'
html_show_sourcelink = False

myst_heading_anchors = 4
myst_enable_extensions = ['dollarmath']
# Blocks that are no program's.
highlight_language = 'none'

# Shapes and units stand where numpydoc has types, and stay as they are written.
numpydoc_xref_param_type = False
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
autosummary_generate = False
autodoc_typehints = 'none'
autodoc_member_order = 'bysource'
autodoc_default_options = {'members': True, 'undoc-members': False, 'show-inheritance': False}
