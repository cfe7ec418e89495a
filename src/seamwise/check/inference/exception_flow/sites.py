"""Exceptions in one file: `raise` statements, calls, and the handlers around them."""

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check._mypy.type_operations import method_type
from seamwise.check._mypy.types import Instance, LiteralType, TupleType, Type
from seamwise.check.inference.data_flow.bindings import SCOPES, own_nodes
from seamwise.check.inference.data_flow.called_functions import function_of
from seamwise.check.inference.data_flow.error_inference import ErrorInference
from seamwise.check.inference.definitions.overrides import overridden_methods
from seamwise.check.inference.exception_flow.reraised import (
    EXCEPTION_BASES,
    RAISED,
    reraises,
    tested_classes,
)
from seamwise.check.typed_ast.channels import (
    ErrorSet,
    call_result_type,
    errors_in,
    errors_of_type,
    returned_type,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, children

_EXCEPTION, _BASE_EXCEPTION = EXCEPTION_BASES
_SUPPRESS, _OVERLOAD = 'contextlib.suppress', 'typing.overload'
_CONTEXT_MANAGERS = frozenset({
    'contextlib.contextmanager', 'contextlib.asynccontextmanager',
})  # fmt: skip
_DEFECTS = frozenset({'builtins.AssertionError', 'builtins.NotImplementedError'})
"""Exceptions that report a bug."""
_OR_RAISE = 'seamwise._results.edges.or_raise'
_EDGES = frozenset(
    {
        'seamwise._results.edges.attempt',
        'seamwise._results.edges.refine',
        'seamwise._results.edges.caught',
    }
)
"""Functions that call a function and convert its exceptions to failures."""


class ExceptionClass(Struct, frozen=True):
    """A class of exceptions."""

    name: str
    """Full name, as are those in `bases`."""
    bases: tuple[str, ...]
    """The class itself and its base classes."""
    module: str
    line: int

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.name.rpartition('.')[2]

    @property
    def is_ordinary(self) -> bool:
        """Whether it may be an expected error: neither a signal nor a defect by its class."""
        return _EXCEPTION in self.bases and _DEFECTS.isdisjoint(self.bases)


class Handler(Struct, frozen=True, eq=False):
    """One `except` clause, or a `with` statement whose context manager swallows exceptions."""

    module: Module
    node: ast.ExceptHandler | ast.With | ast.AsyncWith
    classes: tuple[ExceptionClass, ...]
    is_broad: bool
    """Whether it catches every exception."""

    def catches(self, exception: ExceptionClass) -> bool:
        """Return whether the handler catches an exception class."""
        return self.is_broad or any(class_.name in exception.bases for class_ in self.classes)

    def reraises(self, bases: Iterable[str]) -> bool:
        """Return whether the handler raises an exception with these base classes again."""
        return isinstance(self.node, ast.ExceptHandler) and reraises(
            self.node, self.module, frozenset(bases)
        )

    def stopped_names(self) -> Iterator[str]:
        """Yield the full names of the classes that the handler does not raise again."""
        classes: dict[str, Collection[str]] = {item.name: item.bases for item in self.classes}
        if self.is_broad:
            classes = {_BASE_EXCEPTION: (_EXCEPTION, _BASE_EXCEPTION)}
        if isinstance(self.node, ast.ExceptHandler):
            classes |= tested_classes(self.node, self.module)
        yield from (name for name, bases in classes.items() if not self.reraises(bases))


HandlerStack: TypeAlias = tuple[tuple[Handler, ...], ...]
"""The handlers of each `try` statement around a place, the innermost first."""


class RaiseSite(Struct, frozen=True, eq=False):
    """A `raise` of an ordinary exception, or a call of `or_raise`."""

    exception: ExceptionClass
    handlers: HandlerStack


class CallSite(Struct, frozen=True, eq=False):
    """A call of a function, by its full name."""

    callee: str
    handlers: HandlerStack
    node: ast.Call


class WrappedFunction(Struct, frozen=True, eq=False):
    """A function passed to `attempt` or a similar function, which converts its exceptions."""

    name: str


_Site: TypeAlias = RaiseSite | CallSite | WrappedFunction


class CodeUnit(Struct, frozen=True, eq=False):
    """A function, or the top-level code of a file, with its `raise` statements and calls."""

    name: str
    module: Module
    node: Function | None
    """None for top-level code."""
    raises: tuple[RaiseSite, ...]
    calls: tuple[CallSite, ...]
    wrapped: tuple[str, ...]
    """The functions that it passes to `attempt` or a similar function."""
    overridden: tuple[str, ...]
    """The methods of base classes that it overrides."""

    @property
    def short_name(self) -> str:
        """Name without the module."""
        return self.name.removeprefix(f'{self.module.name}.')

    @property
    def is_special_method(self) -> bool:
        """Whether it is a method such as `__getitem__`; Python defines the exceptions of these."""
        if self.node is None:
            return False
        return self.node.name.startswith('__') and self.node.name.endswith('__')


def handlers_around(node: ast.AST, module: Module) -> HandlerStack:
    """Return the handlers of each statement around a node in its function, innermost first."""
    stack: list[tuple[Handler, ...]] = []
    for statement in _protecting_statements(node, module):
        if isinstance(statement, ast.With | ast.AsyncWith):
            stack += _manager_handlers(statement, module)
        else:
            stack.append(_try_handlers(statement, module))
    return tuple(stack)


def _protecting_statements(
    node: ast.AST, module: Module
) -> Iterator[ast.Try | ast.TryStar | ast.With | ast.AsyncWith]:
    """Yield the `try` and `with` statements whose body contains a node of the same function."""
    child, parent = node, module.parents.get(node)
    while parent is not None and not isinstance(parent, (*FUNCTIONS, ast.Lambda)):
        if (
            isinstance(parent, ast.Try | ast.TryStar | ast.With | ast.AsyncWith)
            and child in parent.body
        ):
            yield parent
        child, parent = parent, module.parents.get(parent)


def catching_handler(handlers: HandlerStack, exception: ExceptionClass) -> Handler | None:
    """Return the handler that stops an exception; None if it passes them all."""
    for clauses in handlers:
        handler = next((handler for handler in clauses if handler.catches(exception)), None)
        if handler is not None and not handler.reraises(exception.bases):
            return handler
    return None


def code_units(module: Module) -> Iterator[CodeUnit]:
    """Yield the top-level code and all functions of a file, except `@overload` signatures."""
    inference = ErrorInference(module)
    handlers = {node: _handler(node, module) for node in module.nodes_of_type(ast.ExceptHandler)}
    functions = [
        function
        for function in module.functions()
        if _OVERLOAD not in {module.full_name(item) for item in function.decorator_list}
    ]
    for function in (None, *functions):
        sites = list(_sites(function, inference, handlers))
        yield CodeUnit(
            module.name if function is None else inference.function_name(function),
            module,
            function,
            raises=tuple(site for site in sites if isinstance(site, RaiseSite)),
            calls=tuple(site for site in sites if isinstance(site, CallSite)),
            wrapped=tuple(site.name for site in sites if isinstance(site, WrappedFunction)),
            overridden=() if function is None else tuple(overridden_methods(function, module)),
        )


def _sites(
    function: Function | None,
    inference: ErrorInference,
    handlers: Mapping[ast.ExceptHandler, Handler],
) -> Iterator[_Site]:
    """Yield the sites in a function, but not those in lambdas and inner functions.

    These raise in the function that calls them.
    """
    module = inference.module
    body = module.syntax.body if function is None else function.body
    queue: list[tuple[ast.AST, HandlerStack]] = [(statement, ()) for statement in body]
    while queue:
        node, stack = queue.pop()
        if isinstance(node, ast.ClassDef):
            # The body of a class runs in the enclosing function.
            queue += [(statement, stack) for statement in node.body]
            continue
        if isinstance(node, SCOPES):
            continue
        if isinstance(node, ast.Raise) and node.exc is not None:
            if not raises_caught(node, module):
                for item in exception_classes(node.exc, module):
                    if item.name == RAISED and isinstance(node.exc, ast.Call) and node.exc.args:
                        errors = errors_of_type(module.type_of(node.exc.args[0]))
                        yield from _raised_errors(errors, stack)
                    elif item.is_ordinary:
                        yield RaiseSite(item, stack)
        elif isinstance(node, ast.Call):
            yield from _call_site(node, stack, inference)
        protected, inner_stack = _protected_body(node, stack, module, handlers)
        queue += [(child, inner_stack if child in protected else stack) for child in children(node)]


def _raised_errors(errors: ErrorSet | None, stack: HandlerStack) -> Iterator[RaiseSite]:
    """Yield a site for each error in a `Raised`, which handlers tell apart."""
    bases = (RAISED, *EXCEPTION_BASES)
    for info in errors.values() if errors else [None]:
        own = () if info is None else (base.fullname for base in info.mro)
        yield RaiseSite(ExceptionClass(RAISED, (*bases, *own), 'seamwise._errors.causes', 0), stack)


def _call_site(call: ast.Call, stack: HandlerStack, inference: ErrorInference) -> Iterator[_Site]:
    callee = inference.callee_name(call)
    if callee == _OR_RAISE:
        errors = errors_in(inference.module.type_of(call.args[0])) if call.args else None
        yield from _raised_errors(errors, stack)
    elif callee in _EDGES and call.args:
        yield WrappedFunction(inference.callee_name(ast.Call(call.args[0], [], [])))
    elif callee:
        yield CallSite(callee, stack, call)


def _protected_body(
    node: ast.AST,
    stack: HandlerStack,
    module: Module,
    handlers: Mapping[ast.ExceptHandler, Handler],
) -> tuple[Sequence[ast.stmt], HandlerStack]:
    """Return the body that a statement protects with its own handlers, and all handlers there."""
    if isinstance(node, ast.Try | ast.TryStar):
        own = tuple(handlers[handler] for handler in node.handlers)
        return node.body, (own, *stack)
    if isinstance(node, ast.With | ast.AsyncWith):
        return node.body, (*_manager_handlers(node, module), *stack)
    return (), stack


def _manager_handlers(
    node: ast.With | ast.AsyncWith, module: Module
) -> Iterator[tuple[Handler, ...]]:
    """Yield the handlers of the context managers that a statement enters, also by a stack."""
    for manager in _managers(node):
        call = manager if isinstance(manager, ast.Call) else None
        function = function_of(call, module) if call is not None else None
        if call is not None and module.full_name(call.func) == _SUPPRESS:
            classes = tuple(
                exception
                for argument in call.args
                for exception in exception_classes(argument, module)
            )
            yield (Handler(module, node, classes, _is_broad(classes)),)
        elif _swallows(manager, module):
            yield (Handler(module, node, (), is_broad=True),)
        elif function is not None and is_context_manager(function, module):
            # An exception of the block is raised at the `yield`.
            for part in own_nodes(function.body):
                if isinstance(part, ast.Yield):
                    for statement in _protecting_statements(part, module):
                        if isinstance(statement, ast.Try):
                            yield _try_handlers(statement, module)


def _managers(node: ast.With | ast.AsyncWith) -> Iterator[ast.expr]:
    stacks: set[str] = set()
    for item in node.items:
        yield item.context_expr
        if isinstance(item.optional_vars, ast.Name):
            stacks.add(item.optional_vars.id)
    for statement in node.body if stacks else ():
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(stack), 'enter_context'), [manager])) if (
                stack in stacks
            ):
                yield manager
            case _:
                pass


