"""Corrections of what Sphinx and Furo write; `docs/conf.py` adds them to the build."""

import inspect
import re
import zlib
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from tools.documentation.attributes import find_attribute

SHOWN = 2
"""Overloads shown of several that differ only in the number of their arguments."""

_MARKUP = {
    '<img alt=': '<img loading="lazy" alt=',
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
}
_THEMED_PICTURE = re.compile(
    r'(?P<image><img [^>]*) class="(?P<theme>only-(?:light|dark)(?: \w+)?)"'
    r'(?P<end>[^>]* src="(?P<address>[^"]+)"[^>]*>)'
)
_PARAMETERS = re.compile(r'<dl>\n((?:<dd>.*</dd>\n)+)</dl>')
_PRIVATE_DEFAULT = re.compile(r'(?<== )_\w+\b(?![.(\[])')
_REPEATED = re.compile(r'(\S.*?)(?:(?:, | \| )\1)+(?![\w\[])')


def add_corrections(app: Sphinx) -> None:
    """Correct the pages of a build."""
    # Before napoleon.
    app.connect('autodoc-process-docstring', _prepare_docstring, priority=400)
    app.connect('autodoc-process-signature', _repair_signature)
    app.connect('doctree-read', _shorten_overloads)
    app.connect('doctree-resolved', _replace_abbreviations)
    app.connect('html-page-context', _link_copy)
    app.connect('build-finished', _finish_pages)


def shape_of_overload(signature: str) -> str:
    """Return a signature without what overloads for more arguments repeat.

    >>> shape_of_overload('both(r1: R[T1], r2: R[T2], /) → R[tuple[T1, T2]]')
    'both(r#: R[T#], /) → R[tuple[T#]]'
    >>> shape_of_overload('both(r1: R[T1], /) → R[tuple[T1]]')
    'both(r#: R[T#], /) → R[tuple[T#]]'
    """
    shape = re.sub(r'\d+', '#', signature)
    while (shorter := _REPEATED.sub(r'\1', shape)) != shape:
        shape = shorter
    return shape


def _prepare_docstring(
    _app: Sphinx, what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    # pytest reads this mark in the docstring of a module.
    lines[:] = [line for line in lines if not line.startswith('PYTEST_DONT_REWRITE')]
    if what in {'attribute', 'data', 'property'} and lines:
        # napoleon would take words before a colon as the type of an attribute.
        lines[:1] = lines[0].replace(': ', ':\n', 1).splitlines()


def _repair_signature(
    _app: Sphinx,
    _what: str,
    _name: str,
    value: Any,
    _options: object,
    arguments: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    # Sphinx 9 writes `*args: ~typing.~P` for `*args: P.args`, and defaults as `repr` shows them. It
    # cannot read either, and shows such a signature as it is.
    if arguments is not None:
        arguments = re.sub(r'(\*\w+: )~typing\.~(\w+)', r'\1\2.args', arguments)
        arguments = arguments.replace('**kwargs: P.args', '**kwargs: P.kwargs')
        arguments = re.sub(r'\[\[~(\w+)\], ', r'[\1, ', arguments)
        arguments = re.sub(r'<(?:built-in )?(?:function|method) (\w+)[^>]*>', r'\1', arguments)
        arguments = _PRIVATE_DEFAULT.sub(
            lambda match: find_attribute(inspect.unwrap(value).__module__, match[0]).expression,
            arguments,
        )
    return arguments, returned


def _shorten_overloads(_app: Sphinx, doctree: nodes.document) -> None:
    for description in doctree.findall(addnodes.desc):
        signatures = [
            node for node in description.children if isinstance(node, addnodes.desc_signature)
        ]
        left_out = 0
        for _shape, group in groupby(signatures, lambda node: shape_of_overload(node.astext())):
            for signature in list(group)[SHOWN:]:
                description.remove(signature)
                left_out += 1
        if left_out:
            _add_note(description, left_out)


def _add_note(description: addnodes.desc, left_out: int) -> None:
    text = f'There are {left_out} more overloads of these forms, for more arguments.'
    content = next(node for node in description.children if isinstance(node, addnodes.desc_content))
    content.insert(0, nodes.paragraph('', '', nodes.emphasis('', text)))


def _replace_abbreviations(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    # The `*` of a signature is an abbreviation, which the Markdown builder does not know.
    if app.builder.name == 'markdown':
        for node in list(doctree.findall(nodes.abbreviation)):
            node.replace_self(nodes.Text(node.astext()))


def _finish_pages(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == 'html':
        for path in Path(app.outdir).rglob('*.html'):
            path.write_text(complete_markup(path.read_text('utf-8')), encoding='utf-8')
        inventory = Path(app.outdir, 'objects.inv')
        inventory.write_bytes(without_private_names(inventory.read_bytes()))


def without_private_names(inventory: bytes) -> bytes:
    """Return an inventory without the private modules that define public names.

    Sphinx needs them for links from signatures, but no other project should refer to them.
    """
    *head, body = inventory.split(b'\n', 4)
    lines = zlib.decompress(body).splitlines(keepends=True)
    public = [line for line in lines if b'._' not in line.split(b' ', 1)[0]]
    return b'\n'.join([*head, zlib.compress(b''.join(public), 9)])


def _link_copy(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], doctree: object
) -> None:
    """Add a link to the Markdown copy of a page, which lies beside it."""
    if doctree is not None:
        link = '<link rel="alternate" type="text/markdown" href="index.md" />'
        context['metatags'] = f'{context.get("metatags", "")}\n{link}'


def complete_markup(html: str) -> str:
    """Return a page with the attributes that the theme omits.

    WAI-ARIA requires the levels and names. A picture for the other theme is not loaded. Diagrams
    and screenshots are links to their full size, because their text is small on a phone.

    >>> complete_markup('<p class="caption" role="heading">')
    '<p class="caption" role="heading" aria-level="2">'
    """
    for omitted, complete in _MARKUP.items():
        html = html.replace(omitted, complete)
    html = _THEMED_PICTURE.sub(
        r'<a class="picture \g<theme>" href="\g<address>">\g<image>\g<end></a>', html
    )
    return _PARAMETERS.sub(_parameter_lines, html)


def _parameter_lines(match: re.Match[str]) -> str:
    # The list of definitions has no terms.
    lines = match[1].replace('<dd>', '<span class="sig-line">').replace('</dd>', '</span>')
    return f'<span class="sig-lines">\n{lines}</span>'
