"""# SW101: a Result thrown away.

A function that returns a Result says by it what can go wrong. Whoever drops the Result drops the error with it, and nobody is
told: no exception is raised either. That goes for a Result that is awaited, for a tuple, list or dict of them, for a task
that will have one, for what a lambda gives to a caller that expects nothing, and for one in a local name that nobody reads.

Matched, unwrapped, passed, returned, yielded and stored ones are used. `_ = save(…)` says that it is meant.

```python
from seamwise import Category, Failure, Result, Success, TaggedError


class DiskFull(TaggedError, category=Category.RESOURCE, message='No room for {name!r}.'):
    name: str


def save(name: str) -> Result[None, DiskFull]:
    return Failure(DiskFull(name)) if name == 'big' else Success(None)
```

Fails:

```python
def save_all(names: list[str]) -> str:
    for name in names:
        save(name)
    return 'saved'
```

Mended:

```python
def save_each(names: list[str]) -> Result[str, DiskFull]:
    for name in names:
        saved = save(name)
        if isinstance(saved, Failure):
            return saved
    return Success('saved')
```
"""

import ast
from collections.abc import Iterable, Iterator

from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    Type,
    UnionType,
    get_proper_type,
)

from seamwise.check.findings import RawFinding
from seamwise.check.liveness import bound_names, unread_assignments
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import (
    CONTAINERS,
    Channel,
    awaited_type,
    base_names,
    channel_of,
    contained_channel,
    format_types,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, walk

HELP = 'Match it, return it, hand it to `do` or to the next step; `_ = …` says that it is meant.'
RAISES = frozenset({
    '_pytest.raises.RaisesExc', '_pytest.raises.RaisesGroup', '_pytest.python_api.RaisesContext', 'unittest.case._AssertRaisesContext',
})  # fmt: skip
LONGEST = 60
"""Characters of code that a message has room for."""
STORES = CONTAINERS | {'typing.MutableMapping', 'typing.MutableSequence'}


def find(module: Module) -> Iterator[RawFinding]:
    """Give each statement, lambda and assignment that drops a Result."""
    for statement in module.nodes_of_type(ast.Expr):
        yield from _dropped(statement, module)
    for given in module.nodes_of_type(ast.Lambda):
        yield from _in_call(given, module)
    for function in _binding(module):
        yield from _unread(function, module)


def _dropped(statement: ast.Expr, module: Module) -> Iterator[RawFinding]:
    value = statement.value
    # A name alone is read, and a walrus is an assignment.
    if isinstance(value, ast.Name | ast.Attribute | ast.NamedExpr | ast.Yield | ast.YieldFrom):
        return
    found = _result(value, module)
    if found is not None and not _was_stored(value, module) and not _must_raise(statement, module):
        yield RawFinding(
            statement, f'The Result of {_shortened(value)} is thrown away{_lost(found)}.', HELP
        )


def _was_stored(value: ast.expr, module: Module) -> bool:
    """Whether it comes out of a container, where it was, and may still be: `results.pop()`, `cache.setdefault(key, result)`."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    return any(base_names(one) & STORES for one in union_members(module.type_of(value.func.value)))


def _must_raise(statement: ast.Expr, module: Module) -> bool:
    """Whether a test says that it raises, so that there is no Result: the last one in `with pytest.raises(…)`."""
    around = module.parents.get(statement)
    if not isinstance(around, ast.With | ast.AsyncWith) or around.body[-1] is not statement:
        return False
    managers = [
        one for item in around.items for one in union_members(module.type_of(item.context_expr))
    ]
    return any(base_names(one) & RAISES for one in managers)


def _in_call(given: ast.Lambda, module: Module) -> Iterator[RawFinding]:
    around = module.parents.get(given)
    if isinstance(around, ast.keyword):
        call = module.parents.get(around)
        if isinstance(call, ast.Call) and around.arg is not None:
            yield from _unheard(given, call, around.arg, module)
    elif isinstance(around, ast.Call) and given in around.args:
        place = around.args.index(given)
        # Behind a `*names` nobody knows which place it has.
        if not any(isinstance(one, ast.Starred) for one in around.args[:place]):
            yield from _unheard(given, around, place, module)


def _unheard(
    given: ast.Lambda, call: ast.Call, place: int | str, module: Module
) -> Iterator[RawFinding]:
    found = _result(given.body, module)
    if found is None or not _is_dropped_by(call, place, module):
        return
    yield RawFinding(
        given.body,
        f'The Result of {_shortened(given.body)} is thrown away{_lost(found)}: nobody reads what this lambda gives.',
        'Hand over a function that looks at it; `tap_error`, a log, or a `match` will do.',
    )


def _is_dropped_by(call: ast.Call, place: int | str, module: Module) -> bool:
    """Whether what a function is handed at a place is called for nothing: the type says that it gives None, or any object."""
    if (
        isinstance(call.func, ast.Attribute)
        and channel_of(module.type_of(call.func.value)) is not None
    ):
        # The step of a Failure is never called.
        return False
    callee = module.type_of(call.func)
    signatures = [
        one
        for member in union_members(callee)
        for one in (member.items if isinstance(member, Overloaded) else [member])
    ]
    return bool(signatures) and all(
        isinstance(one, CallableType) and _wants_nothing(one, place) for one in signatures
    )


def _wants_nothing(signature: CallableType, place: int | str) -> bool:
    argument = (
        signature.argument_by_position(place)
        if isinstance(place, int)
        else signature.argument_by_name(place)
    )
    if argument is None:
        return False
    wanted = get_proper_type(argument.typ)
    options = (
        [get_proper_type(one) for one in wanted.items]
        if isinstance(wanted, UnionType)
        else [wanted]
    )
    functions = [one for one in options if isinstance(one, CallableType)]
    return bool(functions) and all(_is_nothing(one.ret_type) for one in functions)


def _is_nothing(type_: Type) -> bool:
    found = get_proper_type(type_)
    return isinstance(found, NoneType) or (
        isinstance(found, Instance) and found.type.fullname == 'builtins.object'
    )


def _binding(module: Module) -> Iterable[Function]:
    """Give the functions that bind a Result to a name: only there it is worth the while to follow the names."""
    found: dict[Function, None] = {}
    given: list[tuple[ast.AST, ast.expr | None]] = [
        (one, one.value) for one in module.nodes_of_type(ast.Assign)
    ]
    given += [(one, one.value) for one in module.nodes_of_type(ast.AnnAssign)]
    given += [(one, one.value) for one in module.nodes_of_type(ast.NamedExpr)]
    for node, value in given:
        if value is not None and (
            isinstance(value, ast.Tuple) or _result(value, module) is not None
        ):
            found.update(dict.fromkeys(_around(node, module)))
    bound: list[tuple[ast.AST, ast.expr | None]] = [
        (one, one.target) for one in module.nodes_of_type(ast.For)
    ]
    bound += [(one, one.target) for one in module.nodes_of_type(ast.AsyncFor)]
    bound += [(one, one.optional_vars) for one in module.nodes_of_type(ast.withitem)]
    for node, target in bound:
        if target is None:
            continue
        if any(
            contained_channel(module.variable_type(name)) is not None
            for name in bound_names(target)
        ):
            found.update(dict.fromkeys(_around(node, module)))
    return found


def _around(node: ast.AST, module: Module) -> Iterator[Function]:
    """Give the functions that a node stands in, the innermost first."""
    around = module.parents.get(node)
    while around is not None:
        if isinstance(around, FUNCTIONS):
            yield around
        around = module.parents.get(around)


def _unread(
    function: ast.FunctionDef | ast.AsyncFunctionDef, module: Module
) -> Iterator[RawFinding]:
    dead = {
        name
        for name in unread_assignments(function, lambda item: _swallows(item, module))
        if name.id != '_'
    }
    if not dead:
        return
    for node in walk(function):
        if isinstance(node, ast.Assign):
            yield from _assigned(node, node.targets, node.value, dead, module)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _assigned(node, [node.target], node.value, dead, module)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.NamedExpr):
            yield from _assigned(node, [node.value.target], node.value.value, dead, module)
        elif isinstance(node, ast.For | ast.AsyncFor):
            yield from _bound(node, node.target, dead, module)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _bound(node, item.optional_vars, dead, module)


def _assigned(
    statement: ast.stmt, bound: list[ast.expr], value: ast.expr, dead: set[ast.Name], module: Module
) -> Iterator[RawFinding]:
    if (
        len(bound) == 1
        and isinstance(bound[0], ast.Tuple)
        and isinstance(value, ast.Tuple)
        and len(bound[0].elts) == len(value.elts)
    ):
        for one, part in zip(bound[0].elts, value.elts, strict=True):
            yield from _assigned(statement, [one], part, dead, module)
        return
    if len(bound) == 1 and isinstance(bound[0], ast.Tuple | ast.List):
        yield from _bound(statement, bound[0], dead, module)
        return
    names = [one for one in bound if isinstance(one, ast.Name)]
    if (
        len(names) < len(bound)
        or not all(one in dead for one in names)
        or isinstance(value, ast.Name | ast.Attribute)
    ):
        return
    found = _result(value, module)
    if found is not None and not _was_stored(value, module):
        yield _nobody_reads(statement, names[0], found)


def _bound(
    statement: ast.stmt, target: ast.expr, dead: set[ast.Name], module: Module
) -> Iterator[RawFinding]:
    for name in bound_names(target):
        found = contained_channel(module.variable_type(name)) if name in dead else None
        if found is not None:
            yield _nobody_reads(statement, name, found)


def _nobody_reads(statement: ast.stmt, name: ast.Name, found: Channel) -> RawFinding:
    return RawFinding(
        statement, f'The Result in `{name.id}` is thrown away{_lost(found)}: nobody reads it.', HELP
    )


def _swallows(item: ast.withitem, module: Module) -> bool:
    """Whether a context manager may end an exception: `__exit__` says so by the type bool (PEP 484's checkers agree on it)."""
    managers = list(union_members(module.type_of(item.context_expr)))
    return not managers or any(_may_swallow(one) for one in managers)


def _may_swallow(manager: object) -> bool:
    if not isinstance(manager, Instance):
        return True
    methods = [
        found
        for name in ('__exit__', '__aexit__')
        if (found := manager.type.get_method(name)) is not None
    ]
    typed = [get_proper_type(one.type) for one in methods if one.type is not None]
    return not typed or any(not isinstance(one, CallableType) or _says_bool(one) for one in typed)


def _says_bool(method: CallableType) -> bool:
    for one in union_members(method.ret_type):
        for given in union_members(awaited_type(one) or one):
            if isinstance(given, LiteralType) and given.value is False:
                continue
            if not isinstance(given, NoneType):
                return True
    return False


def _result(value: ast.expr, module: Module) -> Channel | None:
    return next(
        (found for one in module.types_of(value) if (found := contained_channel(one)) is not None),
        None,
    )


def _lost(found: Channel) -> str:
    return f', and with it its error ({format_types(found.errors)})' if found.errors else ''


def _shortened(value: ast.expr) -> str:
    if isinstance(value, ast.Await):
        value = value.value
    if not isinstance(value, ast.Call):
        return 'this expression'
    called = ast.unparse(value.func)
    return f'`{called}(…)`' if len(called) <= LONGEST else 'this call'


RULE = Rule('SW101', 'a Result thrown away', 'error', __doc__ or '', find)
