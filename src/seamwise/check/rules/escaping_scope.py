"""# SW110: a `do` that escapes its scope.

A `do` ends the function that it belongs to. When that function has ended, or runs in another thread, or does not hold the task
that fails, there is nothing to end: `ScopeLeaked` is raised, or a task fails and nobody hears of it. So nothing that holds a
`do` may be returned, stored where it outlives the function (an attribute, a container that comes from outside, a global, a
context variable), registered as a callback, or go into a thread or a task.

A task group that is opened inside of the function holds its tasks: the first failure cancels the siblings and becomes the
result. One that comes from outside does not. Nor does `gather`: it lets the siblings run on after the function has ended.
Closures that are called inside, and helpers that are called or awaited with the `do`, are fine.

```python
import asyncio

from seamwise import Category, Do, Failure, Result, Success, TaggedError, fallible


class NoPrice(TaggedError, category=Category.NOT_FOUND, message='{article!r} has no price.'):
    article: str


async def price(article: str) -> Result[int, NoPrice]:
    return Success(3) if article == 'book' else Failure(NoPrice(article))


async def priced(do: Do[NoPrice], article: str) -> int:
    return do(await price(article))
```

Fails:

```python
@fallible
async def total(do: Do[NoPrice], articles: list[str]) -> int:
    return sum(await asyncio.gather(*[priced(do, one) for one in articles]))
```

Mended:

```python
@fallible
async def sum_of(do: Do[NoPrice], articles: list[str]) -> int:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(priced(do, one)) for one in articles]
    return sum(task.result() for task in tasks)
```
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from mypy.types import (
    CallableType,
    Instance,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    get_proper_type,
)

from seamwise.check.findings import RawFinding
from seamwise.check.rules.escape_routes import (
    CALLED_BACK,
    GROUPS,
    IN_TASKS,
    IN_THREADS,
    LISTENED,
    REGISTERED,
    STORES,
    TASKS,
    THREADS,
)
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import CONTAINERS, base_names, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, walk

DO = 'seamwise.scope.Do'
FALLIBLE = 'seamwise.scope.fallible'

WAITING = frozenset(
    {'typing.Awaitable', 'typing.Iterator', 'typing.AsyncIterator', 'functools.partial', DO}
)
DONE = frozenset({'_asyncio.Future', 'asyncio.futures.Future', 'concurrent.futures._base.Future'})
"""What will have a value: what makes it is found where it is made."""
SCOPES = (*FUNCTIONS, ast.Lambda)
Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

INSIDE = (
    'Use it inside, and let only values leave: `do` has nothing to end once its function has ended.'
)
THREAD_HELP = (
    'Let the thread give a Result, and hand that to `do` here: `do(await to_thread(call))`.'
)
TASK_HELP = (
    'Open `async with TaskGroup() as group` in this function and say `group.create_task(…)`; '
    'or let the task give a Result and hand that to `do`, as `do(await collect_async(…))` does.'
)


def find(module: Module) -> Iterator[RawFinding]:
    """Give each way on which a `do`, or what holds one, leaves the function that it could end."""
    for function in module.functions():
        own = _own(function, module)
        if own:
            yield from _Scope(function, own, module).escapes()


def _own(function: Function, module: Module) -> frozenset[str]:
    """Give the names of the parameters that are a `Do`."""
    declared = module.declared_type(function)
    pairs = () if declared is None else zip(declared.arg_names, declared.arg_types, strict=True)
    return frozenset(
        name
        for name, typed in pairs
        if name is not None and any(DO in base_names(one) for one in union_members(typed))
    )


class _Scope:
    """One function that has a `do`, with all functions inside of it."""

    def __init__(self, function: Function, own: frozenset[str], module: Module) -> None:
        self.function = function
        self.own = own
        self.module = module
        self.ends = any(module.full_name(one) == FALLIBLE for one in function.decorator_list)
        """Whether its `do` ends it; that of a helper ends a function further out."""
        self.nodes = [node for statement in function.body for node in walk(statement)]
        self.holding = set(own)
        """Names of what holds the `do`: closures, coroutines, containers."""
        while self._grows():
            pass

    def escapes(self) -> Iterator[RawFinding]:
        """Give each place where it, or what holds it, gets out."""
        for node in self.nodes:
            match node:
                case ast.Return(ast.expr() as value) | ast.Yield(ast.expr() as value) if (
                    self.ends and self._around(node) is self.function
                ):
                    if self._holds(value):
                        yield RawFinding(
                            node,
                            'What is handed out here holds a `do`, whose function has ended by then.',
                            INSIDE,
                        )
                case ast.Call():
                    yield from self._call(node)
                case ast.stmt() | ast.NamedExpr():
                    for target, value in _assigned(node):
                        if self._holds(value) and self._is_outside(target):
                            yield RawFinding(
                                node,
                                'What is stored here holds a `do`, and may outlive its function.',
                                INSIDE,
                            )
                case _:
                    continue

    def _call(self, call: ast.Call) -> Iterator[RawFinding]:
        if not any(self._holds(one) for one in _arguments(call)):
            return
        names = {self.module.full_name(call.func)} | self._made(call)
        is_method = isinstance(call.func, ast.Attribute)
        if names & THREADS or (is_method and self._is_method(call.func, IN_THREADS)):
            yield RawFinding(
                call,
                'A `do` goes into another thread here, where it cannot end its function.',
                THREAD_HELP,
            )
        elif names & TASKS or (is_method and self._is_method(call.func, IN_TASKS)):
            yield RawFinding(
                call,
                'A `do` goes into a task here that no task group of its function holds.',
                TASK_HELP,
            )
        elif names & REGISTERED or (
            is_method and (self._is_method(call.func, CALLED_BACK) or self._is_listened(call))
        ):
            yield RawFinding(
                call,
                'What is registered here holds a `do`, and is called when nobody hears of its failure.',
                INSIDE,
            )
        elif isinstance(call.func, ast.Attribute) and self._is_method(call.func, GROUPS):
            if not self._is_opened_here(call.func.value):
                yield RawFinding(
                    call,
                    'A `do` goes into a task of a group that was opened outside of its function.',
                    TASK_HELP,
                )
        elif (target := self._stored_in(call)) is not None and self._is_outside(target):
            yield RawFinding(
                call, 'What is stored here holds a `do`, and may outlive its function.', INSIDE
            )

    def _made(self, call: ast.Call) -> frozenset[str]:
        """Give the class that a call makes an object of, with its bases."""
        callee = self.module.type_of(call.func)
        is_class = any(_is_class(one) for one in union_members(callee))
        return (
            frozenset[str]().union(
                *(base_names(one) for one in union_members(self.module.type_of(call)))
            )
            if is_class
            else frozenset()
        )

    def _is_method(self, function: ast.expr, table: Mapping[str, frozenset[str]]) -> bool:
        if not isinstance(function, ast.Attribute):
            return False
        owners = [base_names(one) for one in union_members(self.module.type_of(function.value))]
        return any(
            function.attr in names and any(kind in own for own in owners)
            for kind, names in table.items()
        )

    def _is_listened(self, call: ast.Call) -> bool:
        """Whether a closure is handed to somebody from outside who keeps it, as `bus.subscribe(lambda: …)`."""
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr not in LISTENED
            or not self._is_outside(call.func)
        ):
            return False
        closures = [
            one
            for one in _arguments(call)
            if self._holds(one) and _is_function(self.module.type_of(one))
        ]
        return bool(closures) and isinstance(self.module.parents.get(call), ast.Expr)

    def _stored_in(self, call: ast.Call) -> ast.expr | None:
        """Give what a call stores its argument in."""
        if isinstance(call.func, ast.Attribute) and self._is_method(call.func, STORES):
            return call.func
        is_set = (
            self.module.full_name(call.func) == 'builtins.setattr'
            or ast.unparse(call.func) == 'object.__setattr__'
        )
        return _part(call.args[0]) if is_set and call.args else None

    def _is_opened_here(self, group: ast.expr) -> bool:
        """Whether a task group was opened in this function; of one that a helper is handed nobody knows."""
        if not isinstance(group, ast.Name):
            return False
        if self._is_shadowed(group):
            return True
        bound = self._bound.get(group.id)
        if bound is None:
            return not self.ends and group.id in _parameters(self.function)
        return all(
            not isinstance(one, ast.Name | ast.Attribute) or self._is_opened_here(one)
            for one in bound
        )

    def _is_outside(self, target: ast.expr) -> bool:
        """Whether what is assigned to, or stored in, is more than a local name or what that alone holds."""
        if isinstance(target, ast.Name):
            return self._is_elsewhere(target)
        root = _root(target)
        if not isinstance(root, ast.Name):
            return not isinstance(root, ast.Call | ast.List | ast.Dict | ast.Set)
        if self._is_shadowed(root):
            return self._is_receiver(root)
        bound = self._bound.get(root.id)
        if bound is None:
            return self.ends or root.id not in _parameters(self.function) or self._is_receiver(root)
        return any(
            isinstance(one, ast.Name | ast.Attribute | ast.Subscript)
            and self._is_outside(_part(one))
            for one in bound
        )

    def _is_receiver(self, name: ast.Name) -> bool:
        """Whether it is the `self` of a method; an object that is still being made is its maker's to keep."""
        around = self._around(name)
        while around is not None:
            given = _parameters(around)
            if name.id in given:
                is_new = not isinstance(around, ast.Lambda) and around.name == '__init__'
                return (
                    isinstance(self.module.parents.get(around), ast.ClassDef)
                    and given[0] == name.id
                    and not is_new
                )
            around = self._around(around)
        return False

    def _is_elsewhere(self, name: ast.Name) -> bool:
        """Whether a name that is assigned to is one of the module, or of a function further out."""
        around = self._around(name)
        while around is not None:
            own = [node for node in walk(around) if self._around(node) is around]
            said = [
                one
                for one in own
                if isinstance(one, ast.Global | ast.Nonlocal) and name.id in one.names
            ]
            if any(isinstance(one, ast.Global) for one in said):
                return True
            is_bound = any(
                isinstance(one, ast.Name) and one.id == name.id and isinstance(one.ctx, ast.Store)
                for one in own
            )
            if not said and (is_bound or name.id in _parameters(around)):
                return False
            if around is self.function:
                return True
            around = self._around(around)
        return False

    @cached_property
    def _bound(self) -> Mapping[str, Sequence[ast.expr]]:
        """Give what each name is bound to, in this function and in those inside of it."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            for target, value in _assigned(node):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(value)
            if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                found.setdefault(node.optional_vars.id, []).append(
                    ast.Call(node.context_expr, [], [])
                )
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                for one in walk(node.target):
                    if isinstance(one, ast.Name):
                        found.setdefault(one.id, []).append(ast.Call(node.iter, [], []))
        return found

    def _grows(self) -> bool:
        before = len(self.holding)
        for node in self.nodes:
            for target, value in _assigned(node):
                self._keeps(target, [value])
            if isinstance(node, Named) and any(self._is_held(one) for one in _inside(node)):
                self.holding.add(node.name)
            elif isinstance(node, ast.Call) and (stored := self._stored_in(node)) is not None:
                self._keeps(stored, _arguments(node))
        return len(self.holding) > before

    def _keeps(self, target: ast.expr, values: Sequence[ast.expr]) -> None:
        root = _root(target)
        if (
            isinstance(root, ast.Name)
            and any(self._holds(one) for one in values)
            and not self._is_outside(target)
        ):
            self.holding.add(root.id)

    def _is_held(self, name: ast.Name) -> bool:
        return (
            name.id in self.holding
            and isinstance(name.ctx, ast.Load)
            and not self._is_shadowed(name)
        )

    def _holds(self, node: ast.expr) -> bool:
        """Whether the value of an expression has the `do`, to use it at some later time."""
        match node:
            case ast.Name():
                return self._is_held(node) and (
                    node.id in self.own or _may_hold(self.module.type_of(node))
                )
            case ast.Attribute(value) | ast.Subscript(value):
                return self._holds(value) and _may_hold(self.module.type_of(node))
            case ast.Lambda() | ast.GeneratorExp():
                return any(self._is_held(one) for one in _inside(node))
            case ast.ListComp(element) | ast.SetComp(element) | ast.NamedExpr(_, element):
                return self._holds(element)
            case ast.Starred(whole):
                return self._holds(whole) and _items_may_hold(self.module.type_of(whole))
            case ast.DictComp():
                return self._holds(node.key) or self._holds(node.value)
            case ast.IfExp():
                return self._holds(node.body) or self._holds(node.orelse)
            case (
                ast.Tuple(elements)
                | ast.List(elements)
                | ast.Set(elements)
                | ast.BoolOp(_, elements)
            ):
                return any(self._holds(one) for one in elements)
            case ast.Dict(keys, values):
                return any(self._holds(one) for one in (*keys, *values) if one is not None)
            case ast.Call():
                return self._gives(node)
            case _:
                return False

    def _gives(self, call: ast.Call) -> bool:
        """Whether what a call gives still holds what it was handed: a coroutine does, a list of numbers does not."""
        callee = (
            call.func.value
            if isinstance(call.func, ast.Attribute) and call.func.attr == 'fail'
            else call.func
        )
        if any(DO in base_names(one) for one in union_members(self.module.type_of(callee))):
            return False
        if not self._holds(call.func) and not any(self._holds(one) for one in _arguments(call)):
            return False
        made = self._made(call)
        # What a container of the standard kinds is made from is read to its end.
        return _may_hold(self.module.type_of(call), objects=bool(made) and not made & CONTAINERS)

    def _is_shadowed(self, name: ast.Name) -> bool:
        """Whether a name is a parameter of a function further in."""
        node: ast.AST = name
        while (around := self.module.parents.get(node)) is not None and around is not self.function:
            if isinstance(around, ast.arguments):
                # A default is read outside.
                function = self.module.parents.get(around)
                if function is None or function is self.function:
                    return False
                node = function
                continue
            if (
                isinstance(around, SCOPES)
                and name.id in _parameters(around)
                and node not in getattr(around, 'decorator_list', [])
            ):
                return True
            node = around
        return False

    def _around(self, node: ast.AST) -> Function | ast.Lambda | None:
        around = self.module.parents.get(node)
        while around is not None and not isinstance(around, SCOPES):
            around = self.module.parents.get(around)
        return around


def _parameters(function: Function | ast.Lambda) -> list[str]:
    given = function.args
    starred = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *starred)]


def _arguments(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Give the targets of an assignment, each with what it is given."""
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                yield from _paired(target, value)
        case (
            ast.AnnAssign(target, _, ast.expr() as value)
            | ast.AugAssign(target, _, value)
            | ast.NamedExpr(target, value)
        ):
            yield target, value
        case _:
            return


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
    elif isinstance(value, ast.Tuple | ast.List) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _paired(one, part)
    else:
        for one in target.elts:
            yield from _paired(one, value)


