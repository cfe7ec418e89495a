"""Exceptions that a handler or a helper passes on: raised again, kept for others, or returned."""

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from seamwise.check._mypy.types import AnyType, CallableType, Instance, Overloaded, TypeType
from seamwise.check.facts import HelperUse
from seamwise.check.inference.data_flow.bindings import SCOPES, own_nodes
from seamwise.check.inference.data_flow.called_functions import (
    function_of,
    helper_use,
    passed_parameters,
    positional_parameters,
)
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import may_be, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, parameters, walk

_RECEIVERS = frozenset({
    'set_exception', 'throw', 'athrow', '__exit__', '__aexit__',
    'put', 'put_nowait', 'send', 'send_nowait', 'call_exception_handler',
    'default_exception_handler', 'excepthook',
})  # fmt: skip
"""Methods that raise or report the exception elsewhere, or give it to another task."""
_SCHEDULERS = frozenset({'call_soon', 'call_soon_threadsafe'})
"""Methods of an event loop that call their first argument with the others."""
_COLLECTORS = frozenset({'append', 'appendleft', 'add', 'insert'})
"""Methods that add their last argument to a collection."""
_DESCRIPTIONS = frozenset({
    'str', 'repr', 'type', 'format', 'print', 'len', 'isinstance', 'bool', 'int', 'float', 'bytes',
})  # fmt: skip
"""Functions whose values do not contain the exception that they get."""
_CURRENT = frozenset({'sys.exc_info', 'sys.exception'})
"""Functions that return the exception that a handler handles."""
_GROUP = 'builtins.BaseExceptionGroup'
_FAILURES = frozenset({
    'seamwise._results.containers.Failure', 'returns.result.Failure', 'returns.io.IOFailure',
})  # fmt: skip
"""Classes that make an exception an expected error."""

KEEPING_NODES = (ast.Raise, ast.Call, ast.Assign, ast.AnnAssign, ast.AugAssign)
"""Nodes that can raise or keep an exception."""


class _Tracked(NamedTuple):
    """Exception that is followed through a function."""

    target: ast.expr | None
    """Name or attribute that contains it; None for a handler without a name."""
    is_current: bool
    """Whether `sys.exc_info()` returns it."""


