r"""# SW124: Result compared with a value

Compare a Result with a Result, or compare the value in it. A Result is never equal to a value or to
an error, so such a comparison has always the same outcome.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class NoSuchCart(TaggedError, category=Category.NOT_FOUND, message='There is no cart {number}.'):
    number: int


def count_items(number: int) -> Result[int, NoSuchCart]:
    return Success(3) if number == 1 else Failure(NoSuchCart(number))
```

Reported:

```python
def is_empty(number: int) -> bool:
    return count_items(number) == 0
```

Fixed:

```python
def has_no_items(number: int) -> bool:
    return count_items(number) == Success(0)
```

| Expression | Reported |
| --- | --- |
| `result == 0`, `result != 0`, `result is None`, `result in [0, 1]`, `0 in results` | yes |
| A comparison with an error, or with a coroutine that is not awaited | yes |
| A pattern for a value or an error in the match of a Result: `case 0`, `case NoSuchCart()` | yes |
| `result == Success(0)`, `result == other`, `result in results` | no |
| A Result or None: `result is None`, `result == None` | no |
| A value of the type `Any`, `object` or a type variable, or whose class defines `__eq__` | no |

Editors offer `Success(0)` in place of the value, or `Failure(error)` in place of the error.
"""

import ast
import sys
from collections.abc import Iterator

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check._mypy.type_operations import equality_owner
from seamwise.check._mypy.types import (
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypedDictType,
)
from seamwise.check.facts import QuickFix
from seamwise.check.findings import RawFinding
from seamwise.check.inference.edits.annotations import node_edit, node_source
from seamwise.check.inference.edits.imports import import_edits
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    EVERY_RESULT,
    TAGGED_ERROR,
    are_results,
    awaited_type,
    base_names,
    item_type,
    union_members,
)
from seamwise.check.typed_ast.program import Module, pattern_alternatives

_MAX_CODE = 40
"""Longest code excerpt in a message, in characters."""
_EQUALITY_MODULES = sys.stdlib_module_names - {'unittest'}
"""Modules whose classes are equal to their own kind only; a mock may be equal to anything."""


def _find_compared_results(module: Module) -> Iterator[RawFinding]:
    for comparison in module.nodes_of_type(ast.Compare):
        left = comparison.left
        for operator, right in zip(comparison.ops, comparison.comparators, strict=True):
            yield from _check_comparison(left, operator, right, module)
            left = right
    for match in module.nodes_of_type(ast.Match):
        if are_results(module.types_of(match.subject)):
            for arm in match.cases:
                for pattern in pattern_alternatives(arm.pattern):
                    if _is_of_value(pattern, module):
                        yield _pattern_finding(pattern, module)


def _check_comparison(
    left: ast.expr, operator: ast.cmpop, right: ast.expr, module: Module
) -> Iterator[RawFinding]:
    match operator:
        case ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot():
            for result, value in ((left, right), (right, left)):
                if are_results(module.types_of(result)) and _is_value(value, module):
                    yield _comparison_finding(operator, value, module)
        case ast.In() | ast.NotIn() if _contains_values(left, right, module):
            yield RawFinding(
                left,
                'A Result is never equal to a value in this container.',
                'Match the Result, and test the value in it.',
            )
        case ast.In() | ast.NotIn() if _is_value(left, module) and _contains_results(right, module):
            yield _comparison_finding(operator, left, module)
        case _:
            pass


def _contains_values(result: ast.expr, container: ast.expr, module: Module) -> bool:
    """Return whether a Result is searched in a container of values."""
    if not are_results(module.types_of(result)):
        return False
    match container:
        case ast.List(items) | ast.Tuple(items) | ast.Set(items) if items:
            return all(_is_value(item, module) for item in items)
        case _:
            items_of_types = [item_type(type_) for type_ in module.types_of(container)]
            return bool(items_of_types) and all(map(_is_type_of_value, items_of_types))


def _contains_results(container: ast.expr, module: Module) -> bool:
    return are_results([item_type(type_) for type_ in module.types_of(container)])