def _part(node: ast.expr) -> ast.Attribute:
    return ast.Attribute(node, '', ast.Store())


def _root(node: ast.expr) -> ast.expr:
    """Give what `a.b[0].c` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _inside(node: Named | ast.Lambda | ast.GeneratorExp) -> Iterator[ast.Name]:
    for one in walk(node):
        if isinstance(one, ast.Name):
            yield one


def _is_class(type_: ProperType) -> bool:
    signatures = type_.items if isinstance(type_, Overloaded) else [type_]
    return any(isinstance(one, CallableType) and one.is_type_obj() for one in signatures)


def _is_function(type_: Type | None) -> bool:
    return any(
        isinstance(one, CallableType | Overloaded) or 'functools.partial' in base_names(one)
        for one in union_members(type_)
    )


def _may_hold(type_: Type | None, *, objects: bool = True) -> bool:
    """Whether a value of this type may use a `do` later: what waits to be run, what holds such, and objects of any class."""
    for one in union_members(type_):
        own = base_names(one)
        if isinstance(one, CallableType | Overloaded) or own & WAITING:
            if not own & DONE:
                return True
        elif isinstance(one, TupleType):
            if any(_may_hold(get_proper_type(part), objects=objects) for part in one.items):
                return True
        elif isinstance(one, Instance) and (
            own & CONTAINERS or one.type.fullname.startswith(('builtins.', 'typing.'))
        ):
            if any(_may_hold(part, objects=objects) for part in one.args):
                return True
        elif objects and isinstance(one, Instance) and not own & DONE:
            return True
    return False


def _items_may_hold(type_: Type | None) -> bool:
    return any(
        _may_hold(part)
        for one in union_members(type_)
        if isinstance(one, Instance)
        for part in one.args
    )


RULE = Rule('SW110', 'a `do` that escapes its scope', 'error', __doc__ or '', find)
