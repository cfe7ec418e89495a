"""Features of the mypy plugin, one module each, with the names and the error code they share.

The plugin API and the semantic analyser are internals of mypy; `seamwise.check.plugin` names the
versions that are tested.
"""

from typing import Final

from mypy.errorcodes import ErrorCode
from mypy.nodes import TypeInfo
from mypy.types import ProperType, Type, flatten_nested_unions, get_proper_type

ADAPTER: Final = 'seamwise.seams.adapter.Adapter'
ADAPTER_BUT: Final = 'seamwise.seams.adapter.Adapter.but'
ADAPTER_OR: Final = 'seamwise.seams.adapter.Adapter.__or__'
ADAPTER_ROR: Final = 'seamwise.seams.adapter.Adapter.__ror__'
ATTEMPT: Final = 'seamwise._results.edges.attempt'
CATCH: Final = 'seamwise._results.compose.catch'
CATCH_CALL: Final = 'seamwise._results.compose.Catch.__call__'
CAUGHT: Final = 'seamwise._results.edges.caught'
DO: Final = 'seamwise._results.scope.Do'
EDGE_CALL: Final = 'seamwise._results.edges.Edge.__call__'
FAILURE: Final = 'seamwise._results.containers.Failure'
FALLIBLE: Final = 'seamwise._results.scope.fallible'
OBJECT_SETATTR: Final = 'builtins.object.__setattr__'
REFINE: Final = 'seamwise._results.edges.refine'
RULES: Final = 'seamwise._results.edges.Rules'
SETATTR: Final = 'builtins.setattr'
STRUCT: Final = 'msgspec.Struct'
SUCCESS: Final = 'seamwise._results.containers.Success'
TAGGED_ERROR: Final = 'seamwise._errors.errors.TaggedError'

CODE: Final = ErrorCode('seamwise', 'Misuse of results, errors and adapters', 'Seamwise')


def is_error_class(info: TypeInfo) -> bool:
    """Return whether a class derives from TaggedError; the base class itself does not count."""
    return info.fullname != TAGGED_ERROR and info.has_base(TAGGED_ERROR)


def union_members(union: Type) -> list[ProperType]:
    """Return the members of a union, or the type itself."""
    return [get_proper_type(item) for item in flatten_nested_unions([union])]
