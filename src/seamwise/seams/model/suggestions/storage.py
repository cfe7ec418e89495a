"""What a model can do next where a store does not have what it wants, or is not there."""

from seamwise.catalog.storage import RecordExists, RecordNotFound, StoreClosed, StoreUnavailable
from seamwise.seams.model.suggestions._words import again


def record_not_found(error: RecordNotFound) -> str:
    """Tell to check the key."""
    return f'Check the spelling of {error.key!r}, list what there is, or store it first.'


def record_exists(error: RecordExists) -> str:
    """Tell the two ways out."""
    return f'Change the one that is there, or take another key than {error.key!r}.'


def store_closed(error: StoreClosed) -> str:
    """Tell that it may come back."""
    return f'{again(error)}; nothing was read or written. If it stays closed, tell the user.'


def store_unavailable(error: StoreUnavailable) -> str:
    """Tell that it may come back."""
    return f'{again(error)}; nothing was read or written. If it fails once more, tell the user.'
