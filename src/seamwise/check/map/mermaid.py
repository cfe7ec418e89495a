"""Map as a flowchart of Mermaid (https://mermaid.js.org/syntax/flowchart.html)."""

from collections.abc import Iterator, Mapping, Sequence
from re import compile as pattern

from seamwise._text.escaping import escape
from seamwise.check.map.edges import EdgeKind, drawn_edges
from seamwise.check.map.graph import FunctionNode, Graph
from seamwise.check.map.labels import (
    creation_lines,
    error_labels,
    function_label,
    functions_by_module,
    label_lines,
)

_MAX_EDGES = 500
"""Default limit of Mermaid (`maxEdges`)."""

_MAX_CHARACTERS = 50_000
"""Default limit of Mermaid (`maxTextSize`)."""

_ARROWS: Mapping[EdgeKind, str] = {
    'passes': '-->',
    'handled': '--x',
    'lost': '--o',
    'override': '-.->',
    'show': '==>',
}

_SPECIAL = pattern(r'[^\w .,:/()…-]')
"""Characters that may have a meaning in a quoted label, such as `#`, `&` and backticks."""


def render_mermaid(graph: Graph) -> str:
    """Return a graph as a flowchart, with modules as subgraphs and errors as labels of edges."""
    ids = {function.name: f'f{number}' for number, function in enumerate(graph.functions)}
    seam_ids = {seam.name: f's{number}' for number, seam in enumerate(graph.seams)}
    return ''.join(
        [
            'flowchart LR\n',
            *_functions(graph, ids),
            *_seams(seam_ids),
            *_edges(graph, ids, seam_ids),
            '  classDef foreign stroke-dasharray: 4 4\n',
        ]
    )


def is_too_large(graph: Graph, text: str) -> bool:
    """Return whether Mermaid refuses a flowchart with its default limits."""
    return len(drawn_edges(graph)) > _MAX_EDGES or len(text) > _MAX_CHARACTERS


def _functions(graph: Graph, ids: Mapping[str, str]) -> Iterator[str]:
    created = creation_lines(graph)
    for number, (module, functions) in enumerate(functions_by_module(graph).items()):
        if module:
            yield f'  subgraph m{number} [{_quote(module)}]\n'
        for function in functions:
            yield f'    {_node(function, ids[function.name], created.get(function.name, []))}\n'
        if module:
            yield '  end\n'


def _node(function: FunctionNode, id_: str, created: Sequence[str]) -> str:
    css_class = ':::foreign' if function.place is None else ''
    return f'{id_}[{_quote(function_label(function), *created)}]{css_class}'


def _seams(ids: Mapping[str, str]) -> Iterator[str]:
    for name, id_ in ids.items():
        yield f'  {id_}([{_quote(name)}])\n'


def _edges(graph: Graph, ids: Mapping[str, str], seam_ids: Mapping[str, str]) -> Iterator[str]:
    labels = error_labels(graph)
    for edge in drawn_edges(graph):
        target = seam_ids[edge.target] if edge.kind == 'show' else ids[edge.target]
        label = _quote(*label_lines(edge.errors, labels))
        yield f'  {ids[edge.source]} {_ARROWS[edge.kind]}|{label}| {target}\n'


def _quote(*lines: str) -> str:
    """Return lines as a label; special characters become numeric entities."""
    escaped = (_SPECIAL.sub(lambda match: f'#{ord(match[0])};', escape(line)) for line in lines)
    return f'"{"<br/>".join(escaped)}"'
