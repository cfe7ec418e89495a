"""What error classes say of themselves: those of the files that are asked, and those of this library."""

from collections.abc import Sequence
from importlib import import_module

from seamwise.check.facts import FileFacts
from seamwise.errors import TaggedError

OWN = 'seamwise.'


class Traits:
    """The categories of error classes, by their full names."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._classes = {one.name: one for file in files for one in file.classes}

    def is_retryable(self, name: str) -> bool | None:
        """Whether an error is worth another try; None where nobody can say."""
        if name in self._classes:
            return self._classes[name].retryable
        found = _own(name)
        return found.__traits__.retryable if found is not None and _is_plain(found) else None

    def category(self, name: str) -> str | None:
        """Give the name of a category, as in `NOT_FOUND`; None where nobody can say."""
        if name in self._classes:
            return self._classes[name].category
        found = _own(name)
        return found.__traits__.category.name if found is not None else None


def _own(name: str) -> type[TaggedError] | None:
    """Give an error class of this library: it is at hand, where its source may not be asked for."""
    module, _, own = name.rpartition('.')
    if not name.startswith(OWN):
        return None
    found: object = getattr(import_module(module), own, None)
    return (
        found
        if isinstance(found, type) and issubclass(found, TaggedError) and found is not TaggedError
        else None
    )


def _is_plain(kind: type[TaggedError]) -> bool:
    """Whether its class speaks for all its instances."""
    return all(
        getattr(kind, name) is getattr(TaggedError, name) for name in ('retryable', 'category')
    )
