"""# SW108: unreachable arm

Remove arms for errors that cannot arrive: an earlier arm handles the error, or the matched value
never contains it. Such an arm suggests a decision that is never made, and no test can reach it.

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

Reported:

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

Fixed:

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

The rule checks the arms of a `match` and of an adapter that is local to a function. A shared
adapter may handle more errors than each of its users sends.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check.facts import QuickFix, TextEdit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.adapters.seams import seam_of_adapter
from seamwise.check.inference.data_flow.bindings import ValueBinding
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.edits.annotations import node_edit, node_source
from seamwise.check.rules.class_capture import is_class_capture
from seamwise.check.rules.rule import Rule, join_code
from seamwise.check.typed_ast.channels import (
    FAILURE,
    NO_ERRORS,
    ErrorSet,
    channel_of,
    is_error,
    overlaps,
    subtract,
    union,
)
from seamwise.check.typed_ast.program import Module, pattern_alternatives, walk

_HELP = 'Remove the arm; if the error can occur, declare it in the channel that it comes from.'


def _find_unreachable_arms(module: Module) -> Iterator[RawFinding]:
    inference = inference_of(module)
    for match in module.nodes_of_type(ast.Match):
        yield from _check_match(match, inference)
    for call in module.nodes_of_type(ast.Call):
        yield from _check_adapter(call, inference)


def _check_match(match: ast.Match, inference: ErrorInference) -> Iterator[RawFinding]:
    if isinstance(match.subject, ast.Tuple):
        for arm in match.cases:
            for pattern in pattern_alternatives(arm.pattern):
                yield from _check_tuple(arm, pattern, match.subject, inference)
        return
    is_result = channel_of(inference.module.type_of(match.subject)) is not None
    arriving = _errors_of_subject(match.subject, inference)
    if arriving is None:
        return
    remaining = arriving
    for arm in match.cases:
        for pattern in pattern_alternatives(arm.pattern):
            inner = _failure_argument(pattern, inference) if is_result else pattern
            for part in pattern_alternatives(inner) if inner is not None else ():
                classes = _pattern_classes(part, inference)
                if classes and not _overlap(remaining, classes):
                    message = _message(part, classes, arriving)
                    fixes = tuple(_removals(part, arm, match, inference.module))
                    yield RawFinding(arm, message, _HELP, quick_fixes=fixes)
                if isinstance(part, ast.MatchSequence):
                    # The order of several failures is unknown, so each may be at any position.
                    yield from _check_patterns(arm, part.patterns, arriving, inference)
                # SW123 reports a class without parentheses, which ends no match when it is fixed.
                if arm.guard is None and not is_class_capture(part, arm, inference.module):
                    remaining = _subtract_pattern(part, remaining, inference)
            if is_result and arm.guard is None and _matches_any_failure(pattern, inference):
                remaining = NO_ERRORS


def _removals(
    part: ast.pattern, arm: ast.match_case, match: ast.Match, module: Module
) -> Iterator[QuickFix]:
    """Yield the removal of an alternative of a pattern, or of the arm that consists of it."""
    child: ast.AST = part
    while child is not arm:
        parent = module.parents[child]
        if isinstance(parent, ast.MatchOr):
            others = [item for item in parent.patterns if item is not child]
            text = ' | '.join(node_source(item, module) for item in others)
            yield QuickFix('Remove the alternative', (node_edit(parent, text, module),))
            return
        if isinstance(parent, ast.MatchSequence):
            return
        child = parent
    first, last = arm.pattern.lineno, arm.body[-1].end_lineno or 0
    has_own_lines = module.lines[first - 1].lstrip().startswith('case ')
    has_comment = module.lines[first - 2].lstrip().startswith('#')
    if len(match.cases) > 1 and has_own_lines and not has_comment and last < len(module.lines):
        old = '\n'.join([*module.lines[first - 1 : last], ''])
        yield QuickFix('Remove the arm', (TextEdit(first, 0, last + 1, 0, old, ''),))


def _errors_of_subject(subject: ast.expr, inference: ErrorInference) -> ErrorSet | None:
    """Return the errors of a matched Result or error; None if unknown or if it may be neither."""
    if channel_of(inference.module.type_of(subject)) is not None:
        return inference.errors_of(subject)
    classes = inference.value_classes(subject)
    if not classes or not all(is_error(info) for info in classes.values()):
        return None
    return classes


def _check_tuple(
    arm: ast.match_case, pattern: ast.pattern, subjects: ast.Tuple, inference: ErrorInference
) -> Iterator[RawFinding]:
    """Check an arm over a tuple of Results, each element separately."""
    if not isinstance(pattern, ast.MatchSequence) or any(
        isinstance(item, ast.MatchStar) for item in pattern.patterns
    ):
        return
    for subject, item in zip(subjects.elts, pattern.patterns, strict=False):
        arriving = _errors_of_subject(subject, inference)
        if arriving is None:
            continue
        patterns: list[ast.pattern | None] = list(pattern_alternatives(item))
        if channel_of(inference.module.type_of(subject)) is not None:
            patterns = [_failure_argument(part, inference) for part in pattern_alternatives(item)]
        known = [part for part in patterns if part is not None]
        yield from _check_patterns(arm, known, arriving, inference)


def _check_patterns(
    arm: ast.match_case,
    patterns: Sequence[ast.pattern],
    arriving: ErrorSet,
    inference: ErrorInference,
) -> Iterator[RawFinding]:
    for pattern in patterns:
        for part in pattern_alternatives(pattern):
            classes = _pattern_classes(part, inference)
            if classes and not _overlap(arriving, classes):
                yield RawFinding(arm, _message(part, classes, arriving), _HELP)


def _failure_argument(pattern: ast.pattern, inference: ErrorInference) -> ast.pattern | None:
    """Return the pattern `x` of `Failure(x)`."""
    match pattern:
        case ast.MatchClass(cls, [inner]) if inference.module.full_name(cls) in FAILURE:
            return inner
        case _:
            return None


def _matches_any_failure(pattern: ast.pattern, inference: ErrorInference) -> bool:
    return (
        isinstance(pattern, ast.MatchClass)
        and not pattern.patterns
        and inference.module.full_name(pattern.cls) in FAILURE
    )


def _pattern_classes(pattern: ast.pattern, inference: ErrorInference) -> ErrorSet:
    """Return the error classes that a class pattern matches."""
    if not isinstance(pattern, ast.MatchClass):
        return NO_ERRORS
    classes = inference.constructed_by(pattern.cls) or NO_ERRORS
    return {name: info for name, info in classes.items() if is_error(info)}


def _subtract_pattern(
    pattern: ast.pattern, errors: ErrorSet, inference: ErrorInference
) -> ErrorSet:
    """Return the errors that reach the next arm."""
    if isinstance(pattern, ast.MatchAs):
        return NO_ERRORS
    if not isinstance(pattern, ast.MatchClass):
        return errors
    fields = (*pattern.patterns, *pattern.kwd_patterns)
    if not all(isinstance(field, ast.MatchAs) and field.pattern is None for field in fields):
        return errors
    return subtract(errors, _pattern_classes(pattern, inference).values())


def _overlap(errors: Mapping[str, TypeInfo], classes: Mapping[str, TypeInfo]) -> bool:
    return any(overlaps(info, cls) for info in errors.values() for cls in classes.values())


def _message(pattern: ast.pattern, classes: ErrorSet, arriving: Mapping[str, TypeInfo]) -> str:
    name = ast.unparse(pattern.cls) if isinstance(pattern, ast.MatchClass) else 'This error'
    if _overlap(arriving, classes):
        return f'`{name}` never reaches this arm: an earlier arm handles it.'
    return f'`{name}` never reaches this arm: the matched value has {_join_errors(arriving)}.'


def _join_errors(errors: Mapping[str, TypeInfo]) -> str:
    if not errors:
        return 'no error'
    noun = 'only the error' if len(errors) == 1 else 'only the errors'
    return f'{noun} {join_code(info.name for info in errors.values())}'


def _check_adapter(call: ast.Call, inference: ErrorInference) -> Iterator[RawFinding]:
    """Check an adapter that is built at its use, or under a local name that nothing else uses."""
    adapter = _adapter_of_call(call, inference)
    if adapter is None:
        return
    if isinstance(adapter, ast.Name):
        # An adapter with several uses is checked once, at the first.
        value = _local_value(adapter, inference)
        if value is None or _uses(adapter, inference)[0] is not adapter:
            return
        arriving = _errors_of_all_uses(adapter, inference)
    else:
        value, arriving = adapter, _errors_of_call(call, inference)
    if arriving is None:
        return
    for arm, info in _arms_of_adapter(value, inference):
        if not _overlap(arriving, {info.fullname: info}):
            message = (
                f'`{info.name}` never reaches this arm:'
                f' the adapter receives {_join_errors(arriving)}.'
            )
            yield RawFinding(arm, message, _HELP)


def _adapter_of_call(call: ast.Call, inference: ErrorInference) -> ast.expr | None:
    """Return the adapter in `adapter(error)` or `result.alt(adapter)`."""
    if len(call.args) != 1 or call.keywords:
        return None
    is_alt = isinstance(call.func, ast.Attribute) and call.func.attr == 'alt'
    adapter = call.args[0] if is_alt else call.func
    return adapter if seam_of_adapter(adapter, inference.module) else None


def _errors_of_call(call: ast.Call, inference: ErrorInference) -> ErrorSet | None:
    """Return the errors that a call passes to an adapter."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == 'alt':
        return inference.errors_of(call.func.value)
    return inference.value_classes(call.args[0])


