"""Explanations of a failed `==` between results or tagged errors: the fields that differ."""

from collections.abc import Callable, Iterator
from difflib import ndiff
from types import NoneType
from typing import TypeAlias

from msgspec import Struct
from typing_extensions import TypeIs

from seamwise._errors.errors import TaggedError
from seamwise._text.safe_call import call_or_describe
from seamwise._text.secrets import Secret
from seamwise.redaction import redact
from seamwise.testing.formatting import (
    MAX_VALUE,
    class_names,
    content,
    field_lines,
    is_result,
    result_kind,
    safe_repr,
)

MAX_DEPTH = 20

MIN_SIDE = 20
"""Minimum length of each side in the summary, also on a narrow terminal."""

_PLAIN: tuple[type, ...] = (Struct, str, int, float, bytes, tuple, list, dict, set, NoneType)
"""Values that are compared inside a result; a matcher of a test library is not."""

Explain: TypeAlias = Callable[[object, object], list[str] | None]
"""Explains a difference of two values that are neither results nor errors, or returns None."""


def explain(
    left: object,
    right: object,
    *,
    width: int | None = None,
    limit: int | None = MAX_VALUE,
    explain_other: Explain = lambda _left, _right: None,
) -> list[str] | None:
    """Return a summary and the differences of two values, or None for values of other kinds.

    Args:
        left: The left side of the comparison.
        right: The right side.
        width: Number of columns for the summary (None: unlimited).
        limit: Length of each value in the other lines (None: unlimited).
        explain_other: Explains the difference of values inside two results.

    >>> from seamwise import Failure
    >>> from seamwise.catalog.storage import RecordNotFound
    >>> left, right = RecordNotFound('users', '8'), RecordNotFound('users', '9')
    >>> explain(Failure(left), Failure(right))[1:]
    ['RecordNotFound differs in 1 field:', "  key: '8' != '9'"]
    """
    if not any(is_result(side) or isinstance(side, TaggedError) for side in (left, right)):
        return None
    return [_summary(left, right, width), *_differences(left, right, limit, explain_other)]


