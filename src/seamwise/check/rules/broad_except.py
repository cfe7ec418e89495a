"""# SW103: an `except` that swallows defects or cancellation.

`except Exception` takes in every bug beside what was expected, and turns it into a default, a wrong answer, or silence.
`except BaseException` and a bare `except` take in cancellation too, so that a task cannot be stopped any more. The same goes
for `suppress` of them.

A handler that ends in a `raise` swallows nothing, nor does one that ends in a call which never comes back (`NoReturn`, as
`sys.exit`). One of `except Exception` may also hand the exception to `report_defect`, as the outermost seam does. What is
expected is named: by `attempt`, or by `except` of its own class.

```python
from seamwise import attempt, when
```

Fails:

```python
def read_port(text: str) -> int:
    try:
        return int(text)
    except Exception:
        return 8080
```

Mended:

```python
def port_of(text: str) -> int:
    return attempt(lambda: int(text), when(ValueError).becomes(str)).value_or(8080)
```
"""

import ast
from collections.abc import Iterator, Sequence

from mypy.types import CallableType, Instance, UninhabitedType, get_proper_type

from seamwise.check.findings import RawFinding
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import union_members
from seamwise.check.typed_ast.program import Module, walk

WIDE = frozenset({'builtins.Exception', 'builtins.BaseException'})
SUPPRESS = 'contextlib.suppress'
REPORT = 'seamwise.defects.report_defect'
HELP = 'Name the exceptions that are expected, end in `raise`, or (for `except Exception`) hand it to `report_defect`.'
DEFECTS = 'swallows every defect'
BOTH = 'swallows every defect, and cancellation too'


def find(module: Module) -> Iterator[RawFinding]:
    """Give each handler and each `suppress` that swallows more than its author can know."""
    for handler in module.nodes_of_type(ast.ExceptHandler):
        yield from _handler(handler, module)
    for call in module.nodes_of_type(ast.Call):
        if module.full_name(call.func) == SUPPRESS:
            yield from _suppressed(call, module)


def _handler(node: ast.ExceptHandler, module: Module) -> Iterator[RawFinding]:
    wide = WIDE if node.type is None else _wide(node.type, module)
    if not wide or _ends_in_raise(node.body, module):
        return
    takes_all = 'builtins.BaseException' in wide
    if not takes_all and _reports(node, module):
        return
    said = 'A bare `except`' if node.type is None else f'`except {ast.unparse(node.type)}`'
    yield RawFinding(node, f'{said} {BOTH if takes_all else DEFECTS}.', HELP)


def _suppressed(node: ast.Call, module: Module) -> Iterator[RawFinding]:
    wide = frozenset[str]().union(*(_wide(one, module) for one in node.args))
    if not wide:
        return
    item = module.parents.get(node)
    around = module.parents.get(item) if isinstance(item, ast.withitem) else None
    place = around if isinstance(around, ast.With | ast.AsyncWith) else node
    takes_all = 'builtins.BaseException' in wide
    yield RawFinding(
        place,
        f'`{ast.unparse(node)}` {BOTH if takes_all else DEFECTS}.',
        'Name the exceptions that are expected.',
    )


def _wide(kind: ast.expr, module: Module) -> frozenset[str]:
    if isinstance(kind, ast.Tuple):
        return frozenset[str]().union(*(_wide(one, module) for one in kind.elts))
    names = {module.full_name(kind)}
    typed = module.type_of(kind)
    if (
        isinstance(typed, CallableType)
        and typed.is_type_obj()
        and isinstance(made := get_proper_type(typed.ret_type), Instance)
    ):
        # Under another name: `Anything = Exception`.
        names.add(made.type.fullname)
    return WIDE & names


def _ends_in_raise(body: Sequence[ast.stmt], module: Module) -> bool:
    match body[-1] if body else None:
        case ast.Raise():
            return True
        case ast.Expr(ast.Call() as call) | ast.Expr(ast.Await(ast.Call()) as call):
            # It never comes back: `sys.exit(1)`, or a function that is typed so, which raises.
            return isinstance(module.type_of(call), UninhabitedType)
        case ast.If(_, inner, otherwise):
            return _ends_in_raise(inner, module) and _ends_in_raise(otherwise, module)
        case ast.With(items, inner) | ast.AsyncWith(items, inner):
            return _ends_in_raise(inner, module) or any(
                _raises_at_its_end(one.context_expr, module) for one in items
            )
        case ast.Try(inner, handlers, otherwise, final) | ast.TryStar(
            inner, handlers, otherwise, final
        ):
            ends = _ends_in_raise(otherwise or inner, module) and all(
                _ends_in_raise(one.body, module) for one in handlers
            )
            return ends or _ends_in_raise(final, module)
        case ast.Match(_, cases):
            last = cases[-1]
            is_total = (
                last.guard is None
                and isinstance(last.pattern, ast.MatchAs)
                and last.pattern.pattern is None
            )
            return is_total and all(_ends_in_raise(one.body, module) for one in cases)
        case _:
            return False


def _raises_at_its_end(manager: ast.expr, module: Module) -> bool:
    """Whether a context manager says by its type that it never lets go on what follows it."""
    for one in union_members(module.type_of(manager)):
        method = (
            (one.type.get_method('__exit__') or one.type.get_method('__aexit__'))
            if isinstance(one, Instance)
            else None
        )
        typed = (
            get_proper_type(method.type) if method is not None and method.type is not None else None
        )
        if isinstance(typed, CallableType) and isinstance(
            get_proper_type(typed.ret_type), UninhabitedType
        ):
            return True
    return False


def _reports(handler: ast.ExceptHandler, module: Module) -> bool:
    """Whether the exception, by its name, is handed to `report_defect`."""
    for statement in handler.body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and module.full_name(node.func) == REPORT:
                given = [*node.args, *(one.value for one in node.keywords)]
                if any(isinstance(one, ast.Name) and one.id == handler.name for one in given):
                    return True
    return False


RULE = Rule(
    'SW103', 'an `except` that swallows defects or cancellation', 'error', __doc__ or '', find
)
