"""Category and retryability of error classes: those of the checked files and those of Seamwise."""

from collections.abc import Sequence
from importlib import import_module

from seamwise._errors.errors import TaggedError
from seamwise.check.facts import FileFacts

_PACKAGE = 'seamwise.'


class ErrorClasses:
    """Lookup of the traits of error classes by full name."""

    def __init__(self, files: Sequence[FileFacts]) -> None:
        self._classes = {facts.name: facts for file in files for facts in file.classes}

    def is_retryable(self, name: str) -> bool | None:
        """Return whether a retry can help against an error; None if it is unknown."""
        if name in self._classes:
            return self._classes[name].retryable
        error_class = _library_class(name)
        if error_class is None or not _has_static_traits(error_class):
            return None
        return error_class.__traits__.retryable

    def category(self, name: str) -> str | None:
        """Return the name of an error's category, as in `NOT_FOUND`; None if it is unknown."""
        if name in self._classes:
            return self._classes[name].category
        error_class = _library_class(name)
        return error_class.__traits__.category.name if error_class is not None else None


def _library_class(full_name: str) -> type[TaggedError] | None:
    """Return an error class of Seamwise. Its source is usually not among the checked files."""
    if not full_name.startswith(_PACKAGE):
        return None
    module, _, name = full_name.rpartition('.')
    value: object = getattr(import_module(module), name, None)
    if not isinstance(value, type) or not issubclass(value, TaggedError) or value is TaggedError:
        return None
    return value


def _has_static_traits(error_class: type[TaggedError]) -> bool:
    """Return whether all instances have the traits of the class."""
    return all(
        getattr(error_class, name) is getattr(TaggedError, name)
        for name in ('retryable', 'category')
    )
