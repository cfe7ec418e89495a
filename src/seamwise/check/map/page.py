"""Map as one self-contained HTML page that loads nothing from the network."""

from collections.abc import Iterable, Iterator
from functools import partial
from html import escape as escape_html
from importlib.resources import files
from itertools import islice

from seamwise._text.escaping import escape
from seamwise._text.html_page import html_page
from seamwise._text.phrases import pluralize
from seamwise.check.map.graph import ErrorNode, Graph, SeamNode, encode_graph
from seamwise.check.map.text import MapText

MAX_PATH_LINES = 300
"""Number of lines about the paths of one error on the page; `--of` shows all."""

_FILES = files('seamwise.check.map') / 'page_files'


def render_map_page(graph: Graph) -> str:
    """Return an HTML page with a search, and the paths of each error as a drawing and as text.

    Errors and seams have links of their own, as in `#error=shop.errors.NoSuchOrder`.
    """
    style, script = (
        _FILES.joinpath(name).read_text(encoding='utf-8') for name in ('map.css', 'map.js')
    )
    text = MapText(graph)
    body = f"""\
<a class="skip" href="#map">Skip to the map</a>
<header>
<h1>Map of errors</h1>
<p>{_counts(graph)}. Each error has its origins, the functions that propagate it, and its ends.</p>
<div role="search" id="search" hidden>
<label for="query">Search errors, functions, seams and files <kbd aria-hidden="true">/</kbd></label>
<input id="query" type="search" autocomplete="off" spellcheck="false" aria-describedby="count">
<p id="count" role="status"></p>
</div>
</header>
<main id="map" tabindex="-1">
<section id="picture" aria-labelledby="overview" hidden>
<h2 id="overview">The whole program</h2>
<div class="drawing" hidden></div>
</section>
<section aria-labelledby="seams">
<h2 id="seams">Seams</h2>
{''.join(_seam_article(seam, text) for seam in graph.seams)}</section>
<section aria-labelledby="errors">
<h2 id="errors">Errors</h2>
{''.join(_error_article(error, text) for error in graph.errors)}</section>
</main>
<script type="application/json" id="graph">{_script_json(graph)}</script>"""
    return html_page('Seamwise: map of errors', body, style=style, script=script)


def _counts(graph: Graph) -> str:
    counts = [
        pluralize(len(graph.errors), 'error'),
        pluralize(len(graph.functions), 'function'),
        pluralize(len(graph.seams), 'seam'),
    ]
    return ', '.join(counts)


def _script_json(graph: Graph) -> str:
    """Return the graph as JSON that cannot end a `script` element (HTML, section 4.12.1.3)."""
    return encode_graph(graph).replace('<', '\\u003c')


def _escape_text(text: str) -> str:
    return escape_html(escape(text), quote=False)


_escape_attribute = partial(escape_html, quote=True)


def _seam_article(seam: SeamNode, text: MapText) -> str:
    arriving = text.arriving(seam)
    listed = {error for table in seam.tables for error in table.errors}
    unused = sorted(listed - arriving.keys())
    body = _error_list('Arriving here', arriving, text)
    body += _error_list('In its tables, but never arriving', unused, text)
    return _article(f'seam={seam.name}', seam.name, pluralize(len(arriving), 'error'), body)


def _error_list(title: str, errors: Iterable[str], text: MapText) -> str:
    items = ''.join(
        f'<li><a href="#{_escape_attribute(f"error={error}")}">'
        f'{_escape_text(text.labels[error])}</a></li>'
        for error in errors
    )
    return f'<h4>{title}</h4>\n<ul>{items}</ul>\n' if items else ''


def _error_article(error: ErrorNode, text: MapText) -> str:
    label = text.labels[error.name]
    location = f', {error.place.path}:{error.place.line}' if error.place else ''
    seams = ', '.join(
        f'<a href="#{_escape_attribute(f"seam={seam}")}">{_escape_text(seam)}</a>'
        for seam in text.traces[error.name].seams()
    )
    shown_by = f'. Shown by {seams}' if seams else ''
    lines = escape_html('\n'.join(_path_lines(error, text)), quote=False)
    facts = f'<code>{_escape_text(error.name)}</code>{_escape_text(location)}{shown_by}.'
    body = f"""<p class="facts">{facts}
<a href="#{_escape_attribute(f'error={error.name}')}">Link to {_escape_text(label)}</a></p>
<div class="drawing" hidden></div>
<h4>As text</h4>
<pre>{lines}</pre>
"""
    tag = error.tag if error.tag != error.name.rpartition('.')[2] else ''
    category = ', '.join(filter(None, [error.category, tag]))
    return _article(f'error={error.name}', label, category, body, text.summary(error))


def _path_lines(error: ErrorNode, text: MapText) -> Iterator[str]:
    lines = text.path_lines(error)
    yield from islice(lines, MAX_PATH_LINES)
    if next(lines, None) is not None:
        yield f'… and more: seamwise map … --of {escape(error.name)}'


def _article(id_: str, title: str, category: str, body: str, summary: str = '') -> str:
    message = f' <span class="message">{_escape_text(summary)}</span>' if summary else ''
    heading = (
        f'<h3>{_escape_text(title)}</h3> <span class="category">{_escape_text(category)}</span>'
    )
    return f"""<article id="{_escape_attribute(id_)}">
<details>
<summary>{heading}{message}</summary>
{body}</details>
</article>
"""
