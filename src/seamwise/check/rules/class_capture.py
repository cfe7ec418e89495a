"""# SW123: class without parentheses in a pattern

Write parentheses after a class in a pattern. Without them, the name is a new variable, which
matches everything: `case Failure(NotFound):` handles every failure. A dotted name, as in
`case Failure(errors.NotFound):`, is compared with the class itself, and never matches.

```python
from typing import assert_never

from seamwise import Category, Failure, Result, Success, TaggedError


class NotFound(TaggedError, category=Category.NOT_FOUND, message='There is no {name!r}.'):
    name: str


class Locked(TaggedError, category=Category.CONFLICT, message='{name!r} is locked.'):
    name: str


def enter(name: str) -> Result[int, NotFound | Locked]:
    if name == 'front':
        return Success(1)
    return Failure(Locked(name)) if name == 'back' else Failure(NotFound(name))
```

Reported:

```python
def describe(name: str) -> str:
    match enter(name):
        case Success(number):
            return f'door {number}'
        case Failure(NotFound):
            return 'no such door'
```

Fixed:

```python
def explain(name: str) -> str:
    match enter(name):
        case Success(number):
            return f'door {number}'
        case Failure(error):
            match error:
                case NotFound():
                    return 'no such door'
                case Locked():
                    return 'locked'
                case _:
                    assert_never(error)
```

| Pattern | Reported |
| --- | --- |
| `case Failure(NotFound)`, `case NotFound`, `case Success(User)`, `case Success(int)` | yes |
| A dotted name of a class, such as `case Failure(errors.NotFound)` | yes |
| One of these in a sequence, an `as` pattern or a field: `case NotFound(name=str)` | yes |
| An alias of classes, such as `case Failure(DoorError)` | yes |
| A name in lower case that the arm reads: `case Success(date): return date.year` | no |
| A match of other values than Results and errors | no |

`--fix` adds the parentheses, unless the function uses the name as a variable. It leaves the file
alone if the match would then lack an arm.
"""

import ast
import builtins
from collections.abc import Iterator

from seamwise.check._mypy.nodes import RefExpr, TypeAlias, TypeInfo
from seamwise.check.facts import TextEdit
from seamwise.check.findings import RawFinding
from seamwise.check.inference.edits.annotations import node_edit, node_source
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    EVERY_RESULT,
    FAILURE,
    SUCCESS,
    TAGGED_ERROR,
    base_names,
    union_members,
)
from seamwise.check.typed_ast.program import Module, walk

_OURS = EVERY_RESULT | {TAGGED_ERROR}
_RESULTS = SUCCESS | FAILURE
_BUILTINS = frozenset(name for name in dir(builtins) if isinstance(getattr(builtins, name), type))


def _find_class_captures(module: Module) -> Iterator[RawFinding]:
    for match in module.nodes_of_type(ast.Match):
        is_ours = _is_ours(match.subject, module)
        for arm in match.cases:
            for pattern in _names_in(arm.pattern, module, is_ours=is_ours):
                yield from _check_name(pattern, arm, module)


def _is_ours(subject: ast.expr, module: Module) -> bool:
    """Return whether a matched value, or an item of it, may be a Result or an error."""
    if isinstance(subject, ast.Tuple):
        return any(_is_ours(item, module) for item in subject.elts)
    members = union_members(module.type_of(subject))
    return any(base_names(member) & _OURS for member in members)


def _names_in(
    pattern: ast.pattern, module: Module, *, is_ours: bool
) -> Iterator[ast.MatchAs | ast.MatchValue]:
    """Yield the names in the pattern of a Result or an error, plain and dotted."""
    match pattern:
        case ast.MatchAs(None, str()) | ast.MatchValue(ast.Attribute()) if is_ours:
            yield pattern
        case ast.MatchAs(ast.pattern() as inner):
            yield from _names_in(inner, module, is_ours=is_ours)
        case ast.MatchClass(class_, positional, _, named):
            is_ours = is_ours or module.full_name(class_) in _RESULTS
            for part in (*positional, *named):
                yield from _names_in(part, module, is_ours=is_ours)
        case ast.MatchSequence(parts) | ast.MatchOr(parts) | ast.MatchMapping(_, parts):
            for part in parts:
                yield from _names_in(part, module, is_ours=is_ours)
        case _:
            pass


def _check_name(
    pattern: ast.MatchAs | ast.MatchValue, arm: ast.match_case, module: Module
) -> Iterator[RawFinding]:
    name = node_source(pattern, module)
    if isinstance(pattern, ast.MatchValue):
        reference = module.mypy_node(pattern.value)
        definition = reference.node if isinstance(reference, RefExpr) else None
        if not isinstance(definition, TypeInfo | TypeAlias):
            return
        message = f'`{name}` without parentheses is compared with the value, and never matches.'
    elif is_class_capture(pattern, arm, module):
        definition = module.global_definition(name)
        message = f'`{name}` without parentheses is a new variable, and matches everything.'
    else:
        return
    if isinstance(definition, TypeAlias):
        yield RawFinding(pattern, message, 'Name the classes of this alias, as in `A() | B()`.')
    else:
        edits = _edits(pattern, name, module)
        yield RawFinding(pattern, message, f'Write `{name}()`.', edits)


def is_class_capture(pattern: ast.pattern, arm: ast.match_case, module: Module) -> bool:
    """Return whether a pattern binds the name of a class, although the class is meant."""
    if not isinstance(pattern, ast.MatchAs) or pattern.pattern is not None or pattern.name is None:
        return False
    name = pattern.name
    definition = module.global_definition(name)
    if not isinstance(definition, TypeInfo | TypeAlias) and (
        definition is not None or name not in _BUILTINS
    ):
        return False
    # A name such as `date` or `type` is also the natural one of a variable.
    return name[0].isupper() or not _reads(arm, name)


def _reads(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load)
        for part in walk(node)
    )


def _edits(
    pattern: ast.MatchAs | ast.MatchValue, name: str, module: Module
) -> tuple[TextEdit, ...]:
    """Return the edit that adds parentheses; none if the function uses the name as a variable."""
    if isinstance(pattern, ast.MatchAs) and any(
        _is_variable(node, name) for node in walk(module.scope_of(pattern))
    ):
        return ()
    return (node_edit(pattern, f'{name}()', module),)


def _is_variable(node: ast.AST, name: str) -> bool:
    """Return whether a node binds a name, or is an arm that reads the name that it binds."""
    match node:
        case ast.Name(id, ast.Store() | ast.Del()):
            return id == name
        case ast.arg(argument):
            return argument == name
        case ast.match_case(pattern):
            captures = (part for part in walk(pattern) if isinstance(part, ast.MatchAs))
            return any(part.name == name for part in captures) and _reads(node, name)
        case _:
            return False


RULE = Rule(
    'SW123', 'class without parentheses in a pattern', 'error', __doc__ or '', _find_class_captures
)
