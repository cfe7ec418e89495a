"""The full names of what the plugin looks for, and the code that its errors carry."""

from typing import Final

from mypy.errorcodes import ErrorCode
from mypy.nodes import TypeInfo

ADAPTER_OR: Final = 'seamwise.seams.adapter.Adapter.__or__'
CATCH: Final = 'seamwise.compose.catch'
CATCH_CALL: Final = 'seamwise.compose.Catch.__call__'
FAILURE: Final = 'seamwise.containers.Failure'
OBJECT_SETATTR: Final = 'builtins.object.__setattr__'
SETATTR: Final = 'builtins.setattr'
STRUCT: Final = 'msgspec.Struct'
TAGGED_ERROR: Final = 'seamwise.errors.TaggedError'

CODE: Final = ErrorCode(
    'seamwise', 'What holds for the results, errors and adapters of seamwise', 'Seamwise'
)


def is_error_class(info: TypeInfo) -> bool:
    """Say whether a class is one of the tagged errors, which are leaves, and not their base."""
    return info.fullname != TAGGED_ERROR and info.has_base(TAGGED_ERROR)
