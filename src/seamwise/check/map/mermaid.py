"""The map for Mermaid (https://mermaid.js.org/syntax/flowchart.html)."""

from collections.abc import Iterator, Mapping
from re import compile as pattern

from seamwise._text.escaping import escape
from seamwise.check.map.edges import Kind, edges
from seamwise.check.map.graph import Function, Graph
from seamwise.check.map.labels import by_module, error_labels, function_label, listed, made_in

MOST_EDGES = 500
"""Mermaid refuses more, unless the page that draws it is configured otherwise (`maxEdges`)."""

MOST_CHARACTERS = 50_000
"""Likewise (`maxTextSize`)."""

ARROWS: Mapping[Kind, str] = {
    'passes': '-->',
    'handled': '--x',
    'lost': '--o',
    'override': '-.->',
    'show': '==>',
}

_SPECIAL = pattern(r'[^\w .,:/()…-]')
"""In a quoted label, quotes, `#`, `&`, angle brackets and backticks mean something."""


def as_mermaid(graph: Graph) -> str:
    """Draw a graph as a flowchart: modules as subgraphs, errors on the edges, what a function makes in its box."""
    ids = {one.name: f'f{number}' for number, one in enumerate(graph.functions)}
    seams = {one.name: f's{number}' for number, one in enumerate(graph.seams)}
    end = '  classDef foreign stroke-dasharray: 4 4\n'
    return ''.join(
        ['flowchart LR\n', *_functions(graph, ids), *_seams(seams), *_edges(graph, ids, seams), end]
    )


def is_too_large(graph: Graph, text: str) -> bool:
    """Whether Mermaid refuses a drawing as it comes."""
    return len(edges(graph)) > MOST_EDGES or len(text) > MOST_CHARACTERS


def _functions(graph: Graph, ids: Mapping[str, str]) -> Iterator[str]:
    made = made_in(graph)
    for number, (module, functions) in enumerate(by_module(graph).items()):
        if module:
            yield f'  subgraph m{number} [{_quoted(module)}]\n'
        for one in functions:
            yield f'    {_node(one, ids[one.name], made.get(one.name, []))}\n'
        if module:
            yield '  end\n'


def _node(function: Function, own: str, made: list[str]) -> str:
    look = ':::foreign' if function.place is None else ''
    return f'{own}[{_quoted(function_label(function), *made)}]{look}'


def _seams(ids: Mapping[str, str]) -> Iterator[str]:
    for name, own in ids.items():
        yield f'  {own}([{_quoted(name)}])\n'


def _edges(graph: Graph, ids: Mapping[str, str], seams: Mapping[str, str]) -> Iterator[str]:
    labels = error_labels(graph)
    for edge in edges(graph):
        target = seams[edge.target] if edge.kind == 'show' else ids[edge.target]
        yield f'  {ids[edge.source]} {ARROWS[edge.kind]}|{_quoted(*listed(edge.errors, labels))}| {target}\n'


def _quoted(*lines: str) -> str:
    """Write lines as a label; every sign that might mean something is a number."""
    return f'"{"<br/>".join(_SPECIAL.sub(lambda found: f"#{ord(found[0])};", escape(one)) for one in lines)}"'