def _local_value(name: ast.Name, inference: ErrorInference) -> ast.expr | None:
    function = inference.module.enclosing_function(name)
    bindings = inference.bindings(function).get(name.id, ()) if function is not None else ()
    if len(bindings) != 1 or not isinstance(bindings[0], ValueBinding):
        return None
    return bindings[0].value


def _uses(name: ast.Name, inference: ErrorInference) -> list[ast.Name]:
    """Return the reads of a local name in source order."""
    function = inference.module.enclosing_function(name)
    if function is None:
        return []
    names = (node for node in walk(function) if isinstance(node, ast.Name))
    uses = [node for node in names if node.id == name.id and isinstance(node.ctx, ast.Load)]
    return sorted(uses, key=lambda node: (node.lineno, node.col_offset))


def _errors_of_all_uses(name: ast.Name, inference: ErrorInference) -> ErrorSet | None:
    """Return all errors passed to a local adapter; None if the adapter itself is passed on."""
    errors: list[ErrorSet | None] = []
    for use in _uses(name, inference):
        call = inference.module.parents.get(use)
        if not isinstance(call, ast.Call) or _adapter_of_call(call, inference) is not use:
            return None
        errors.append(_errors_of_call(call, inference))
    return union(errors)


def _arms_of_adapter(
    adapter: ast.expr, inference: ErrorInference
) -> Iterator[tuple[ast.Call, TypeInfo]]:
    """Yield the arms of `on(A).verb(…) | on(B).verb(…)`, each as its `on(…)` and error class."""
    match adapter:
        case ast.BinOp(left, ast.BitOr(), right):
            yield from _arms_of_adapter(left, inference)
            yield from _arms_of_adapter(right, inference)
        case ast.Call(ast.Attribute(ast.Call(function, [argument]) as arm)):
            name = inference.module.full_name(function)
            if name.startswith('seamwise.seams.') and name.endswith('.on'):
                for info in (inference.constructed_by(argument) or NO_ERRORS).values():
                    yield arm, info
        case _:
            pass


RULE = Rule('SW108', 'unreachable arm', 'warning', __doc__ or '', _find_unreachable_arms)