def _summary(left: object, right: object, width: int | None) -> str:
    summary = f'{safe_repr(left)} == {safe_repr(right)}'
    if width is None or len(summary) <= width:
        return summary
    limit = max((width - len(' == ')) // 2, MIN_SIDE)
    return f'{safe_repr(left, limit)} == {safe_repr(right, limit)}'


def _differences(
    left: object, right: object, limit: int | None, explain_other: Explain
) -> list[str]:
    if is_result(left) and is_result(right):
        if result_kind(left) != result_kind(right):
            return [*_side('Left', left, limit), *_side('Right', right, limit)]
        left, right = content(left), content(right)
        if not isinstance(left, TaggedError) and not isinstance(right, TaggedError):
            lines = explain_other(left, right)
            # Their first line is a summary.
            return lines[1:] if lines else _line('', left, right, limit).split('\n')
    elif is_result(left) or is_result(right):
        return _result_and_other(left, right)
    return _error_differences(left, right, limit)


def _side(name: str, result: object, limit: int | None) -> list[str]:
    kind = result_kind(result)
    value = content(result)
    fields = field_lines(value, limit) if isinstance(value, TaggedError) else []
    return [
        f'{name} is a {kind}: {type(value).__name__ if fields else safe_repr(value, limit)}',
        *(f'  {line}' for line in fields),
    ]


def _result_and_other(left: object, right: object) -> list[str]:
    name, result, other = ('Left', left, right) if is_result(left) else ('Right', right, left)
    kind = result_kind(result)
    other_name = 'right' if name == 'Left' else 'left'
    lines = [f'{name} is a {kind}, the {other_name} side is no result.']
    expected = 'Failure' if isinstance(other, TaggedError) else 'Success'
    if isinstance(other, _PLAIN):
        lines.append(f'Compare with {expected}({safe_repr(other, MAX_VALUE)}).')
    return lines


def _error_differences(left: object, right: object, limit: int | None) -> list[str]:
    """Return the lines about two different errors, at least one of them a tagged error."""
    if type(left) is type(right) and isinstance(left, Struct):
        names = [
            name
            for name in left.__struct_fields__
            if not is_same(getattr(left, name), getattr(right, name))
        ]
        if not names:
            return ['No field differs, but a field is not equal to itself, such as nan.']
        lines = field_differences(left, right, '', limit)
        count = '1 field' if len(names) == 1 else f'{len(names)} fields'
        return [f'{type(left).__name__} differs in {count}:', *(f'  {line}' for line in lines)]
    left_name, right_name = class_names(type(left), type(right))
    lines = [f'Different classes: {left_name} and {right_name}']
    if left_name == right_name:
        lines.append('  This class was defined twice, e.g. because its module was reloaded.')
    for name, error in ((left_name, left), (right_name, right)):
        lines.append(f'  {name}:')
        fields = field_lines(error, limit) or [safe_repr(error, limit)]
        lines += (f'    {line}' for line in fields)
    return lines


def field_differences(left: object, right: object, path: str, limit: int | None) -> list[str]:
    """Return a line for each field or item that differs, with its path, such as `cause.key`.

    Args:
        left: The left value.
        right: The right value.
        path: Path of both values ('': none).
        limit: Length of each value (None: unlimited).
    """
    return list(_field_differences(left, right, path, limit, 0))


def _field_differences(
    left: object, right: object, path: str, limit: int | None, depth: int
) -> Iterator[str]:
    if is_same(left, right):
        return
    if type(left) is type(right) and depth < MAX_DEPTH:
        lines: list[str] = []
        if is_result(left):
            lines += _field_differences(content(left), content(right), path, limit, depth + 1)
        elif isinstance(left, Struct):
            prefix = f'{path}.' if path else ''
            for name in left.__struct_fields__:
                values = getattr(left, name), getattr(right, name)
                lines += _field_differences(*values, f'{prefix}{name}', limit, depth + 1)
        elif _is_tuple(left) and _is_tuple(right):
            lines += _item_differences(left, right, path, limit, depth)
        if lines:
            yield from lines
            return
    yield from _line(path, left, right, limit).split('\n')


def _is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    return type(value) is tuple


def _item_differences(
    left: tuple[object, ...],
    right: tuple[object, ...],
    path: str,
    limit: int | None,
    depth: int,
) -> Iterator[str]:
    for index, (left_item, right_item) in enumerate(zip(left, right, strict=False)):
        yield from _field_differences(left_item, right_item, f'{path}[{index}]', limit, depth + 1)
    is_left_longer = len(left) > len(right)
    longer, shorter = (left, right) if is_left_longer else (right, left)
    side = 'left' if is_left_longer else 'right'
    for index in range(len(shorter), len(longer)):
        yield f'{path}[{index}]: only on the {side}: {safe_repr(longer[index], limit)}'


def is_same(left: object, right: object) -> bool:
    """Return whether two values are equal; one that cannot be compared is not."""
    return left is right or call_or_describe(lambda: bool(left == right), lambda _error: False)


def _is_secret(value: object) -> bool:
    return type(value) is Secret


def _line(path: str, left: object, right: object, limit: int | None) -> str:
    head = f'{path}: ' if path else ''
    if _is_secret(left) and _is_secret(right):
        return f'{head}two different secrets'
    left_text, right_text = safe_repr(left, limit), safe_repr(right, limit)
    if left_text != right_text:
        line = f'{head}{left_text} != {right_text}'
        return '\n'.join([line, *_text_difference(left, right)])
    full_text = safe_repr(left)
    if full_text != safe_repr(right):
        return f'{head}{left_text}, which differs in its middle (run pytest with -vv)'
    if '***' in full_text:
        return f'{head}{left_text}, which differs where *** hides a secret'
    left_name, right_name = class_names(type(left), type(right))
    if isinstance(left, BaseException):
        return f'{head}{left_text} twice; an exception is equal to itself only'
    kinds = left_name if left_name == right_name else f'{left_name} and {right_name}'
    return f'{head}{left_text} twice, but not equal ({kinds})'


def _text_difference(left: object, right: object) -> list[str]:
    """Return the differing lines of two texts, if one of them has several lines."""
    if not isinstance(left, str) or not isinstance(right, str) or '\n' not in left + right:
        return []
    return [
        f'    {line.rstrip()}'
        for line in ndiff(redact(left).splitlines(), redact(right).splitlines())
    ]
