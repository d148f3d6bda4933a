# Copyright 2026 legged_dynamics maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the pages of this folder, and the reference out of the docstrings (numpydoc)."""
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

_MANIFEST = ElementTree.parse(Path(__file__).resolve().parent.parent / 'package.xml').getroot()

project, author = 'legged_dynamics', _MANIFEST.findtext('author')
release = version = _MANIFEST.findtext('version')
project_copyright = f'2026 {author}'

extensions = ['myst_nb', 'numpydoc', 'sphinx.ext.autodoc', 'sphinx.ext.mathjax']
source_suffix = {'.md': 'myst-nb'}
exclude_patterns = ['_build']
# Notebooks are run when the site is built; a cell that fails is an error.
nb_execution_mode, nb_execution_timeout, nb_execution_raise_on_error = 'auto', 1800, True
html_theme, html_title = 'furo', 'legged_dynamics'
html_show_sourcelink = False
# Formulas need no network: MathJax in one file goes into the site.
_MATHJAX = files('mathjax') / 'static' / 'mathjax' / 'es5' / 'tex-svg.js'
mathjax_path = 'tex-svg.js'
html_static_path, html_css_files, html_js_files = (
    ['_static', str(_MATHJAX)], ['site.css'], ['site.js'])

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
# An option that is there counts as set, whatever its value: attributes without a text of their own
# are in the class's numpydoc section, and are not listed again.
autodoc_default_options = {'members': True}