def _swallows(manager: ast.expr, module: Module) -> bool:
    """Return whether the `__exit__` of an own class is typed as bool, and so may return True.

    Those of the standard library, such as `ExitStack`, swallow nothing by themselves.
    """
    for member in union_members(module.type_of(manager)):
        if isinstance(member, Instance) and not _is_standard(member):
            for name in ('__exit__', '__aexit__'):
                returned = returned_type(call_result_type(method_type(member, name)))
                if isinstance(returned, LiteralType):
                    return returned.value is True
                if isinstance(returned, Instance) and returned.type.fullname == 'builtins.bool':
                    return True
    return False


def _is_standard(instance: Instance) -> bool:
    return instance.type.module_name.partition('.')[0] in sys.stdlib_module_names


def is_context_manager(function: Function, module: Module) -> bool:
    """Return whether a function is a context manager by `contextlib.contextmanager`."""
    return not _CONTEXT_MANAGERS.isdisjoint(map(module.full_name, function.decorator_list))


def _try_handlers(node: ast.Try | ast.TryStar, module: Module) -> tuple[Handler, ...]:
    return tuple(_handler(handler, module) for handler in node.handlers)


def _handler(node: ast.ExceptHandler, module: Module) -> Handler:
    classes = tuple(exception_classes(node.type, module)) if node.type is not None else ()
    is_broad = node.type is None or _is_broad(classes)
    return Handler(module, node, classes, is_broad)