class ExceptionTrace:
    """Search for the ways by which an exception leaves a handler or a helper.

    A call of a function of another file is such a way if that function passes the exception on.
    These calls are collected in `uses`.
    """

    def __init__(self, inference: ErrorInference) -> None:
        self._inference = inference
        self._module = inference.module
        self._visited: set[tuple[ast.AST, str]] = set()
        self.uses: dict[HelperUse, None] = {}

    def leaves_handler(self, handler: ast.ExceptHandler) -> bool:
        """Return whether a handler raises its exception on a branch, or lets others raise it."""
        name = ast.Name(handler.name) if handler.name is not None else None
        tracked = _Tracked(name, is_current=True)
        for node in own_nodes(handler.body):
            match node:
                case ast.Raise(exc=None) if handler_of(node, self._module) is handler:
                    return True
                case ast.Return(value) | ast.Yield(value) if self._is_in_value(tracked, value):
                    # The caller gets the exception itself.
                    return True
                case _ if self._keeps(node, tracked, handler):
                    return True
                case _:
                    pass
        return False

    def leaves_helper(self, function: Function, parameter: str, nodes: Sequence[ast.AST]) -> bool:
        """Return whether a function raises or keeps the exception in one of its parameters.

        Args:
            function: The function.
            parameter: Name of the parameter.
            nodes: The nodes of the function, of the types in `KEEPING_NODES`.
        """
        return any(
            self._keeps(node, _Tracked(target, is_current=False), function)
            for target in self._parameter_and_items(parameter, function)
            for node in nodes
        )

    def _parameter_and_items(self, parameter: str, function: Function) -> Sequence[ast.Name]:
        """Return a parameter of a function, and the names that loops over it bind."""
        target = ast.Name(parameter)
        return [target, *map(ast.Name, _loop_names(target, function, self._module))]

    def _keeps(self, node: ast.AST, tracked: _Tracked, owner: ast.AST) -> bool:
        """Return whether a node raises an exception, or stores it where others can raise it."""
        match node:
            case ast.Raise(exc, cause) if exc is not None:
                return self._is_exception(tracked, exc) or self._is_exception(tracked, cause)
            case ast.Call():
                return self._is_kept_by_call(node, tracked, owner)
            case ast.Assign([ast.Attribute(other, '__cause__')], value) if self._is_exception(
                tracked, value
            ):
                return isinstance(other, ast.Attribute) or self._is_kept(other, owner)
            case ast.Assign(targets, value) if self._is_in_value(tracked, value):
                return any(self._is_kept_in(target, owner) for target in targets)
            case ast.AnnAssign(target, _, value) if self._is_in_value(tracked, value):
                return self._is_kept_in(target, owner)
            case ast.AugAssign(collection, _, value) if self._contains(tracked, value):
                return self._is_kept_in(collection, owner)
            case _:
                return False

    def _is_kept_by_call(self, call: ast.Call, tracked: _Tracked, owner: ast.AST) -> bool:
        match call:
            case ast.Call(ast.Attribute(attr=method)) if method in _RECEIVERS and any(
                self._contains(tracked, argument) for argument in call.args
            ):
                return True
            case ast.Call(ast.Attribute(collection, method), [*_, value]) if method in _COLLECTORS:
                if self._is_in_value(tracked, value) and self._is_kept_in(collection, owner):
                    return True
                if self._contains(tracked, value) and self._is_raised(collection, owner):
                    return True
            case ast.Call(ast.Attribute(attr=method), [function, *arguments]) if (
                method in _SCHEDULERS
            ):
                return self._is_kept_by_call(ast.Call(function, arguments, []), tracked, owner)
            case _:
                pass
        return self._is_passed_to_helper(call, tracked)

    def _is_kept(self, exception: ast.expr, owner: ast.AST) -> bool:
        """Return whether code raises another exception, or its handler stores it for others."""
        return isinstance(exception, ast.Name) and (
            self._is_raised(exception, owner)
            or any(
                self._keeps(node, _Tracked(exception, is_current=False), owner)
                for node in walk(owner)
            )
        )

    # Helpers

    def _is_passed_to_helper(self, call: ast.Call, tracked: _Tracked) -> bool:
        """Return whether a function of the same file gets the exception, and passes it on.

        A function that does not get it can raise the current exception by a bare `raise`.
        """
        uses = [
            HelperUse('', position=index, is_starred=isinstance(argument, ast.Starred))
            for index, argument in enumerate(call.args)
            if self._is_exception(tracked, argument)
        ]
        uses += [
            HelperUse('', keyword=keyword.arg)
            for keyword in call.keywords
            if keyword.arg is not None and self._is_exception(tracked, keyword.value)
        ]
        if tracked.is_current:
            uses.append(HelperUse(''))
        if not uses:
            return False
        self.uses |= {
            named: None for use in uses if (named := helper_use(call, use, self._inference))
        }
        function = function_of(call, self._module)
        return function is not None and any(
            self._leaves_local_helper(function, use, tracked, call) for use in uses
        )

    def _leaves_local_helper(
        self, function: Function, use: HelperUse, tracked: _Tracked, call: ast.Call
    ) -> bool:
        names: Sequence[str | None] = passed_parameters(
            use, positional_parameters(function, call), function.args.vararg
        )
        for parameter in names or [None]:
            if (function, parameter or '') in self._visited:
                continue
            self._visited.add((function, parameter or ''))
            targets: Sequence[ast.Name | None] = [None]
            if parameter is not None:
                targets = self._parameter_and_items(parameter, function)
            for node in own_nodes(function.body):
                is_current = tracked.is_current and handler_of(node, self._module) is None
                if is_current and isinstance(node, ast.Raise) and node.exc is None:
                    return True
                if any(
                    self._keeps(node, _Tracked(target, is_current), function) for target in targets
                ):
                    return True
        return False

    # Values

    def _is_exception(self, tracked: _Tracked, node: ast.expr | None) -> bool:
        """Return whether an expression is the exception, or a tuple with it."""
        match node:
            case ast.Name() | ast.Attribute():
                return tracked.target is not None and _is_same(tracked.target, node)
            case ast.Tuple(elements):
                return any(self._is_exception(tracked, element) for element in elements)
            case ast.Call(ast.Attribute(value, 'with_traceback')) | ast.Starred(value):
                return self._is_exception(tracked, value)
            case ast.Subscript(value, index):
                # The other items of `sys.exc_info()` are the class and the traceback.
                is_other = isinstance(index, ast.Constant) and index.value in {0, 2}
                return self._is_exception(tracked, value) and not (
                    is_other and self._may_be_exc_info(value)
                )
            case ast.Call(_, [_, exceptions]) if self._is_group(node):
                return self._is_in_value(tracked, exceptions)
            case ast.Call(function):
                return tracked.is_current and self._module.full_name(function) in _CURRENT
            case _:
                return False

    def _may_be_exc_info(self, node: ast.expr) -> bool:
        """Return whether a value may be the tuple of `sys.exc_info()`, and is no collection."""
        members = list(union_members(self._module.type_of(node)))
        return not members or any(not isinstance(member, Instance) for member in members)

    def _is_group(self, node: ast.expr) -> bool:
        """Return whether an expression makes a group of exceptions."""
        return may_be(self._module.type_of(node), _GROUP)

    def _contains(self, tracked: _Tracked, node: ast.expr) -> bool:
        """Return whether a value contains the exception, as in `{'exception': error}`."""
        match node:
            case ast.List(elements) | ast.Set(elements) | ast.Tuple(elements):
                return any(self._contains(tracked, element) for element in elements)
            case ast.Dict(_, values):
                return any(self._contains(tracked, value) for value in values)
            case ast.Call(ast.Name(function)) if function in _DESCRIPTIONS:
                return False
            case ast.Call(_, arguments, keywords):
                values = [*arguments, *(keyword.value for keyword in keywords)]
                return self._is_exception(tracked, node) or any(
                    self._contains(tracked, value) for value in values
                )
            case _:
                return self._is_exception(tracked, node)

    def _is_in_value(self, tracked: _Tracked, node: ast.expr | None) -> bool:
        """Return whether a value is the exception, or an object or a collection with it.

        The value of a function that gets the exception may be anything, such as its text.
        """
        match node:
            case ast.List(elements) | ast.Set(elements) | ast.Tuple(elements):
                return any(self._is_in_value(tracked, element) for element in elements)
            case ast.Dict(_, values):
                return any(self._is_in_value(tracked, value) for value in values)
            case ast.IfExp(_, body, orelse):
                return self._is_in_value(tracked, body) or self._is_in_value(tracked, orelse)
            case ast.Call(function, arguments, keywords) if self._is_class(function):
                values = [*arguments, *(keyword.value for keyword in keywords)]
                return any(self._is_in_value(tracked, value) for value in values)
            case _:
                return self._is_exception(tracked, node)

    def _is_class(self, function: ast.expr) -> bool:
        """Return whether a call constructs an object that may contain its arguments."""
        name = self._module.full_name(function)
        if name in _FAILURES or name.removeprefix('builtins.') in _DESCRIPTIONS:
            return False
        if self._module.class_at(function) is not None:
            return True
        type_ = self._module.type_of(function)
        if type_ is None or isinstance(type_, AnyType):
            # An unknown object with the name of a class.
            word = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
            return word.lstrip('_')[:1].isupper()
        return isinstance(type_, TypeType) or (
            isinstance(type_, CallableType | Overloaded) and type_.is_type_obj()
        )

    # Names, attributes and collections

    def _is_kept_in(self, target: ast.expr, owner: ast.AST) -> bool:
        """Return whether code raises, passes on or can read what an assignment stores."""
        match target:
            case ast.Subscript(container):
                # Another function of the file may have got the collection, and raise its items.
                return self._is_kept_in(container, owner) or self._is_raised(
                    container, self._module.syntax
                )
            case ast.Tuple(elements) | ast.List(elements):
                return any(self._is_kept_in(element, owner) for element in elements)
            case ast.Attribute(_, name) if not name.startswith('_'):
                return True
            case _:
                return self._is_raised(target, owner) or self._is_used_later(target, owner)

    def _is_used_later(self, target: ast.expr, owner: ast.AST) -> bool:
        """Return whether the function that owns a name returns its value or passes it on.

        An attribute belongs to the whole file, and an assignment of it to a name does not count.
        """
        is_name = isinstance(target, ast.Name)
        scope = self._scope(target, owner)
        key = (scope, ast.unparse(target))
        if key in self._visited or (is_name and scope is self._module.syntax):
            return False
        self._visited.add(key)
        tracked = _Tracked(target, is_current=False)
        node_types = (*(KEEPING_NODES if is_name else (ast.Call,)), ast.Return, ast.Yield)
        for node in _nodes_of_types(node_types, scope, self._module):
            match node:
                case ast.Call() if self._is_kept_by_call(node, tracked, owner):
                    return True
                case ast.Return(value) | ast.Yield(value) if self._is_in_value(tracked, value):
                    return True
                case ast.Assign() | ast.AnnAssign() if self._keeps(node, tracked, owner):
                    return True
                case _:
                    pass
        return False

    def _is_raised(self, target: ast.expr, owner: ast.AST) -> bool:
        """Return whether code raises what a name, an attribute or a collection contains.

        A name counts in the function that it belongs to, an attribute in the same file.
        """
        scope = self._scope(target, owner)
        raises = list(_nodes_of_types((ast.Raise,), scope, self._module))
        aliases: frozenset[str] = frozenset()
        if raises:
            aliases = _iteration_names(target, scope, self._module)
        # With its cause, as in `raise Failed() from error`.
        return any(
            _is_same(target, part) or (isinstance(part, ast.Name) and part.id in aliases)
            for node in raises
            for part in walk(node)
        )

    def _scope(self, target: ast.expr, owner: ast.AST) -> ast.AST:
        if isinstance(target, ast.Name):
            return _scope_of(target.id, owner, self._module)
        return self._module.syntax


