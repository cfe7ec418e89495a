"""# SW119: Result in a Result

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

| Call or function | Reported |
| --- | --- |
| `.map`, or `map_async`, with a function that returns a Result | yes |
| `attempt` of a function that returns a Result, also as a decorator | yes |
| A `@fallible` function that returns a Result, which raises a TypeError: use `do(result)` | yes |
| A Result that contains one already, e.g. `find_user(uid).map(str.upper)` of a nested Result | no |

`--fix` replaces `.map` by `.bind`.
"""

import ast
from collections.abc import Iterator

from seamwise.check.facts import TextEdit
from seamwise.check.findings import RawFinding
from seamwise.check.inference import inference_of
from seamwise.check.inference.definitions.functions import FALLIBLE
from seamwise.check.inference.exception_flow.escaping import ATTEMPT, decorator_names
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import Channel, channel_of, returned_type, union_members
from seamwise.check.typed_ast.program import Function, Module

_ATTEMPT_HELP = 'Join both with `.bind(lambda result: result)`, or let the function return a value.'
_MAP_ASYNC = frozenset({'seamwise.map_async', 'seamwise._results.compose.map_async'})


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
                elif module.full_name(function) == ATTEMPT and _is_nested(call, module):
                    yield RawFinding(call, _attempt_message(value), _ATTEMPT_HELP)
            case _:
                pass
    for definition in module.functions():
        yield from _check_decorated(definition, module)


def _check_decorated(function: Function, module: Module) -> Iterator[RawFinding]:
    """Check a function whose decorator puts its value into a Success."""
    names = decorator_names(function, module) & {FALLIBLE, ATTEMPT}
    if not names:
        return
    for node in inference_of(module).own_nodes(ast.Return, function):
        if node.value is None or channel_of(module.type_of(node.value)) is None:
            continue
        if FALLIBLE in names:
            yield RawFinding(
                node,
                f'`{function.name}` returns a Result as its value, for which `@fallible` raises'
                ' a TypeError.',
                'Return the value: `return do(…)`.',
            )
        else:
            yield RawFinding(
                node,
                f'`@attempt` puts this Result of `{function.name}` into another Result.',
                _ATTEMPT_HELP,
            )


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


def _attempt_message(step: ast.expr) -> str:
    return f'`attempt` puts the Result of {_function_name(step)} into another Result.'


def _function_name(step: ast.expr) -> str:
    is_name = isinstance(step, ast.Name | ast.Attribute)
    return f'`{ast.unparse(step)}`' if is_name else 'the function'


def _message(method: str, correct: str, step: ast.expr) -> tuple[str, str]:
    return (
        f'`{method}` puts the Result of {_function_name(step)} into another Result.',
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
