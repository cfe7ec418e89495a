"""# SW108: an arm for an error that never arrives.

An arm that nobody can reach looks like a decision and is none: the error was taken by an arm above, or it does not come out
of what is matched. Whoever reads the code believes that it can happen, and its tests cannot reach it.

Asked are the arms of a `match` and those of an adapter that is local to a function. An adapter that many share may cover more
than one of them sends.

```python
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError


class NoSuchUser(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


class Locked(TaggedError, category=Category.PERMISSION, message='This account is locked.'):
    pass


def find_user(uid: int) -> Result[str, NoSuchUser]:
    return Success('ada') if uid == 1 else Failure(NoSuchUser(uid))
```

Fails:

```python
def greeting(uid: int) -> str:
    match find_user(uid):
        case Success(name):
            return f'Hello {name}'
        case Failure(NoSuchUser()):
            return 'Who are you?'
        case Failure(Locked()):
            return 'Ask for help.'
```

Mended:

```python
def hello(uid: int) -> str:
    match find_user(uid):
        case Success(name):
            return f'Hello {name}'
        case Failure(error):
            match error:
                case NoSuchUser():
                    return 'Who are you?'
                case _:
                    assert_never(error)
```
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from mypy.nodes import TypeInfo

from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.bindings import ValueBinding
from seamwise.check.inference.error_inference import FAILURE_CALLS, ErrorInference
from seamwise.check.inference.functions import seam_of_adapter
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    ErrorSet,
    channel_of,
    is_error,
    overlaps,
    subtract,
    union,
)
from seamwise.check.typed_ast.program import Module, walk

HELP = 'Take the arm out; if the error should arrive, name it in the channel that it comes from.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each arm for an error that cannot be there."""
    reader = inference_of(module)
    for match in module.nodes_of_type(ast.Match):
        yield from _arms(match, reader)
    for call in module.nodes_of_type(ast.Call):
        yield from _adapter(call, reader)


def _arms(match: ast.Match, reader: ErrorInference) -> Iterator[RawFinding]:
    if isinstance(match.subject, ast.Tuple):
        for arm in match.cases:
            for pattern in _parts(arm.pattern):
                yield from _side_by_side(arm, pattern, match.subject, reader)
        return
    is_result = channel_of(reader.module.type_of(match.subject)) is not None
    arriving = _brought(match.subject, reader)
    if arriving is None:
        return
    left = arriving
    for arm in match.cases:
        for pattern in _parts(arm.pattern):
            inner = _of_failure(pattern, reader) if is_result else pattern
            for one in _parts(inner) if inner is not None else ():
                asked = _asked(one, reader)
                if asked and not any(
                    overlaps(info, kind) for info in left.values() for kind in asked.values()
                ):
                    yield RawFinding(arm, _message(one, asked, arriving), HELP)
                if isinstance(one, ast.MatchSequence):
                    # Several failures at once: which of them is where, nobody knows.
                    yield from _never(arm, one.patterns, arriving, reader)
                if arm.guard is None:
                    left = _left(one, left, reader)
            if is_result and arm.guard is None and _takes_any_failure(pattern, reader):
                left = NO_ERRORS


def _brought(subject: ast.expr, reader: ErrorInference) -> ErrorSet | None:
    """Give the errors that something matched brings, a result or an error; None where nobody can say, or it may be neither."""
    if channel_of(reader.module.type_of(subject)) is not None:
        return reader.errors_of(subject)
    found = reader.value_classes(subject)
    return found if found and all(is_error(info) for info in found.values()) else None


def _side_by_side(
    arm: ast.match_case, row: ast.pattern, subjects: ast.Tuple, reader: ErrorInference
) -> Iterator[RawFinding]:
    """Look at an arm over several results at once, each for itself."""
    if not isinstance(row, ast.MatchSequence) or any(
        isinstance(one, ast.MatchStar) for one in row.patterns
    ):
        return
    for subject, pattern in zip(subjects.elts, row.patterns, strict=False):
        arriving = _brought(subject, reader)
        if arriving is not None:
            is_result = channel_of(reader.module.type_of(subject)) is not None
            inner = [_of_failure(one, reader) if is_result else one for one in _parts(pattern)]
            yield from _never(arm, [one for one in inner if one is not None], arriving, reader)


def _never(
    arm: ast.match_case, patterns: Sequence[ast.pattern], arriving: ErrorSet, reader: ErrorInference
) -> Iterator[RawFinding]:
    for one in (part for pattern in patterns for part in _parts(pattern)):
        asked = _asked(one, reader)
        if asked and not any(
            overlaps(info, kind) for info in arriving.values() for kind in asked.values()
        ):
            yield RawFinding(arm, _message(one, asked, arriving), HELP)


def _parts(pattern: ast.pattern) -> Iterator[ast.pattern]:
    """Give the alternatives of a pattern, without the names that it is given."""
    match pattern:
        case ast.MatchOr(parts):
            for one in parts:
                yield from _parts(one)
        case ast.MatchAs(ast.pattern() as inner):
            yield from _parts(inner)
        case _:
            yield pattern


def _of_failure(pattern: ast.pattern, reader: ErrorInference) -> ast.pattern | None:
    match pattern:
        case ast.MatchClass(kind, [inner]) if reader.module.full_name(kind) in FAILURE_CALLS:
            return inner
        case _:
            return None


