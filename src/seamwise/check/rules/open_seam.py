"""# SW107: an open seam.

Where errors are shown, every class is decided by itself, so that a new one is a type error at each seam that has not decided
about it. A wildcard arm takes in the new one without a word; so does an arm for a base class; so does a table with a default.

A wildcard that hands the error on (`case other: return Failure(other)`) decides nothing and is fine: the type of the function
says what goes on.

```python
from typing import assert_never

from seamwise import Category, TaggedError


class Missing(TaggedError, category=Category.NOT_FOUND, message='There is no {name!r}.'):
    name: str


class Busy(TaggedError, category=Category.CAPACITY, message='Come back later.'):
    pass
```

Fails:

```python
def status(error: Missing | Busy) -> int:
    match error:
        case Missing():
            return 404
        case _:
            return 500
```

Mended:

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
"""

import ast
from collections.abc import Iterator, Sequence

from mypy.types import Instance, ProperType, TypeType, get_proper_type

from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.exhaustiveness_fix import assert_never_edits
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import base_names, channel_of, union_members
from seamwise.check.typed_ast.program import Module, walk

TAGGED = 'seamwise.errors.TaggedError'
NEVER = frozenset({'typing.assert_never', 'typing_extensions.assert_never'})
HANDED_ON = frozenset(
    {'seamwise.containers.Failure', 'returns.result.Failure', 'seamwise.containers.quick_failure'}
)
HELP = 'Decide about each class, and end with `case _: assert_never(error)`.'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each arm and each table that decides about errors that nobody has thought of."""
    for match in module.nodes_of_type(ast.Match):
        yield from _arms(match, module)
    for call in module.nodes_of_type(ast.Call):
        yield from _table(call, module)
        yield from _adapter(call, module)
    for subscript in module.nodes_of_type(ast.Subscript):
        yield from _defaulting(subscript, module)


def _arms(match: ast.Match, module: Module) -> Iterator[RawFinding]:
    subject = list(union_members(module.type_of(match.subject)))
    if len(subject) > 1 and all(TAGGED in base_names(one) for one in subject):
        for arm in match.cases:
            if _is_wildcard(arm) and not _ends(arm, match.subject, module):
                edits = assert_never_edits(match, arm, inference_of(module))
                yield RawFinding(
                    arm, 'This arm takes every error that nobody has decided about.', HELP, edits
                )
            yield from _of_a_base(arm, arm.pattern, subject, module)
        return
    found = channel_of(module.type_of(match.subject))
    errors = [one for one in found.errors if TAGGED in base_names(one)] if found is not None else []
    for arm in match.cases:
        match arm.pattern:
            case ast.MatchClass(_, [inner]):
                yield from _of_a_base(arm, inner, errors, module)
            case _:
                pass


def _is_wildcard(arm: ast.match_case) -> bool:
    if arm.guard is not None:
        return False
    pattern = arm.pattern
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _ends(arm: ast.match_case, subject: ast.expr, module: Module) -> bool:
    """Whether an arm is closed by `assert_never`, or hands the error on in the channel."""
    names = {ast.unparse(subject)}
    if isinstance(arm.pattern, ast.MatchAs) and arm.pattern.name is not None:
        names.add(arm.pattern.name)
    for statement in arm.body:
        for node in walk(statement):
            if not isinstance(node, ast.Call):
                continue
            if module.full_name(node.func) in NEVER:
                return True
            goes_on = module.full_name(node.func) in HANDED_ON or _is_do_fail(node.func, module)
            if goes_on and any(ast.unparse(one) in names for one in node.args):
                return True
    return False


def _is_do_fail(function: ast.expr, module: Module) -> bool:
    if not isinstance(function, ast.Attribute) or function.attr != 'fail':
        return False
    return any(
        'seamwise.scope.Do' in base_names(one)
        for one in union_members(module.type_of(function.value))
    )


def _of_a_base(
    arm: ast.match_case, pattern: ast.pattern, errors: Sequence[ProperType], module: Module
) -> Iterator[RawFinding]:
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _of_a_base(arm, pattern.pattern, errors, module)
    elif isinstance(pattern, ast.MatchOr):
        for one in pattern.patterns:
            yield from _of_a_base(arm, one, errors, module)
    elif isinstance(pattern, ast.MatchClass):
        name = module.full_name(pattern.cls)
        own = [one for one in errors if isinstance(one, Instance) and one.type.fullname == name]
        derived = [one for one in errors if name in base_names(one)]
        if derived and not own:
            yield RawFinding(
                arm,
                f'`{ast.unparse(pattern.cls)}` is a base class: this arm takes every error below it, also those to come.',
                HELP,
            )


def _table(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Look for `{NotFound: 404}.get(type(error), 500)`."""
    match call:
        case ast.Call(ast.Attribute(table, 'get'), [kind, _]) if _is_kind_of_error(kind, module):
            if any(
                'typing.Mapping' in base_names(one) for one in union_members(module.type_of(table))
            ):
                yield RawFinding(
                    call,
                    'A table with a default decides about every error that nobody has thought of.',
                    DECIDE,
                )
        case _:
            pass


DECIDE = 'Make it an adapter, `on(Kind).verb(…) | …`, whose type names the errors, or a `match` that ends in `assert_never`.'


def _defaulting(node: ast.Subscript, module: Module) -> Iterator[RawFinding]:
    """Look for `defaultdict(…)[type(error)]`."""
    if _is_kind_of_error(node.slice, module) and any(
        'collections.defaultdict' in base_names(one)
        for one in union_members(module.type_of(node.value))
    ):
        yield RawFinding(
            node,
            'A table with a default decides about every error that nobody has thought of.',
            DECIDE,
        )


def _is_kind_of_error(node: ast.expr, module: Module) -> bool:
    match node:
        case ast.Call(function, [error]) if module.full_name(function) == 'builtins.type':
            return _is_error(error, module)
        case ast.Attribute(error, '__class__' | 'tag'):
            return _is_error(error, module)
        case _:
            return any(
                isinstance(one, TypeType) and TAGGED in base_names(get_proper_type(one.item))
                for one in union_members(module.type_of(node))
            )


def _is_error(node: ast.expr, module: Module) -> bool:
    found = list(union_members(module.type_of(node)))
    return bool(found) and all(TAGGED in base_names(one) for one in found)


def _adapter(call: ast.Call, module: Module) -> Iterator[RawFinding]:
    """Look for `on(TaggedError)`."""
    match call:
        case ast.Call(function, [kind]) if module.full_name(kind) == TAGGED and _makes_arms(
            function, module
        ):
            yield RawFinding(
                call,
                '`TaggedError` is the base of every error: this arm decides about all of them.',
                DECIDE,
            )
        case _:
            pass


def _makes_arms(function: ast.expr, module: Module) -> bool:
    name = module.full_name(function)
    return name.startswith('seamwise.seams.') and name.endswith('.on')


RULE = Rule('SW107', 'an open seam', 'error', __doc__ or '', find)