def handler_of(node: ast.AST, module: Module) -> ast.ExceptHandler | None:
    """Return the innermost handler around a node in the same function."""
    parent = module.parents.get(node)
    while parent is not None and not isinstance(parent, ast.ExceptHandler):
        parent = None if isinstance(parent, SCOPES) else module.parents.get(parent)
    return parent


def _scope_of(name: str, node: ast.AST, module: Module) -> ast.AST:
    """Return the function that binds a name which code at a node uses, or the module."""
    parent: ast.AST | None = node
    while parent is not None:
        if isinstance(parent, FUNCTIONS):
            nodes = list(own_nodes(parent.body))
            if any(isinstance(part, ast.Global) and name in part.names for part in nodes):
                break
            is_outer = any(isinstance(part, ast.Nonlocal) and name in part.names for part in nodes)
            if not is_outer and (
                any(parameter.arg == name for parameter in parameters(parent))
                or any(
                    isinstance(part, ast.Name)
                    and part.id == name
                    and isinstance(part.ctx, ast.Store)
                    for part in nodes
                )
            ):
                return parent
        parent = module.parents.get(parent)
    return module.syntax


def _nodes_of_types(
    types: Sequence[type[ast.AST]], scope: ast.AST, module: Module
) -> Iterator[ast.AST]:
    """Yield the nodes of some types in a function or in the module, with its inner functions."""
    if scope is module.syntax:
        for node_type in types:
            yield from module.nodes_of_type(node_type)
    else:
        yield from (node for node in walk(scope) if isinstance(node, tuple(types)))


