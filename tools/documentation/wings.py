"""Wings of the documentation: the pages for services and those for agents.

A wing is a list of the start page. The search labels its results with their wing, and can leave out
those of the other one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sphinx import addnodes
from sphinx.application import Sphinx

WINGS = ('Services', 'Agents')
"""Captions of the lists."""


def add_wings(app: Sphinx) -> None:
    """Pass the pages of each wing to the template of the search page."""
    app.connect('html-page-context', _add_to_search)


def pages_below(page: str, lists: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a page and all pages below it.

    >>> list(pages_below('guards', {'guards': ['guards/retry', 'outage']}))
    ['guards', 'guards/retry', 'outage']
    """
    yield page
    for name in lists.get(page, ()):
        yield from pages_below(name, lists)


def _add_to_search(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    if page == 'search':
        root = app.env.tocs[app.config.root_doc]
        wings = {
            toctree['caption']: sorted(
                app.builder.get_target_uri(name)
                for entry in toctree['includefiles']
                for name in pages_below(entry, app.env.toctree_includes)
            )
            for toctree in root.findall(addnodes.toctree)
            if toctree['caption'] in WINGS
        }
        context['wings'] = json.dumps(wings)
