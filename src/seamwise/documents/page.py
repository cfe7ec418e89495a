"""The catalogue as one HTML page that loads no other resources."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from html import escape
from importlib.resources import files
from itertools import groupby

from msgspec import Raw

from seamwise._text.html_page import html_page
from seamwise._text.phrases import pluralize
from seamwise.documents.shape import Answer, ErrorEntry, Example, Field
from seamwise.documents.text import example_lines, field_line

_text = partial(escape, quote=False)
"""Escape text between tags; in an attribute, `html.escape` also escapes quotes."""

_PAGE = files('seamwise.documents') / 'page_files'


def render_html(entries: Iterable[ErrorEntry], title: str) -> str:
    """Return the page, with a search and an anchor for each tag, e.g. `#FileNotFound`.

    If several classes have the same tag, the anchor of each is its name.
    """
    style, script = (
        _PAGE.joinpath(name).read_text(encoding='utf-8') for name in ('page.css', 'page.js')
    )
    entry_list = list(entries)
    body = f"""\
<a class="skip" href="#errors">Skip to the errors</a>
<header>
<h1>Every error</h1>
<p>{_text(title)}, {pluralize(len(entry_list), 'error')}: \
the meaning of each, an example, output at each seam, and advice.</p>
<div role="search" id="search" hidden>
<label for="query">Search tags, codes and texts <kbd aria-hidden="true">/</kbd></label>
<input id="query" type="search" autocomplete="off" spellcheck="false" aria-describedby="count">
<p id="count" role="status"></p>
</div>
</header>
<main id="errors" tabindex="-1">
{''.join(_sections(entry_list))}</main>"""
    return html_page(f'{title}: every error', body, style=style, script=script)


def _sections(entries: Iterable[ErrorEntry]) -> Iterator[str]:
    entry_list = list(entries)
    tags = Counter(entry.tag for entry in entry_list)
    for union, group in groupby(entry_list, lambda entry: entry.union):
        anchor = f'union-{union or "none"}'
        heading = union or 'Errors of no union'
        yield f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{heading}</h2>\n'
        for entry in group:
            yield _article(entry, entry.name if tags[entry.tag] > 1 else entry.tag)
        yield '</section>\n'


def _article(entry: ErrorEntry, anchor: str) -> str:
    tag, anchor = escape(entry.tag), escape(anchor)
    retryable = 'retryable' if entry.retryable else 'not retryable'
    return f"""<article id="{anchor}" data-words="{escape(_words(entry))}">
<details>
<summary>
<h3>{tag}</h3> <span class="category">{entry.category}</span>
<span class="message">{_text(entry.message)}</span>
</summary>
<p>{_text(entry.meaning)}</p>
<p class="facts">{_class(entry)}{retryable}, recovery {entry.recovery}.
<a href="#{anchor}">Link to {tag}</a></p>
{_fields(entry.fields)}<h4>What to do</h4>
{_list(entry.advice)}
<h4>Example</h4>
{_example(entry.example)}
<h4>At each seam</h4>
{''.join(map(_answer, entry.answers))}</details>
</article>
"""


def _words(entry: ErrorEntry) -> str:
    summaries = [answer.summary for answer in entry.answers if answer.summary]
    words = [
        entry.tag,
        entry.name,
        entry.union,
        entry.category,
        entry.meaning,
        entry.message,
        *summaries,
    ]
    return ' '.join(words).casefold()


def _class(entry: ErrorEntry) -> str:
    return '' if entry.tag == entry.name else f'Class <code>{_text(entry.name)}</code>, '


def _fields(fields: Iterable[Field]) -> str:
    lines = _list(map(field_line, fields))
    return f'<h4>Fields</h4>\n{lines}\n' if fields else ''


def _list(items: Iterable[str]) -> str:
    return f'<ul>{"".join(f"<li>{_text(item)}</li>" for item in items)}</ul>'


def _example(example: Example) -> str:
    first, *rest = example_lines(example)
    return f'<p>{_text(first)}</p>' + (f'\n<pre>{_text(chr(10).join(rest))}</pre>' if rest else '')


def _answer(answer: Answer) -> str:
    name = f'{answer.seam} ({answer.where})' if answer.where else answer.seam
    if answer.output is None:
        summary = answer.summary or 'never reaches this seam'
        return f'<h5>{_text(name)}: {_text(summary)}</h5>\n'
    output = _format_output(answer.seam, answer.output)
    return f'<h5>{_text(name)}: {_text(answer.summary or "")}</h5>\n<pre>{_text(output)}</pre>\n'


def _format_output(seam: str, output: Raw) -> str:
    value = json.loads(bytes(output))
    return str(value['text']) if seam == 'cli' else json.dumps(value, ensure_ascii=False, indent=1)