def _is_broad(classes: Sequence[ExceptionClass]) -> bool:
    return any(class_.name in {_EXCEPTION, _BASE_EXCEPTION} for class_ in classes)


def raises_caught(node: ast.Raise, module: Module) -> bool:
    """Return whether a statement raises the exception that an enclosing handler has caught."""
    if not isinstance(node.exc, ast.Name):
        return False
    for outer in module.ancestors(node):
        if isinstance(outer, ast.ExceptHandler) and outer.name == node.exc.id:
            return True
        if isinstance(outer, SCOPES):
            break
    return False


def exception_classes(node: ast.expr, module: Module) -> Iterator[ExceptionClass]:
    """Yield the classes of an exception, a class, or a tuple of classes, as mypy infers them."""
    for type_ in module.types_of(node):
        for info in _class_infos(type_):
            yield ExceptionClass(
                info.fullname,
                tuple(base.fullname for base in info.mro),
                info.module_name,
                info.defn.line,
            )


def _class_infos(type_: Type | None) -> Iterator[TypeInfo]:
    for member in union_members(type_):
        if isinstance(member, TupleType):
            for item in member.items:
                yield from _class_infos(item)
        elif isinstance(member, Instance):
            if member.type.fullname == 'builtins.tuple':
                yield from _class_infos(member.args[0])
            else:
                yield member.type
        else:
            instances = union_members(call_result_type(member))
            yield from (item.type for item in instances if isinstance(item, Instance))
