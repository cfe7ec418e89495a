"""# SW110: `do` that escapes its scope

Use `do` only while its function runs, and in the same thread. `do` ends its function with a
failure. If the function has ended, or the code runs in another thread or in a task that the
function does not await, `do` raises `ScopeLeaked`, or a task fails unnoticed.

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

Reported:

```python
@fallible
async def total(do: Do[NoPrice], articles: list[str]) -> int:
    return sum(await asyncio.gather(*[priced(do, article) for article in articles]))
```

Fixed:

```python
@fallible
async def sum_of(do: Do[NoPrice], articles: list[str]) -> int:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(priced(do, article)) for article in articles]
    return sum(task.result() for task in tasks)
```

A closure, coroutine or container that uses `do` is treated like `do` itself.

| Use of `do` | Reported |
| --- | --- |
| Returned or yielded by its function | yes |
| Stored in an attribute, a global, a context variable, or a container from outside | yes |
| Registered as a callback | yes |
| Passed to a thread, or to a task outside a task group | yes |
| Passed to a task group from outside the function | yes |
| Passed to `gather`, which lets the siblings of a failed task continue | yes |
| Passed to a task group opened in the function, which cancels the siblings | no |
| Used by a closure or a helper that is called or awaited in the function | no |
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from seamwise.check._mypy.types import (
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
    CALLBACK_FUNCTIONS,
    CALLBACK_METHODS,
    STORE_METHODS,
    SUBSCRIBE_METHODS,
    TASK_FUNCTIONS,
    TASK_GROUP_METHODS,
    TASK_METHODS,
    THREAD_FUNCTIONS,
    THREAD_METHODS,
)
from seamwise.check.rules.rule import Rule
from seamwise.check.typed_ast.channels import CONTAINERS, DO, base_names, may_be, union_members
from seamwise.check.typed_ast.program import (
    FUNCTIONS,
    Function,
    Module,
    call_arguments,
    parameters,
    walk,
)

_FALLIBLE = 'seamwise._results.scope.fallible'

_DEFERRED = frozenset(
    {'typing.Awaitable', 'typing.Iterator', 'typing.AsyncIterator', 'functools.partial', DO}
)
"""Types of values that run code later."""
_FUTURES = frozenset(
    {'_asyncio.Future', 'asyncio.futures.Future', 'concurrent.futures._base.Future'}
)
"""Types of future values. The rule reports the call that creates one, not its use."""
_SCOPES = (*FUNCTIONS, ast.Lambda)
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Scope: TypeAlias = Function | ast.Lambda

_STORE_FINDING = 'A value that holds a `do` is stored here, and may outlive its function.'
_VALUE_HELP = (
    'Use `do` inside its function and pass on only values:'
    ' after the function has ended, `do` has nothing to end.'
)
_THREAD_HELP = (
    'Return a Result from the thread and pass it to `do` here: `do(await to_thread(call))`.'
)
_TASK_HELP = (
    'Open `async with TaskGroup() as group` in this function and call `group.create_task(…)`;'
    ' or return a Result from the task and pass it to `do`,'
    ' as in `do(await collect_async(…))`.'
)


def _find_escapes(module: Module) -> Iterator[RawFinding]:
    for function in module.functions():
        parameters = _do_parameters(function, module)
        if parameters:
            yield from _EscapeAnalysis(function, parameters, module).escapes()


def _do_parameters(function: Function, module: Module) -> frozenset[str]:
    """Return the names of the parameters of type `Do`."""
    declared = module.declared_type(function)
    pairs = () if declared is None else zip(declared.arg_names, declared.arg_types, strict=True)
    return frozenset(name for name, type_ in pairs if name is not None and may_be(type_, DO))


class _EscapeAnalysis:
    """Escape analysis of one function with a `do`, including its inner functions.

    A value *holds* the `do` if it may use it later: a closure, a coroutine, a container of such.
    """

    def __init__(self, function: Function, do_parameters: frozenset[str], module: Module) -> None:
        self.function = function
        self.do_parameters = do_parameters
        self.module = module
        self.is_fallible = any(
            module.full_name(decorator) == _FALLIBLE for decorator in function.decorator_list
        )
        """Whether `do` ends this function. The `do` of a helper ends an outer function."""
        self.nodes = [node for statement in function.body for node in walk(statement)]
        self.holders = set(do_parameters)
        """Local names of values that hold the `do`."""
        while self._find_holders():
            pass

    def escapes(self) -> Iterator[RawFinding]:
        """Yield a finding for each escape of the `do`, or of a value that holds it."""
        for node in self.nodes:
            match node:
                case ast.Return(ast.expr() as value) | ast.Yield(ast.expr() as value) if (
                    self.is_fallible and self._enclosing_scope(node) is self.function
                ):
                    if self._holds(value):
                        message = 'This value holds a `do` whose function ends before it is used.'
                        yield RawFinding(node, message, _VALUE_HELP)
                case ast.Call():
                    yield from self._check_call(node)
                case ast.stmt() | ast.NamedExpr():
                    for target, value in _assignments(node):
                        if self._holds(value) and self._is_outside(target):
                            yield RawFinding(node, _STORE_FINDING, _VALUE_HELP)
                case _:
                    continue

    def _check_call(self, call: ast.Call) -> Iterator[RawFinding]:
        if not any(self._holds(argument) for argument in call_arguments(call)):
            return
        names = {self.module.full_name(call.func)} | self._created_class(call)
        if names & THREAD_FUNCTIONS or self._is_method(call.func, THREAD_METHODS):
            message = 'A `do` is passed to another thread, where it cannot end its function.'
            yield RawFinding(call, message, _THREAD_HELP)
        elif names & TASK_FUNCTIONS or self._is_method(call.func, TASK_METHODS):
            message = 'A `do` is passed to a task outside any task group of its function.'
            yield RawFinding(call, message, _TASK_HELP)
        elif (
            names & CALLBACK_FUNCTIONS
            or self._is_method(call.func, CALLBACK_METHODS)
            or self._is_subscription(call)
        ):
            message = 'This callback holds a `do`, and no caller receives its failure.'
            yield RawFinding(call, message, _VALUE_HELP)
        elif isinstance(call.func, ast.Attribute) and self._is_method(
            call.func, TASK_GROUP_METHODS
        ):
            if not self._is_opened_here(call.func.value):
                message = 'A `do` is passed to a task group that its function did not open.'
                yield RawFinding(call, message, _TASK_HELP)
        elif (target := self._store_target(call)) is not None and self._is_outside(target):
            yield RawFinding(call, _STORE_FINDING, _VALUE_HELP)

    def _created_class(self, call: ast.Call) -> frozenset[str]:
        """Return the class that a call instantiates, with its base classes."""
        if not any(_is_class(member) for member in union_members(self.module.type_of(call.func))):
            return frozenset()
        members = union_members(self.module.type_of(call))
        return frozenset[str]().union(*(base_names(member) for member in members))

    def _is_method(self, function: ast.expr, methods: Mapping[str, frozenset[str]]) -> bool:
        if not isinstance(function, ast.Attribute):
            return False
        owners = [base_names(owner) for owner in union_members(self.module.type_of(function.value))]
        return any(
            function.attr in names and any(class_ in owner for owner in owners)
            for class_, names in methods.items()
        )

    def _is_subscription(self, call: ast.Call) -> bool:
        """Return whether an outer object keeps a closure, as in `bus.subscribe(lambda: …)`."""
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr not in SUBSCRIBE_METHODS
            or not self._is_outside(call.func)
        ):
            return False
        has_closure = any(
            self._holds(argument) and _is_function(self.module.type_of(argument))
            for argument in call_arguments(call)
        )
        return has_closure and isinstance(self.module.parents.get(call), ast.Expr)

    def _store_target(self, call: ast.Call) -> ast.expr | None:
        """Return the object in which a call stores its argument."""
        if isinstance(call.func, ast.Attribute) and self._is_method(call.func, STORE_METHODS):
            return call.func
        is_setattr = (
            self.module.full_name(call.func) == 'builtins.setattr'
            or ast.unparse(call.func) == 'object.__setattr__'
        )
        return _attribute_of(call.args[0]) if is_setattr and call.args else None

    def _is_opened_here(self, group: ast.expr) -> bool:
        """Return whether this function opened a task group, or is a helper that received it."""
        if not isinstance(group, ast.Name):
            return False
        if self._is_inner_parameter(group):
            return True
        values = self._values.get(group.id)
        if values is None:
            return not self.is_fallible and group.id in _parameters(self.function)
        return all(
            not isinstance(value, ast.Name | ast.Attribute) or self._is_opened_here(value)
            for value in values
        )

    def _is_outside(self, target: ast.expr) -> bool:
        """Return whether a target may outlive the function, unlike a local name or its parts."""
        if isinstance(target, ast.Name):
            return self._is_outer_name(target)
        root = _root(target)
        if not isinstance(root, ast.Name):
            return not isinstance(root, ast.Call | ast.List | ast.Dict | ast.Set)
        if self._is_inner_parameter(root):
            return self._is_self(root)
        values = self._values.get(root.id)
        if values is None:
            return (
                self.is_fallible or root.id not in _parameters(self.function) or self._is_self(root)
            )
        return any(
            isinstance(value, ast.Name | ast.Attribute | ast.Subscript)
            and self._is_outside(_attribute_of(value))
            for value in values
        )

    def _is_self(self, name: ast.Name) -> bool:
        """Return whether it is the `self` of a method other than `__init__`.

        The caller of `__init__` decides how long the new object lives.
        """
        scope = self._enclosing_scope(name)
        while scope is not None:
            parameters = _parameters(scope)
            if name.id in parameters:
                is_init = not isinstance(scope, ast.Lambda) and scope.name == '__init__'
                return (
                    isinstance(self.module.parents.get(scope), ast.ClassDef)
                    and parameters[0] == name.id
                    and not is_init
                )
            scope = self._enclosing_scope(scope)
        return False

    def _is_outer_name(self, name: ast.Name) -> bool:
        """Return whether an assigned name belongs to the module or to an outer function."""
        scope = self._enclosing_scope(name)
        while scope is not None:
            nodes = [node for node in walk(scope) if self._enclosing_scope(node) is scope]
            declarations = [
                node
                for node in nodes
                if isinstance(node, ast.Global | ast.Nonlocal) and name.id in node.names
            ]
            if any(isinstance(node, ast.Global) for node in declarations):
                return True
            is_bound = any(
                isinstance(node, ast.Name)
                and node.id == name.id
                and isinstance(node.ctx, ast.Store)
                for node in nodes
            )
            if not declarations and (is_bound or name.id in _parameters(scope)):
                return False
            if scope is self.function:
                return True
            scope = self._enclosing_scope(scope)
        return False

    @cached_property
    def _values(self) -> Mapping[str, Sequence[ast.expr]]:
        """The values bound to each name in this function and its inner functions."""
        values: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            for target, value in _assignments(node):
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(value)
            if isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                # Entering a context and iterating create new values, as a call does.
                value = ast.Call(node.context_expr, [], [])
                values.setdefault(node.optional_vars.id, []).append(value)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                for child in walk(node.target):
                    if isinstance(child, ast.Name):
                        value = ast.Call(node.iter, [], [])
                        values.setdefault(child.id, []).append(value)
        return values

    def _find_holders(self) -> bool:
        """Add names to `holders`; return whether there were new ones."""
        count = len(self.holders)
        for node in self.nodes:
            for target, value in _assignments(node):
                self._add_holder(target, [value])
            if isinstance(node, _Definition) and any(map(self._is_holder, _names(node))):
                self.holders.add(node.name)
            elif isinstance(node, ast.Call) and (store := self._store_target(node)) is not None:
                self._add_holder(store, list(call_arguments(node)))
        return len(self.holders) > count

    def _add_holder(self, target: ast.expr, values: Sequence[ast.expr]) -> None:
        root = _root(target)
        if not isinstance(root, ast.Name) or not any(map(self._holds, values)):
            return
        if not self._is_outside(target):
            self.holders.add(root.id)

    def _is_holder(self, name: ast.Name) -> bool:
        return (
            name.id in self.holders
            and isinstance(name.ctx, ast.Load)
            and not self._is_inner_parameter(name)
        )

    def _holds(self, node: ast.expr) -> bool:
        """Return whether the value of an expression holds the `do`."""
        match node:
            case ast.Name():
                return self._is_holder(node) and (
                    node.id in self.do_parameters or _may_hold(self.module.type_of(node))
                )
            case ast.Attribute(value) | ast.Subscript(value):
                return self._holds(value) and _may_hold(self.module.type_of(node))
            case ast.Lambda() | ast.GeneratorExp():
                return any(map(self._is_holder, _names(node)))
            case ast.ListComp(element) | ast.SetComp(element) | ast.NamedExpr(_, element):
                return self._holds(element)
            case ast.Starred(iterable):
                return self._holds(iterable) and _items_may_hold(self.module.type_of(iterable))
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
                return any(map(self._holds, elements))
            case ast.Dict(keys, values):
                return any(self._holds(part) for part in (*keys, *values) if part is not None)
            case ast.Call():
                return self._call_holds(node)
            case _:
                return False

    def _call_holds(self, call: ast.Call) -> bool:
        """Return whether the result of a call holds its arguments.

        A coroutine holds them; a list of numbers does not.
        """
        callee = call.func
        if isinstance(callee, ast.Attribute) and callee.attr == 'fail':
            callee = callee.value
        if may_be(self.module.type_of(callee), DO):
            return False
        if not self._holds(call.func) and not any(map(self._holds, call_arguments(call))):
            return False
        class_names = self._created_class(call)
        # A new standard container keeps the items of its argument, not the argument itself.
        is_object = bool(class_names) and not class_names & CONTAINERS
        return _may_hold(self.module.type_of(call), objects=is_object)

    def _is_inner_parameter(self, name: ast.Name) -> bool:
        """Return whether a name is a parameter of an inner function."""
        node: ast.AST = name
        while (parent := self.module.parents.get(node)) is not None and parent is not self.function:
            if isinstance(parent, ast.arguments):
                # Defaults are evaluated in the outer scope.
                function = self.module.parents.get(parent)
                if function is None or function is self.function:
                    return False
                node = function
                continue
            if (
                isinstance(parent, _SCOPES)
                and name.id in _parameters(parent)
                and node not in getattr(parent, 'decorator_list', [])
            ):
                return True
            node = parent
        return False

    def _enclosing_scope(self, node: ast.AST) -> _Scope | None:
        ancestors = self.module.ancestors(node)
        return next((outer for outer in ancestors if isinstance(outer, _SCOPES)), None)


def _parameters(function: _Scope) -> list[str]:
    return [parameter.arg for parameter in parameters(function)]


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of an assignment, each with its value."""
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                yield from _unpack(target, value)
        case (
            ast.AnnAssign(target, _, ast.expr() as value)
            | ast.AugAssign(target, _, value)
            | ast.NamedExpr(target, value)
        ):
            yield target, value
        case _:
            return