def _iteration_names(target: ast.expr, scope: ast.AST, module: Module) -> frozenset[str]:
    """Return the names that `for name in target` and `name = target…` bind."""
    assigned = {
        name
        for node in _nodes_of_types((ast.Assign,), scope, module)
        if isinstance(node, ast.Assign) and _uses(node.value, target)
        for name in node.targets
    }
    return _loop_names(target, scope, module) | {
        name.id for name in assigned if isinstance(name, ast.Name)
    }


def _loop_names(target: ast.expr, scope: ast.AST, module: Module) -> frozenset[str]:
    """Return the names that loops over a collection bind, as in `for index, name in target`."""
    return frozenset(
        name.id
        for node in _nodes_of_types((ast.For,), scope, module)
        if isinstance(node, ast.For) and _uses(node.iter, target)
        for name in walk(node.target)
        if isinstance(name, ast.Name)
    )


def _uses(value: ast.expr, target: ast.expr) -> bool:
    return any(_is_same(target, part) for part in walk(value))


def _is_same(target: ast.expr, node: ast.AST) -> bool:
    match target, node:
        case ast.Name(first), ast.Name(second):
            return first == second
        case ast.Attribute(attr=first), ast.Attribute(attr=second):
            return first == second
        case ast.Subscript(container), _:
            return _is_same(container, node)
        case _:
            return False