def _is_value(node: ast.expr, module: Module) -> bool:
    """Return whether an expression is known to be no Result, and equal to none."""
    match node:
        case (
            ast.Constant() | ast.JoinedStr() | ast.UnaryOp(ast.UAdd() | ast.USub(), ast.Constant())
        ):
            return True
        case _:
            types = module.types_of(node)
            return bool(types) and all(map(_is_type_of_value, types))


def _is_type_of_value(type_: Type | None) -> bool:
    members = list(union_members(type_))
    # mypy infers None for some calls of generic functions with arguments of the type Any.
    return any(not isinstance(member, NoneType) for member in members) and all(
        map(_is_member_of_value, members)
    )


def _is_member_of_value(member: ProperType) -> bool:
    match member:
        case NoneType() | TupleType() | TypedDictType() | LiteralType():
            return True
        case Instance() if awaited_type(member) is not None:
            return _is_no_result(member.type)
        case Instance() if not member.type.is_protocol and _is_no_result(member.type):
            module, _, name = equality_owner(member).partition('.')
            return member.type.fullname != 'builtins.object' and (
                module in _EQUALITY_MODULES or name == 'object'
            )
        case _:
            return False


def _is_no_result(info: TypeInfo) -> bool:
    """Return whether no instance of a class is a Result; a base class of Result may be one."""
    return not info.fullname.startswith('returns.') and not any(
        base.fullname in EVERY_RESULT for base in info.mro
    )


def _is_of_value(pattern: ast.pattern, module: Module) -> bool:
    """Return whether a pattern matches values or errors, so never a Result."""
    match pattern:
        case ast.MatchSingleton() | ast.MatchSequence() | ast.MatchMapping():
            return True
        case ast.MatchValue(value):
            return _is_value(value, module)
        case ast.MatchClass(class_):
            info = module.class_at(class_)
            return (
                info is not None
                and info.fullname != 'builtins.object'
                and not info.is_protocol
                and not info.fallback_to_any
                and _is_no_result(info)
            )
        case _:
            return False


def _comparison_finding(operator: ast.cmpop, value: ast.expr, module: Module) -> RawFinding:
    message = f'A Result is never equal to {_excerpt(value, module)}.'
    members = list(union_members(module.type_of(value)))
    if any(awaited_type(member) is not None for member in members):
        return RawFinding(value, message, 'Await it first.')
    is_error = any(TAGGED_ERROR in base_names(member) for member in members)
    container = 'Failure' if is_error else 'Success'
    quick_fixes: tuple[QuickFix, ...] = ()
    if isinstance(operator, ast.Eq | ast.NotEq):
        quick_fixes = (_wrapped(value, container, module),)
    return RawFinding(
        value,
        message,
        f'Compare it with a Result, as in `{container}(…)`, or match it.',
        quick_fixes=quick_fixes,
    )


def _pattern_finding(pattern: ast.pattern, module: Module) -> RawFinding:
    info = module.class_at(pattern.cls) if isinstance(pattern, ast.MatchClass) else None
    is_error = info is not None and info.has_base(TAGGED_ERROR)
    container = 'Failure' if is_error else 'Success'
    return RawFinding(
        pattern,
        f'A Result never matches {_excerpt(pattern, module)}.',
        f'Match its {"error" if is_error else "value"}, as in `case {container}(…)`.',
        quick_fixes=(_wrapped(pattern, container, module),),
    )


def _excerpt(node: ast.expr | ast.pattern, module: Module) -> str:
    text = node_source(node, module)
    kind = 'pattern' if isinstance(node, ast.pattern) else 'value'
    return f'`{text}`' if len(text) <= _MAX_CODE and '\n' not in text else f'this {kind}'


def _wrapped(node: ast.expr | ast.pattern, container: str, module: Module) -> QuickFix:
    text = f'{container}({node_source(node, module)})'
    edits = (node_edit(node, text, module), *import_edits(container, 'seamwise', module))
    return QuickFix(f'Put it into a {container}', edits)


RULE = Rule('SW124', 'Result compared with a value', 'error', __doc__ or '', _find_compared_results)