def _unpack(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if not isinstance(target, ast.Tuple | ast.List):
        yield target, value
    elif isinstance(value, ast.Tuple | ast.List) and len(target.elts) == len(value.elts):
        for part, item in zip(target.elts, value.elts, strict=True):
            yield from _unpack(part, item)
    else:
        for part in target.elts:
            yield from _unpack(part, value)


def _attribute_of(node: ast.expr) -> ast.Attribute:
    """Return a target inside an object, for `_is_outside`."""
    return ast.Attribute(node, '', ast.Store())


def _root(node: ast.expr) -> ast.expr:
    """Return the expression `a` of `a.b[0].c`."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _names(node: _Definition | ast.Lambda | ast.GeneratorExp) -> Iterator[ast.Name]:
    return (child for child in walk(node) if isinstance(child, ast.Name))


def _is_class(type_: ProperType) -> bool:
    signatures = type_.items if isinstance(type_, Overloaded) else [type_]
    return any(
        isinstance(signature, CallableType) and signature.is_type_obj() for signature in signatures
    )


def _is_function(type_: Type | None) -> bool:
    return any(
        isinstance(member, CallableType | Overloaded) or 'functools.partial' in base_names(member)
        for member in union_members(type_)
    )


def _may_hold(type_: Type | None, *, objects: bool = True) -> bool:
    """Return whether a value of this type may hold a `do`.

    Functions and deferred code may, and containers of them. Objects of other classes may unless
    `objects` is False.
    """
    for member in union_members(type_):
        names = base_names(member)
        if isinstance(member, CallableType | Overloaded) or names & _DEFERRED:
            if not names & _FUTURES:
                return True
        elif isinstance(member, TupleType):
            if any(_may_hold(get_proper_type(item), objects=objects) for item in member.items):
                return True
        elif isinstance(member, Instance) and (
            names & CONTAINERS or member.type.fullname.startswith(('builtins.', 'typing.'))
        ):
            if any(_may_hold(argument, objects=objects) for argument in member.args):
                return True
        elif objects and isinstance(member, Instance) and not names & _FUTURES:
            return True
    return False


def _items_may_hold(type_: Type | None) -> bool:
    return any(
        _may_hold(argument)
        for member in union_members(type_)
        if isinstance(member, Instance)
        for argument in member.args
    )


RULE = Rule('SW110', '`do` that escapes its scope', 'error', __doc__ or '', _find_escapes)
