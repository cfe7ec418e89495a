"""Map in the DOT language of Graphviz (https://graphviz.org/doc/info/lang.html)."""

from collections.abc import Iterator, Mapping, Sequence

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

_HEAD = """\
digraph seamwise {
  rankdir=LR
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [fontname="sans-serif", fontsize=10]
"""

_EDGE_ATTRIBUTES: Mapping[EdgeKind, str] = {
    'passes': '',
    'handled': ', style=dashed, arrowhead=tee',
    'lost': ', style=dashed, arrowhead=dot, color=red',
    'override': ', style=dotted, arrowhead=empty',
    'show': ', style=bold',
}


def render_dot(graph: Graph) -> str:
    """Return a graph as DOT, with modules as clusters and errors as labels of edges."""
    return ''.join([_HEAD, *_clusters(graph), *_seams(graph), *_edges(graph), '}\n'])


def _clusters(graph: Graph) -> Iterator[str]:
    created = creation_lines(graph)
    for number, (module, functions) in enumerate(functions_by_module(graph).items()):
        nodes = [_function(function, created.get(function.name, [])) for function in functions]
        if not module:
            yield from nodes
            continue
        yield f'  subgraph cluster_{number} {{\n    label={_quote(module)}\n'
        yield from (f'  {node}' for node in nodes)
        yield '  }\n'


def _function(function: FunctionNode, created: Sequence[str]) -> str:
    attributes = [f'label={_quote(function_label(function), *created)}']
    if function.place is None:
        attributes.append('style="rounded,dashed"')
    else:
        attributes += ['penwidth=2'] if created else []
        attributes.append(f'tooltip={_quote(f"{function.place.path}:{function.place.line}")}')
    return f'  {_quote(f"function {function.name}")} [{", ".join(attributes)}]\n'


def _seams(graph: Graph) -> Iterator[str]:
    for seam in graph.seams:
        attributes = f'label={_quote(seam.name)}, shape=cds, style=solid'
        yield f'  {_quote(f"seam {seam.name}")} [{attributes}]\n'


def _edges(graph: Graph) -> Iterator[str]:
    labels = error_labels(graph)
    for edge in drawn_edges(graph):
        source = _quote(f'function {edge.source}')
        target = _quote(f'{"seam" if edge.kind == "show" else "function"} {edge.target}')
        label = _quote(*label_lines(edge.errors, labels))
        yield f'  {source} -> {target} [label={label}{_EDGE_ATTRIBUTES[edge.kind]}]\n'


def _quote(*lines: str) -> str:
    """Return lines as a DOT string; HTML entities and backslashes are escaped."""
    escaped = (
        escape(line).replace('&', '&amp;').replace('\\', '\\\\').replace('"', '\\"')
        for line in lines
    )
    return '"' + '\\n'.join(escaped) + '"'
