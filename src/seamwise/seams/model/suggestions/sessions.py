"""What a model can do next where something was tried as often as it may be."""

from seamwise.catalog.sessions import RecoveryFailed
from seamwise.seams.model.suggestions._words import why


def recovery_failed(error: RecoveryFailed) -> str:
    """Tell that it is over, and why."""
    return f'Do not ask for {error.operation} again{why(error)}. Take another way, or tell the user what failed.'
