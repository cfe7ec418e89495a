"""The map as one HTML page: everything is inside it, and nothing is fetched."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import sha256
from html import escape as escape_html
from importlib.resources import files
from itertools import islice

from seamwise._text.escaping import escape
from seamwise._text.phrases import pluralize
from seamwise.check.map.graph import Error, Graph, Seam
from seamwise.check.map.shape import as_json
from seamwise.check.map.text import Words

MOST_LINES = 300
"""So many lines tell the ways of one error on the page; `--of` tells all."""

_PARTS = files('seamwise.check.map') / 'page_files'


def as_html(graph: Graph) -> str:
    """Give the page: search, the ways of each error in words and drawn, links as `#error=shop.errors.NoSuchOrder`."""
    style, script = (
        _PARTS.joinpath(name).read_text(encoding='utf-8') for name in ('map.css', 'map.js')
    )
    policy = f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    words = Words(graph)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>Seamwise: the map of errors</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#map">Skip to the map</a>
<header>
<h1>The map of errors</h1>
<p>{_counts(graph)}: where each error is made, through which functions it travels, and where it ends.</p>
<div role="search" id="search" hidden>
<label for="query">Search errors, functions, seams and files <kbd aria-hidden="true">/</kbd></label>
<input id="query" type="search" autocomplete="off" spellcheck="false" aria-describedby="count">
<p id="count" role="status"></p>
</div>
</header>
<main id="map" tabindex="-1">
<section aria-labelledby="seams">
<h2 id="seams">Seams</h2>
{''.join(_seam(one, words) for one in graph.seams)}</section>
<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
{''.join(_error(one, words) for one in graph.errors)}</section>
</main>
<script type="application/json" id="graph">{_inside_script(graph)}</script>
<script>{script}</script>
</body>
</html>
"""


def _counts(graph: Graph) -> str:
    return f'{pluralize(len(graph.errors), "error")}, {pluralize(len(graph.functions), "function")}, {pluralize(len(graph.seams), "seam")}'


def _hash(inline: str) -> str:
    """Name an inline text for a content security policy (CSP 3, 6.7.2): nothing else may be run or applied."""
    return f"'sha256-{b64encode(sha256(inline.encode()).digest()).decode()}'"


def _inside_script(graph: Graph) -> str:
    """Write the graph so that nothing in it ends the element that it stands in (HTML, 4.12.1.3)."""
    return as_json(graph).replace('<', '\\u003c')


def _text(text: str) -> str:
    return escape_html(escape(text), quote=False)


_attribute = partial(escape_html, quote=True)


def _seam(seam: Seam, words: Words) -> str:
    arriving = words.arriving(seam)
    shown = {error for table in seam.tables for error in table.errors}
    idle = sorted(shown - arriving.keys())
    parts = [
        _links('Arriving here', arriving, words),
        _links('In its tables, and arriving from nowhere here', idle, words),
    ]
    return _article(
        f'seam={seam.name}', seam.name, f'{pluralize(len(arriving), "error")}', ''.join(parts)
    )


def _links(title: str, errors: Iterable[str], words: Words) -> str:
    items = ''.join(
        f'<li><a href="#{_attribute(f"error={one}")}">{_text(words.labels[one])}</a></li>'
        for one in errors
    )
    return f'<h4>{title}</h4>\n<ul>{items}</ul>\n' if items else ''


def _error(error: Error, words: Words) -> str:
    place = f', {error.place.path}:{error.place.line}' if error.place else ''
    seams = ', '.join(
        f'<a href="#{_attribute(f"seam={one}")}">{_text(one)}</a>'
        for one in words.trails[error.name].seams()
    )
    told = '\n'.join(_told(error, words))
    body = f"""<p class="facts"><code>{_text(error.name)}</code>{_text(place)}{seams and f'. Shown by {seams}'}.
<a href="#{_attribute(f'error={error.name}')}">Link to {_text(words.labels[error.name])}</a></p>
<div class="drawing" hidden></div>
<h4>In words</h4>
<pre>{_text_lines(told)}</pre>
"""
    kind = ', '.join(
        filter(
            None, [error.category, error.tag if error.tag != error.name.rpartition('.')[2] else '']
        )
    )
    return _article(f'error={error.name}', words.labels[error.name], kind, body, words.sum(error))


def _told(error: Error, words: Words) -> Iterator[str]:
    lines = words.ways(error)
    yield from islice(lines, MOST_LINES)
    if next(lines, None) is not None:
        yield f'… and more: seamwise map … --of {escape(error.name)}'


def _article(own: str, name: str, kind: str, body: str, message: str = '') -> str:
    told = f' <span class="message">{_text(message)}</span>' if message else ''
    return f"""<article id="{_attribute(own)}">
<details>
<summary><h3>{_text(name)}</h3> <span class="category">{_text(kind)}</span>{told}</summary>
{body}</details>
</article>
"""


def _text_lines(text: str) -> str:
    return escape_html(text, quote=False)
