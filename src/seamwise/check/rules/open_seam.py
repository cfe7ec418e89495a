r"""# SW107: seam that is not exhaustive

Decide about each error class separately when you show errors. A new error is then a type error at
every seam that does not handle it. A wildcard arm, an arm for a base class, or a table with a
default handles new errors silently.

```python
from typing import assert_never

from seamwise import Category, TaggedError


class Missing(TaggedError, category=Category.NOT_FOUND, message='There is no {name!r}.'):
    name: str


class Busy(TaggedError, category=Category.CAPACITY, message='Come back later.'):
    pass
```

Reported:

```python
def status(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case _:
            return 500
```

Fixed:

```python
def code(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case Busy():
            return 503
        case _:
            assert_never(error)
```

`--fix` adds `assert_never` to a wildcard arm that no error reaches. Otherwise, it replaces the
wildcard by the classes that reach it, as in `case Busy():`.

An adapter that lacks a class of its declared type is a type error. The finding names the class,
unlike the message of mypy.

| Adapter | Reported |
| --- | --- |
| `TABLE: Adapter[A \| B, HttpError] = on(A).responds(404, 'A')` | no arm for `B` |
| The same as an argument, or as a return value | no arm for `B` |
| `TABLE.but(on(C).responds(503, 'C'))` | no arm for `C` to replace |
| `install(app, to_http)`, where `to_http` takes a `TaggedError` | it handles every error |

| Match of a Result | Reported |
| --- | --- |
| `case _`, `case Failure()` or `case Failure(error)` after `case Failure(Missing())` | yes |
| The same without an arm for a class: the match does not distinguish errors | no |
| A wildcard that raises, or uses the error as a whole: it is returned, matched or shown | no |
| An arm for the last class that is left, such as `case Failure(Busy())` | no |

A wildcard arm that only returns the error (`case other: return Failure(other)`) is not reported:
the return type of the function still names the errors.
"""

import ast
from collections.abc import Iterator, Sequence

from seamwise.check._mypy.plugin.arms import errors_and_shape
from seamwise.check._mypy.types import (
    CallableType,
    Instance,
    ProperType,
    TypeType,
    TypeVarType,
    get_proper_type,
)
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.adapters.coverage import find_missing_arms
from seamwise.check.inference.adapters.seams import is_shape
from seamwise.check.inference.fixes.exhaustiveness import (
    assert_never_edits,
    missing_arm_edits,
    remaining_errors,
)
from seamwise.check.rules.class_capture import is_class_capture
from seamwise.check.rules.rule import Rule, join_class_names
from seamwise.check.typed_ast.channels import (
    DO,
    FAILURE,
    TAGGED_ERROR,
    base_names,
    channel_of,
    may_be,
    union_members,
)
from seamwise.check.typed_ast.program import Module, call_arguments, walk

_ASSERT_NEVER = frozenset({'typing.assert_never', 'typing_extensions.assert_never'})
_HELP = 'Handle each class separately, and end with `case _: assert_never(error)`.'
_FAILURE_HELP = (
    'Write `case Failure(error):`, and match the error in a second `match`, which ends with'
    ' `case _: assert_never(error)`: type checkers do not narrow a Result by its errors.'
)
_TABLE_FINDING = 'The default of this table silently handles errors that are added later.'
_TABLE_HELP = (
    'Use an adapter, `on(NotFound).verb(…) | …`, whose type names the errors,'
    ' or a `match` that ends in `assert_never`.'
)
_FUNCTION_HELP = (
    'Annotate its parameter with the union of the errors, and end with'
    ' `case _: assert_never(error)`.'
)


def _find_open_seams(module: Module) -> Iterator[RawFinding]:
    for match in module.nodes_of_type(ast.Match):
        yield from _check_match(match, module)
    for call in module.nodes_of_type(ast.Call):
        yield from _check_table(call, module)
        yield from _check_adapter(call, module)
        yield from _check_function_arguments(call, module)
    for subscript in module.nodes_of_type(ast.Subscript):
        yield from _check_default_table(subscript, module)
    yield from find_missing_arms(inference_of(module))


