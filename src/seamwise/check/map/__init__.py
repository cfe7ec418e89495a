"""Map of a program's errors: their creation, propagation, handling and display."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from seamwise.check.map.dot import render_dot
from seamwise.check.map.graph import Graph, encode_graph
from seamwise.check.map.mermaid import render_mermaid
from seamwise.check.map.page import render_map_page

FORMATS: Mapping[str, Callable[[Graph], str]] = MappingProxyType(
    {'dot': render_dot, 'mermaid': render_mermaid, 'json': encode_graph, 'html': render_map_page}
)
"""Functions that draw a graph, by the name of the format."""
