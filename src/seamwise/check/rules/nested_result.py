"""# SW119: Result in a Result.

Use `.bind` for a function that returns a Result. `.map` puts its Result into another one, so that
a failure of the function looks like a success.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class UserNotFound(TaggedError, category=Category.NOT_FOUND, message='There is no user {uid}.'):
    uid: int


class CartEmpty(TaggedError, category=Category.CONFLICT, message='The cart is empty.'):
    pass


def find_user(uid: int) -> Result[str, UserNotFound]:
    return Success('ada') if uid == 1 else Failure(UserNotFound(uid))


def load_cart(user: str) -> Result[list[str], CartEmpty]:
    return Success(['tea']) if user == 'ada' else Failure(CartEmpty())
```

Reported:

```python
def cart_of(uid: int) -> bool:
    return isinstance(find_user(uid).map(load_cart), Success)
```

Fixed:

```python
def cart_for(uid: int) -> bool:
    return isinstance(find_user(uid).bind(load_cart), Success)
```

`--fix` replaces `.map` by `.bind`. `map_async` with a function that returns a Result is reported
too; use `bind_async`.
"""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    Channel,
    channel_of,
    returned_type,
    union_members,
)
from seamwise.check.typed_ast.program import Module

_MAP_ASYNC = frozenset({'seamwise.map_async', 'seamwise.compose.map_async'})


def _find_nested_results(module: Module) -> Iterator[RawFinding]:
    for call in module.nodes_of_type(ast.Call):
        match call:
            case ast.Call(ast.Attribute(value, 'map') as method, [step], []):
                if _is_plain_result(value, module) and _is_nested(call, module):
                    yield RawFinding(
                        call, *_message('.map', '.bind', step), _replacement(method, module)
                    )
            case ast.Call(ast.Name() | ast.Attribute() as function, [value, step]):
                if (
                    module.full_name(function) in _MAP_ASYNC
                    and _is_plain_result(value, module)
                    and _is_nested(call, module)
                ):
                    yield RawFinding(call, *_message('map_async', 'bind_async', step))
            case _:
                pass


def _is_plain_result(value: ast.expr, module: Module) -> bool:
    """Return whether an expression is a Result without another Result in it."""
    channel = channel_of(module.type_of(value))
    return channel is not None and not _contains_result(channel)


def _is_nested(call: ast.Call, module: Module) -> bool:
    channels = [
        channel_of(returned_type(member))
        for type_ in module.types_of(call)
        for member in union_members(type_)
    ]
    return any(channel is not None and _contains_result(channel) for channel in channels)


def _contains_result(channel: Channel) -> bool:
    return any(channel_of(value) is not None for value in channel.values)


def _message(method: str, correct: str, step: ast.expr) -> tuple[str, str]:
    name = (
        f'`{ast.unparse(step)}`' if isinstance(step, ast.Name | ast.Attribute) else 'the function'
    )
    return (
        f'`{method}` puts the Result of {name} into another Result.',
        f'Use `{correct}`, which joins the errors of both.',
    )


def _replacement(method: ast.Attribute, module: Module) -> tuple[TextEdit, ...]:
    line = method.end_lineno or method.lineno
    end = module.column(line, method.end_col_offset or 0)
    start = end - len('map')
    if module.lines[line - 1][start:end] != 'map':
        return ()
    return (TextEdit(line, start, line, end, 'map', 'bind'),)


RULE = Rule('SW119', 'Result in a Result', 'error', __doc__ or '', _find_nested_results)
