"""Configuration of the documentation site; `python -m tools.documentation` builds it."""

import os
import tomllib
from importlib.metadata import version as installed_version
from pathlib import Path

from sphinx.application import Sphinx
from tools.documentation.corrections import add_corrections
from tools.documentation.try_it import add_try_it
from tools.documentation.wings import add_wings

project = 'Seamwise'
author = 'The Seamwise developers'
project_copyright = '2026, The Seamwise developers. MIT License'
version = release = installed_version('seamwise')
with (Path(__file__).parents[1] / 'pyproject.toml').open('rb') as _settings:
    _site: str = tomllib.load(_settings)['project'].get('urls', {}).get('Documentation', '')

extensions = [
    'myst_parser',
    'sphinx.ext.autodoc',
    'sphinx.ext.napoleon',
    'sphinx_markdown_builder',
    'sphinx_copybutton',
    'sphinx_design',
    'sphinxext.opengraph',
]

# Anchors of headings as on GitHub, so that one link works in both places.
myst_heading_anchors = 4
myst_enable_extensions = ['attrs_inline', 'colon_fence']

# Docstrings use single backticks for code.
default_role = 'code'
autodoc_typehints = 'signature'
autodoc_member_order = 'bysource'
autodoc_preserve_defaults = True
add_module_names = False
maximum_signature_line_length = 90  # columns
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
toc_object_entries_show_parents = 'hide'

# Links of the Markdown copies lead to names.
markdown_anchor_signatures = True

html_theme = 'furo'
html_title = 'Seamwise'
html_sidebars = {
    '**': [
        'sidebar/brand.html',
        'sidebar/search.html',
        'sidebar/scroll-start.html',
        'sidebar/navigation.html',
        'sidebar/versions.html',
        'sidebar/scroll-end.html',
    ]
}
# The host of the site sets it: `1.0=/1.0/ 1.1=/1.1/`.
html_context = {
    'versions': [
        entry.split('=', 1) for entry in os.environ.get('SEAMWISE_DOCS_VERSIONS', '').split()
    ]
}
html_static_path = ['_static']
html_css_files = ['site.css']
html_js_files = ['site.js']
html_favicon = '_static/icon.svg'
html_copy_source = False
html_show_sphinx = False
templates_path = ['_templates']

copybutton_prompt_text = r'>>> |\.\.\. |\$ '
copybutton_prompt_is_regexp = True

# Search engines and previews of links name the page at this address.
html_baseurl = ogp_site_url = f'{_site.rstrip("/")}/' if _site else ''

# A description for search engines and previews of links: the beginning of the page.
ogp_description_length = 160
ogp_enable_meta_description = True
ogp_social_cards = {'enable': False}
# Previews need a whole URL; `python -m tools.screenshots` draws the picture.
ogp_image = '_static/card.png' if ogp_site_url else None
ogp_image_alt = 'Seamwise: a forgotten error is a red line'

# Examples in the pages use these hosts.
linkcheck_ignore = [r'https?://(?:localhost|127\.0\.0\.1|[\w.-]*\bexample\b)']
linkcheck_timeout = 20  # seconds
linkcheck_retries = 2


def setup(app: Sphinx) -> None:
    """Add the corrections of the pages, the playground, and the wings to the search."""
    add_corrections(app)
    add_try_it(app)
    add_wings(app)
