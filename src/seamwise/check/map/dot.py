"""The map for Graphviz (https://graphviz.org/doc/info/lang.html)."""

from collections.abc import Iterator, Mapping

from seamwise._text.escaping import escape
from seamwise.check.map.edges import Kind, edges
from seamwise.check.map.graph import Function, Graph
from seamwise.check.map.labels import by_module, error_labels, function_label, listed, made_in

HEAD = """\
digraph seamwise {
  rankdir=LR
  node [shape=box, style=rounded, fontname="sans-serif"]
  edge [fontname="sans-serif", fontsize=10]
"""

LOOKS: Mapping[Kind, str] = {
    'passes': '',
    'handled': ', style=dashed, arrowhead=tee',
    'lost': ', style=dashed, arrowhead=dot, color=red',
    'override': ', style=dotted, arrowhead=empty',
    'show': ', style=bold',
}
"""How an edge looks: what is handled ends in a bar, what is lost in a dot, a method points at the one in whose place it stands."""


def as_dot(graph: Graph) -> str:
    """Draw a graph as text for `dot`: modules as clusters, errors on the edges, what a function makes in its box."""
    return ''.join([HEAD, *_clusters(graph), *_seams(graph), *_edges(graph), '}\n'])


def _clusters(graph: Graph) -> Iterator[str]:
    made = made_in(graph)
    for number, (module, functions) in enumerate(by_module(graph).items()):
        nodes = [_function(one, made.get(one.name, [])) for one in functions]
        if not module:
            yield from nodes
            continue
        yield f'  subgraph cluster_{number} {{\n    label={_quoted(module)}\n'
        yield from (f'  {one}' for one in nodes)
        yield '  }\n'


def _function(function: Function, made: list[str]) -> str:
    look = ', style="rounded,dashed"' if function.place is None else ', penwidth=2' if made else ''
    where = (
        ''
        if function.place is None
        else f', tooltip={_quoted(f"{function.place.path}:{function.place.line}")}'
    )
    return f'  {_quoted(f"function {function.name}")} [label={_quoted(function_label(function), *made)}{look}{where}]\n'


def _seams(graph: Graph) -> Iterator[str]:
    for seam in graph.seams:
        yield f'  {_quoted(f"seam {seam.name}")} [label={_quoted(seam.name)}, shape=cds, style=solid]\n'


def _edges(graph: Graph) -> Iterator[str]:
    labels = error_labels(graph)
    for edge in edges(graph):
        target = f'{"seam" if edge.kind == "show" else "function"} {edge.target}'
        look = f'[label={_quoted(*listed(edge.errors, labels))}{LOOKS[edge.kind]}]'
        yield f'  {_quoted(f"function {edge.source}")} -> {_quoted(target)} {look}\n'


def _quoted(*lines: str) -> str:
    r"""Write lines as a string of the language, in which `&` would begin an entity of HTML and a backslash has a meaning."""
    told = (
        escape(one).replace('&', '&amp;').replace('\\', '\\\\').replace('"', '\\"') for one in lines
    )
    return '"' + '\\n'.join(told) + '"'
