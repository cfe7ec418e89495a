"""What a pipeline says of itself: its layers from outside in, their limits, and which order cannot be meant."""

from seamwise.policies.pipeline import Layer


def described(layers: tuple[Layer[object], ...]) -> str:
    """Give one line a layer, outermost first."""
    if not layers:
        return 'nothing: the operation runs as it is'
    return '\n'.join(f'{layer.name}: {layer.limits()}' for layer in layers)
