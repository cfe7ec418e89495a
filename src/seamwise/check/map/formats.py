"""The formats that a map is drawn in."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from seamwise.check.map.dot import as_dot
from seamwise.check.map.graph import Graph
from seamwise.check.map.mermaid import as_mermaid
from seamwise.check.map.page import as_html
from seamwise.check.map.shape import as_json

FORMATS: Mapping[str, Callable[[Graph], str]] = MappingProxyType(
    {'dot': as_dot, 'mermaid': as_mermaid, 'json': as_json, 'html': as_html}
)
"""By the name of the format."""