def _check_match(match: ast.Match, module: Module) -> Iterator[RawFinding]:
    subject = list(union_members(module.type_of(match.subject)))
    if len(subject) > 1 and all(TAGGED_ERROR in base_names(member) for member in subject):
        for arm in match.cases:
            if _is_wildcard(arm, module) and not _is_closed(arm, match.subject, module):
                inference = inference_of(module)
                edits = assert_never_edits(match, arm, inference) or missing_arm_edits(
                    match, arm, inference
                )
                message = 'This wildcard arm silently handles errors that are added later.'
                remaining = remaining_errors(match, arm, inference)
                if remaining:
                    names = join_class_names(remaining)
                    message = f'This wildcard arm handles {names}, and errors that are added later.'
                yield RawFinding(arm, message, _HELP, edits)
            yield from _check_base_class(arm, arm.pattern, subject, module)
        return
    channel = channel_of(module.type_of(match.subject))
    errors = channel.errors if channel is not None else ()
    tagged = [error for error in errors if TAGGED_ERROR in base_names(error)]
    for arm in match.cases:
        match arm.pattern:
            case ast.MatchClass(_, [pattern]):
                yield from _check_base_class(arm, pattern, tagged, module)
            case _:
                pass
    if len(errors) > 1 and len(tagged) == len(errors):
        yield from _check_failures(match, tagged, module)


def _check_failures(
    match: ast.Match, errors: Sequence[ProperType], module: Module
) -> Iterator[RawFinding]:
    """Check a match of a Result that distinguishes errors: `case Failure(Missing()): …`."""
    handled: set[str] = set()
    for arm in match.cases:
        classes = _failure_classes(arm, module)
        if classes is not None:
            handled |= classes
        elif (
            handled
            and _is_any_failure(arm, module)
            and not _is_closed(arm, match.subject, module)
            and not _is_passed_on(arm, match.subject, module)
        ):
            remaining = [
                error.type.name
                for error in errors
                if isinstance(error, Instance) and error.type.fullname not in handled
            ]
            if remaining:
                names = join_class_names(remaining)
                message = f'This wildcard arm handles {names}, and errors that are added later.'
                yield RawFinding(arm, message, _FAILURE_HELP)


def _failure_classes(arm: ast.match_case, module: Module) -> set[str] | None:
    """Return the error classes of `case Failure(Missing() | Busy())`; None for another arm."""
    match arm.pattern:
        case ast.MatchClass(failure, [pattern]) if module.full_name(failure) in FAILURE:
            inner = _without_name(pattern)
            patterns = inner.patterns if isinstance(inner, ast.MatchOr) else [inner]
        case _:
            return None
    classes = [
        module.full_name(class_pattern.cls)
        for alternative in patterns
        if isinstance(class_pattern := _without_name(alternative), ast.MatchClass)
    ]
    if len(classes) < len(patterns):
        return None
    return set() if arm.guard is not None else set(classes)


def _without_name(pattern: ast.pattern) -> ast.pattern:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _without_name(pattern.pattern)
    return pattern


def _is_any_failure(arm: ast.match_case, module: Module) -> bool:
    """Return whether an arm is `case _`, `case Failure()` or `case Failure(error)`."""
    if arm.guard is not None:
        return False
    match _without_name(arm.pattern):
        case ast.MatchClass(failure, patterns, []) if module.full_name(failure) in FAILURE:
            return all(
                isinstance(pattern, ast.MatchAs) and not is_class_capture(pattern, arm, module)
                for pattern in patterns
            )
        case ast.MatchAs(None):
            return True
        case _:
            return False


def _is_passed_on(arm: ast.match_case, subject: ast.expr, module: Module) -> bool:
    """Return whether an arm raises, or uses the Result or its error as a whole."""
    names = {ast.unparse(subject), *_bound_names(arm.pattern)}
    return any(
        isinstance(node, ast.Raise)
        or (
            isinstance(node, ast.Name)
            and node.id in names
            and not isinstance(module.parents.get(node), ast.Attribute)
        )
        for statement in arm.body
        for node in walk(statement)
    )


def _bound_names(pattern: ast.pattern) -> set[str]:
    return {
        node.name
        for node in walk(pattern)
        if isinstance(node, ast.MatchAs) and node.name is not None
    }


def _is_wildcard(arm: ast.match_case, module: Module) -> bool:
    if arm.guard is not None or is_class_capture(arm.pattern, arm, module):
        return False
    pattern = arm.pattern
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _is_closed(arm: ast.match_case, subject: ast.expr, module: Module) -> bool:
    """Return whether an arm calls `assert_never`, or puts the error into a new Failure."""
    names = {ast.unparse(subject), *_bound_names(arm.pattern)}
    for statement in arm.body:
        for node in walk(statement):
            if not isinstance(node, ast.Call):
                continue
            name = module.full_name(node.func)
            if name in _ASSERT_NEVER:
                return True
            is_failure = name in FAILURE or _is_do_fail(node.func, module)
            if is_failure and any(ast.unparse(argument) in names for argument in node.args):
                return True
    return False


