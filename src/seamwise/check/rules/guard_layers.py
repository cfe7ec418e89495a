"""Layers of guards, with named guards replaced by their layers."""

from collections.abc import Mapping, Sequence

from seamwise.check.facts import FileFacts, GuardLayer


def guards_by_name(files: Sequence[FileFacts]) -> Mapping[str, Sequence[GuardLayer]]:
    """Return the layers of each named guard, unless its name is bound to different guards."""
    definitions: dict[str, set[tuple[GuardLayer, ...] | None]] = {}
    for file in files:
        for guard in file.guards:
            definitions.setdefault(guard.name, set()).add(guard.layers)
    return {
        name: layers
        for name, (layers, *others) in definitions.items()
        if layers is not None and not others
    }


def expand_layers(
    layers: Sequence[GuardLayer] | None,
    guards: Mapping[str, Sequence[GuardLayer]],
    expanding: frozenset[str] = frozenset(),
) -> list[GuardLayer] | None:
    """Replace guard names by their layers; return None if one is unknown or contains itself."""
    if layers is None:
        return None
    expanded: list[GuardLayer] = []
    for layer in layers:
        if layer.kind != 'named':
            expanded.append(layer)
            continue
        named = guards.get(layer.name) if layer.name not in expanding else None
        inner = expand_layers(named, guards, expanding | {layer.name})
        if inner is None:
            return None
        expanded += inner
    return expanded