def _takes_any_failure(pattern: ast.pattern, reader: ErrorInference) -> bool:
    return (
        isinstance(pattern, ast.MatchClass)
        and not pattern.patterns
        and reader.module.full_name(pattern.cls) in FAILURE_CALLS
    )


def _asked(pattern: ast.pattern, reader: ErrorInference) -> ErrorSet:
    """Give the error class that a pattern asks for."""
    if not isinstance(pattern, ast.MatchClass):
        return NO_ERRORS
    return {
        name: info
        for name, info in (reader.constructed_by(pattern.cls) or NO_ERRORS).items()
        if is_error(info)
    }


def _left(pattern: ast.pattern, errors: ErrorSet, reader: ErrorInference) -> ErrorSet:
    """Give the errors that go on to the next arm."""
    if isinstance(pattern, ast.MatchAs):
        return NO_ERRORS
    if not isinstance(pattern, ast.MatchClass):
        return errors
    inner = (*pattern.patterns, *pattern.kwd_patterns)
    if not all(isinstance(one, ast.MatchAs) and one.pattern is None for one in inner):
        return errors
    return subtract(errors, _asked(pattern, reader).values())


def _message(pattern: ast.pattern, asked: ErrorSet, arriving: Mapping[str, TypeInfo]) -> str:
    name = ast.unparse(pattern.cls) if isinstance(pattern, ast.MatchClass) else 'This error'
    if any(overlaps(info, kind) for info in arriving.values() for kind in asked.values()):
        return f'`{name}` never arrives at this arm: one above takes it.'
    return f'`{name}` never arrives here: what is matched brings {_names(arriving)}.'


def _names(errors: Mapping[str, TypeInfo]) -> str:
    return ' and '.join(f'`{info.name}`' for info in errors.values()) or 'no error'


def _adapter(call: ast.Call, reader: ErrorInference) -> Iterator[RawFinding]:
    """Look at an adapter that is used where it is made, or under a local name that nothing else sees."""
    adapter = _used(call, reader)
    if adapter is None:
        return
    if isinstance(adapter, ast.Name):
        made = _local(adapter, reader)
        arriving = _all_arriving(adapter, reader) if made is not None else None
        # Used twice, it is asked where it is used first.
        is_first = made is not None and _uses(adapter, reader)[0] is adapter
    else:
        made, arriving, is_first = adapter, _arriving(call, reader), True
    if made is None or arriving is None or not is_first:
        return
    for arm, kind in _arms_of(made, reader):
        if not any(overlaps(info, kind) for info in arriving.values()):
            yield RawFinding(
                arm,
                f'`{kind.name}` never arrives here: this adapter is handed {_names(arriving)}.',
                HELP,
            )


def _used(call: ast.Call, reader: ErrorInference) -> ast.expr | None:
    """Find the adapter that a call hands errors to: `adapter(error)`, `result.alt(adapter)`."""
    if len(call.args) != 1 or call.keywords:
        return None
    is_alt = isinstance(call.func, ast.Attribute) and call.func.attr == 'alt'
    adapter = call.args[0] if is_alt else call.func
    return adapter if seam_of_adapter(adapter, reader.module) else None


def _arriving(call: ast.Call, reader: ErrorInference) -> ErrorSet | None:
    """Give the errors that an adapter is handed by a call."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == 'alt':
        return reader.errors_of(call.func.value)
    return reader.value_classes(call.args[0])


def _local(name: ast.Name, reader: ErrorInference) -> ast.expr | None:
    function = reader.enclosing_function(name)
    bound = reader.bindings(function).get(name.id, ()) if function is not None else ()
    return bound[0].value if len(bound) == 1 and isinstance(bound[0], ValueBinding) else None


def _uses(name: ast.Name, reader: ErrorInference) -> list[ast.Name]:
    function = reader.enclosing_function(name)
    nodes = (
        [node for node in walk(function) if isinstance(node, ast.Name)]
        if function is not None
        else []
    )
    found = [node for node in nodes if node.id == name.id and isinstance(node.ctx, ast.Load)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def _all_arriving(name: ast.Name, reader: ErrorInference) -> ErrorSet | None:
    """Give all that a local adapter is handed; None where it is handed on itself, and nobody can say."""
    parts: list[ErrorSet | None] = []
    for use in _uses(name, reader):
        call = reader.module.parents.get(use)
        if not isinstance(call, ast.Call) or _used(call, reader) is not use:
            return None
        parts.append(_arriving(call, reader))
    return union(parts)


def _arms_of(adapter: ast.expr, reader: ErrorInference) -> Iterator[tuple[ast.Call, TypeInfo]]:
    """Give the arms of `on(A).verb(…) | on(B).verb(…)`, each at its `on(…)`."""
    match adapter:
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _arms_of(left, reader)
            yield from _arms_of(right, reader)
        case ast.Call(ast.Attribute(ast.Call(on, [kind]) as made)):
            name = reader.module.full_name(on)
            if name.startswith('seamwise.seams.') and name.endswith('.on'):
                for info in (reader.constructed_by(kind) or NO_ERRORS).values():
                    yield made, info
        case _:
            pass


RULE = Rule('SW108', 'an arm for an error that never arrives', 'warning', __doc__ or '', find)