def _is_do_fail(function: ast.expr, module: Module) -> bool:
    if not isinstance(function, ast.Attribute) or function.attr != 'fail':
        return False
    return may_be(module.type_of(function.value), DO)


def _check_base_class(
    arm: ast.match_case, pattern: ast.pattern, errors: Sequence[ProperType], module: Module
) -> Iterator[RawFinding]:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _check_base_class(arm, pattern.pattern, errors, module)
    elif isinstance(pattern, ast.MatchOr):
        for alternative in pattern.patterns:
            yield from _check_base_class(arm, alternative, errors, module)
    elif isinstance(pattern, ast.MatchClass):
        name = module.full_name(pattern.cls)
        is_named = any(
            isinstance(error, Instance) and error.type.fullname == name for error in errors
        )
        has_subclass = any(name in base_names(error) for error in errors)
        if has_subclass and not is_named:
            message = (
                f'`{ast.unparse(pattern.cls)}` is a base class:'
                ' this arm also handles subclasses that are added later.'
            )
            yield RawFinding(arm, message, _HELP)


def _check_table(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check `{NotFound: 404}.get(type(error), 500)`."""
    match call:
        case ast.Call(ast.Attribute(table, 'get'), [key, _]) if _is_error_class(key, module):
            if may_be(module.type_of(table), 'typing.Mapping'):
                yield RawFinding(call, _TABLE_FINDING, _TABLE_HELP)
        case _:
            pass


def _check_default_table(node: ast.Subscript, module: Module) -> Iterator[RawFinding]:
    """Check `defaultdict(…)[type(error)]`."""
    if _is_error_class(node.slice, module) and may_be(
        module.type_of(node.value), 'collections.defaultdict'
    ):
        yield RawFinding(node, _TABLE_FINDING, _TABLE_HELP)


def _is_error_class(node: ast.expr, module: Module) -> bool:
    match node:
        case ast.Call(function, [error]) if module.full_name(function) == 'builtins.type':
            return _is_error(error, module)
        case ast.Attribute(error, '__class__' | 'tag'):
            return _is_error(error, module)
        case _:
            return any(
                isinstance(member, TypeType)
                and TAGGED_ERROR in base_names(get_proper_type(member.item))
                for member in union_members(module.type_of(node))
            )


def _is_error(node: ast.expr, module: Module) -> bool:
    members = list(union_members(module.type_of(node)))
    return bool(members) and all(TAGGED_ERROR in base_names(member) for member in members)


def _check_adapter(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check `on(TaggedError)`."""
    match call:
        case ast.Call(function, [argument]) if module.full_name(
            argument
        ) == TAGGED_ERROR and _is_seam_on(function, module):
            message = '`TaggedError` is the base class of all errors: this arm handles every one.'
            yield RawFinding(call, message, _TABLE_HELP)
        case _:
            pass


def _check_function_arguments(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Check `install(app, to_http)`, where `to_http` takes a `TaggedError`."""
    for argument in call_arguments(call):
        if not isinstance(argument, ast.Name | ast.Attribute):
            continue
        type_ = module.type_of(argument)
        if not isinstance(type_, CallableType) or _is_generic(type_):
            continue
        answer = errors_and_shape(type_)
        if answer is not None and is_shape(answer[1]):
            errors = list(union_members(answer[0]))
            if any(
                isinstance(item, Instance) and item.type.fullname == TAGGED_ERROR for item in errors
            ):
                message = (
                    '`TaggedError` is the base class of all errors: this function handles every'
                    ' one.'
                )
                yield RawFinding(argument, message, _FUNCTION_HELP)


def _is_generic(type_: CallableType) -> bool:
    """Return whether a function takes a type variable: its caller decides about the errors."""
    return any(isinstance(get_proper_type(item), TypeVarType) for item in type_.arg_types)


def _is_seam_on(function: ast.expr, module: Module) -> bool:
    name = module.full_name(function)
    return name.startswith('seamwise.seams.') and name.endswith('.on')


RULE = Rule('SW107', 'seam that is not exhaustive', 'error', __doc__ or '', _find_open_seams)
