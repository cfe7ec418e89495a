"""Failures of a call without its sensitive values, for everything that shows them afterwards."""

from collections.abc import Mapping
from contextvars import copy_context
from copy import copy
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from seamwise._defects.entries import DEFECT_KEY, attributes_of
from seamwise._defects.redacted_exceptions import without_secrets
from seamwise._errors.errors import TaggedError
from seamwise._results.containers import Failure, Result
from seamwise.redaction.call_values import CallValues
from seamwise.redaction.settings import CALL_VALUES

V = TypeVar('V')
E = TypeVar('E', bound=TaggedError)


def masked_failure(result: Result[V, E], values: CallValues) -> Result[V, E]:
    """Return a result; of a failure, the sensitive values of the call are masked."""
    if type(result) is not Failure:
        return result
    error = result.failure()
    masked: E = copy_context().run(_masked_in, values, error)
    return result if masked is error else Failure(masked)


def _masked_in(values: CallValues, error: Any) -> Any:
    CALL_VALUES.set(values.get_settings)
    return _masked(error, values)


def _masked(value: Any, values: CallValues) -> Any:
    """Return a value itself, or a copy if it quotes one of the values."""
    if isinstance(value, str):
        text = values.mask(value)
        return value if text == value else text
    if isinstance(value, BaseException):
        return _masked_exception(value)
    if type(value) in {tuple, frozenset, list}:
        items = [*value]
        parts = [_masked(item, values) for item in items]
        changed = any(part is not item for part, item in zip(parts, items, strict=True))
        return type(value)(parts) if changed else value
    if type(value) is dict:
        members: Mapping[object, object] = value  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
        return {_masked(key, values): _masked(item, values) for key, item in members.items()}  # pyright: ignore[reportUnknownVariableType]  # isinstance does not tell the members
    return _masked_struct(value, values) if isinstance(value, msgspec.Struct) else value


def _masked_struct(value: msgspec.Struct, values: CallValues) -> object:
    changes: dict[str, object] = {}
    for name in value.__struct_fields__:
        field: object = getattr(value, name)
        part = _masked(field, values)
        if part is not field:
            changes[name] = part
    if not changes:
        return value
    result = copy(value)
    for name, part in changes.items():
        force_setattr(result, name, part)
    return result


def _masked_exception(exception: BaseException) -> BaseException:
    result = without_secrets(exception)
    report = attributes_of(exception).get(DEFECT_KEY)
    if result is not exception and report is not None:
        # Otherwise a seam would report the copy as another defect.
        attributes_of(result)[DEFECT_KEY] = report
    return result
