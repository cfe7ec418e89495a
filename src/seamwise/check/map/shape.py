"""The map in JSON: the graph as it is."""

import msgspec

from seamwise.check.map.graph import Graph


def as_json(graph: Graph) -> str:
    """Encode a graph as one JSON object; its fields are those of `Graph`."""
    return msgspec.json.encode(graph).decode()
