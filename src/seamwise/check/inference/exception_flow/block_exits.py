"""Transactions that context managers of the checked files commit when their block ends normally."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence

from seamwise.check._mypy.types import Instance
from seamwise.check.facts import BlockExit
from seamwise.check.inference.data_flow.bindings import own_nodes
from seamwise.check.inference.data_flow.called_functions import positional_parameters
from seamwise.check.inference.data_flow.error_inference import ErrorInference, inherited_name
from seamwise.check.inference.exception_flow.sites import is_context_manager
from seamwise.check.typed_ast.channels import base_names, union_members
from seamwise.check.typed_ast.program import Function, Module
from seamwise.check.typed_ast.transactions import commits

_EXITS = frozenset({'__exit__', '__aexit__'})
_GENERATOR_MANAGERS = frozenset({
    'contextlib._GeneratorContextManager', 'contextlib._AsyncGeneratorContextManager',
})  # fmt: skip
_DECORATORS = frozenset({'contextlib.ContextDecorator', 'contextlib.AsyncContextDecorator'})
_TRUTH_FUNCTIONS = frozenset({'any', 'all', 'bool', 'isinstance', 'issubclass'})
"""Functions that return False for None, or a tuple of None."""
_STDLIB = sys.stdlib_module_names
_MAX_DEPTH = 4
"""Limit for calls of functions of the same file."""


def block_exits(inference: ErrorInference) -> Iterator[BlockExit]:
    """Yield the functions of a module that may commit a transaction at the end of a block."""
    module = inference.module
    committing = {
        inference.module.enclosing_function(node)
        for node in module.nodes_of_type(ast.Attribute)
        if node.attr == 'commit'
    }
    for function in module.functions():
        is_generator = is_context_manager(function, module)
        is_exit = function.name in _EXITS
        if not (is_generator or is_exit or function in committing):
            continue
        path = _NormalPath(inference, function, is_behind_yield=not is_generator)
        path.exceptions = {*_all_parameters(function)[1:]} if is_exit else set()
        path.follow(function.body)
        if path.commits or path.callees:
            name = inference.function_name(function)
            yield BlockExit(name, path.commits, tuple(path.callees))


def exit_of(
    manager: ast.expr, inference: ErrorInference, *, is_async: bool = False, is_decorator: bool
) -> str:
    """Return the full name of the function that ends the block of a context manager.

    Args:
        manager: The context manager, or a decorator.
        inference: The inference of its module.
        is_async: Whether the block is one of `async with`.
        is_decorator: Whether it is a decorator, whose block is the function.

    Returns:
        The name; empty if it is unknown, or the name of a function of the standard library.
    """
    types = list(union_members(inference.module.type_of(manager)))
    if len(types) != 1 or not isinstance(types[0], Instance):
        return ''
    bases = base_names(types[0])
    if is_decorator and not bases & _DECORATORS:
        return ''
    if bases & _GENERATOR_MANAGERS:
        name = inference.callee_name(manager) if isinstance(manager, ast.Call) else ''
    else:
        info = types[0].type
        is_async = is_async or (is_decorator and info.get_method('__exit__') is None)
        name = inherited_name(info.mro, '__aexit__' if is_async else '__exit__')
    return '' if name.partition('.')[0] in _STDLIB else name


class BlockExits:
    """Lookup of the functions that commit, by full name."""

    def __init__(self, exits: Iterable[BlockExit]) -> None:
        self._exits = {exit_.name: exit_ for exit_ in exits}

    def commit(self, name: str, visited: frozenset[str] = frozenset()) -> bool:
        """Return whether a function commits a transaction, itself or by a function it calls."""
        exit_ = self._exits.get(name)
        if exit_ is None or name in visited:
            return False
        return exit_.commits or any(
            self.commit(callee, visited | {name}) for callee in exit_.callees
        )


class _NormalPath:
    """Statements that certainly run if the block of a context manager raises no exception."""

    def __init__(
        self,
        inference: ErrorInference,
        function: Function,
        *,
        is_behind_yield: bool,
        depth: int = 0,
    ) -> None:
        self.commits = False
        self.callees: dict[str, None] = {}
        """Functions of other files that run."""
        self.exceptions: set[str] = set()
        """Names that are None, or empty, without an exception."""
        self._known: dict[str, bool] = {}
        """Truth values of other names."""
        self._inference = inference
        self._module = inference.module
        self._function = function
        self._is_behind_yield = is_behind_yield
        self._depth = depth
        self._is_certain = True
        self._committed = {
            ast.unparse(node.value)
            for node in own_nodes(function.body)
            if isinstance(node, ast.Attribute) and node.attr == 'commit'
        }

    def follow(self, body: Sequence[ast.stmt]) -> bool:
        """Follow a block, and return whether it ends the function."""
        return any(self._follow(statement) for statement in body)

    def _follow(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.If(test, branch, orelse):
                self._evaluate(test)
                truth = self._truth(test)
                if truth is not None:
                    return self.follow(branch if truth else orelse)
                return self._follow_branches(branch, orelse)
            case ast.Try(body, _, orelse, finalbody):
                ends = self.follow(body) or self.follow(orelse)
                return self.follow(finalbody) or ends
            case ast.With(items, body) | ast.AsyncWith(items, body):
                return self._follow_with(statement, items, body)
            case ast.Assign([ast.Name(name)], value) if (truth := self._truth(value)) is not None:
                self._known[name] = truth
            case ast.Return() | ast.Raise():
                self._evaluate(statement)
                return True
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._evaluate(statement)
            case _:
                if any(isinstance(node, ast.Return | ast.Yield) for node in own_nodes([statement])):
                    self._is_certain = False
        return False

    def _follow_branches(self, branch: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> bool:
        paths = [self._fork(), self._fork()]
        ends = [path.follow(part) for path, part in zip(paths, (branch, orelse), strict=True)]
        self.commits = all(path.commits for path in paths)
        first, second = (path.callees for path in paths)
        self.callees = {name: None for name in first if name in second}
        self._is_behind_yield = any(path._is_behind_yield for path in paths)
        # A branch that returns skips what follows.
        self._is_certain = all(path._is_certain for path in paths) and not any(
            ended and path._is_behind_yield and not _raises(part)
            for ended, path, part in zip(ends, paths, (branch, orelse), strict=True)
        )
        return all(ends)

    def _fork(self) -> '_NormalPath':
        path = _NormalPath(
            self._inference,
            self._function,
            is_behind_yield=self._is_behind_yield,
            depth=self._depth,
        )
        path.commits, path.callees = self.commits, dict(self.callees)
        path.exceptions, path._known = set(self.exceptions), dict(self._known)
        path._is_certain = self._is_certain
        return path

    def _follow_with(
        self, statement: ast.stmt, items: Sequence[ast.withitem], body: Sequence[ast.stmt]
    ) -> bool:
        was_behind_yield = self._is_behind_yield
        for item in items:
            self._evaluate(item.context_expr)
        ends = self.follow(body)
        if self._is_behind_yield and not was_behind_yield and self._is_certain:
            for item in items:
                if commits(item.context_expr, self._module):
                    self.commits = True
                name = exit_of(
                    item.context_expr,
                    self._inference,
                    is_async=isinstance(statement, ast.AsyncWith),
                    is_decorator=False,
                )
                if name:
                    self.callees[name] = None
        return ends

    def _evaluate(self, node: ast.AST) -> None:
        """Take the calls of a statement or expression into account."""
        if self._is_behind_yield and self._is_certain:
            for inner in own_nodes([node]):
                if isinstance(inner, ast.Call):
                    self._call(inner)
        if _has_yield(node):
            self._is_behind_yield = True

    def _call(self, call: ast.Call) -> None:
        if _is_optional(call, self._module):
            return
        match call.func:
            case ast.Attribute(_, 'commit') if not call.args:
                self.commits = True
                return
            case _:
                pass
        name = self._inference.callee_name(call)
        function = self._inference.function_named(name)
        if function is not None:
            self._call_here(call, function)
        elif name and name.partition('.')[0] not in _STDLIB:
            self.callees[name] = None

    def _call_here(self, call: ast.Call, function: Function) -> None:
        """Follow a function of the same file, which may get the exception."""
        is_awaited = isinstance(self._module.parents.get(call), ast.Await)
        if (
            self._depth == _MAX_DEPTH
            or function is self._function
            or is_awaited != isinstance(function, ast.AsyncFunctionDef)
            or any(map(_has_yield, function.body))
        ):
            return
        path = _NormalPath(self._inference, function, is_behind_yield=True, depth=self._depth + 1)
        rest = function.args.vararg
        names = positional_parameters(function, call)
        for index, argument in enumerate(call.args):
            is_starred = isinstance(argument, ast.Starred)
            value = argument.value if isinstance(argument, ast.Starred) else argument
            truth = self._truth(value)
            matching = names[index:] if is_starred else names[index : index + 1]
            if truth is False and self._is_exception(value):
                path.exceptions |= {*matching, *([rest.arg] if rest is not None else ())}
            elif truth is not None:
                path._known.update(dict.fromkeys(matching, truth))
        for keyword in call.keywords:
            if keyword.arg is not None and self._is_exception(keyword.value):
                path.exceptions.add(keyword.arg)
            elif keyword.arg is not None and (truth := self._truth(keyword.value)) is not None:
                path._known[keyword.arg] = truth
        path.follow(function.body)
        self.commits = self.commits or path.commits
        self.callees |= path.callees

    def _is_exception(self, node: ast.expr) -> bool:
        """Return whether a value is None, or a tuple of None, without an exception."""
        match node:
            case ast.Constant(None):
                return True
            case ast.Name(name) | ast.Subscript(ast.Name(name)):
                return name in self.exceptions
            case _:
                return False

    def _truth(self, test: ast.expr) -> bool | None:
        """Return the truth value of a condition without an exception; None if it is unknown."""
        match test:
            case ast.Constant(value):
                return bool(value)
            case ast.Name(name) if name in self._known:
                return self._known[name]
            case ast.Name() | ast.Subscript() if self._is_exception(test):
                return False
            case ast.UnaryOp(ast.Not(), operand):
                truth = self._truth(operand)
                return None if truth is None else not truth
            case ast.BoolOp(operator, operands):
                return self._truth_of_all(operands, is_or=isinstance(operator, ast.Or))
            case ast.Compare(left, [operator], [ast.Constant(None)]):
                is_none = self._is_none(left)
                if is_none is None:
                    return None
                return is_none if isinstance(operator, ast.Is | ast.Eq) else not is_none
            case ast.Call(ast.Name(name), [value, *_]) if name in _TRUTH_FUNCTIONS:
                return False if self._is_exception(value) else None
            case ast.Name() | ast.Attribute() if ast.unparse(test) in self._committed:
                # Without a session there is nothing to commit.
                return True
            case _:
                return None

    def _truth_of_all(self, operands: Iterable[ast.expr], *, is_or: bool) -> bool | None:
        truths = [self._truth(operand) for operand in operands]
        if is_or in truths:
            return is_or
        return None if None in truths else not is_or

    def _is_none(self, node: ast.expr) -> bool | None:
        if self._is_exception(node):
            return True
        return False if ast.unparse(node) in self._committed else None


def _all_parameters(function: Function) -> Sequence[str]:
    rest = [function.args.vararg.arg] if function.args.vararg is not None else []
    arguments = (*function.args.posonlyargs, *function.args.args)
    return [*(argument.arg for argument in arguments), *rest]


def _has_yield(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in own_nodes([node]))


def _raises(body: Sequence[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Raise)


def _is_optional(call: ast.Call, module: Module) -> bool:
    """Return whether a call runs in one case only: `commit() if done else None`."""
    parent = module.parents.get(call)
    while isinstance(parent, ast.expr):
        if isinstance(parent, ast.IfExp | ast.BoolOp):
            return True
        parent = module.parents.get(parent)
    return False
