"""The exceptions of one file: where each function raises one, whom it calls, and what is caught around either."""

import ast
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from mypy.nodes import TypeInfo
from mypy.types import Instance, TupleType, Type

from seamwise.check.inference.error_inference import ErrorInference
from seamwise.check.typed_ast.channels import call_result_type, union_members
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module, children

EXCEPTION, BASE = 'builtins.Exception', 'builtins.BaseException'
SUPPRESS, OVERLOAD = 'contextlib.suppress', 'typing.overload'
DEFECTS = frozenset({'builtins.AssertionError', 'builtins.NotImplementedError'})
"""What says that the program is wrong."""
OR_RAISE, RAISED = 'seamwise.edges.or_raise', 'seamwise.causes.Raised'
EDGES = frozenset({'seamwise.edges.attempt', 'seamwise.edges.refine', 'seamwise.edges.caught'})
"""What calls a function that it is handed, and makes failures of its exceptions."""
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)


class Raisable(Struct, frozen=True):
    """A class of exceptions."""

    name: str
    """In full, as those of its bases, of which it is the first."""
    bases: tuple[str, ...]
    module: str
    line: int

    @property
    def short(self) -> str:
        """Its name as it is written."""
        return self.name.rpartition('.')[2]

    @property
    def is_ordinary(self) -> bool:
        """Whether it may tell of something expected, as far as its class says: it is no signal, and no defect by its name."""
        return EXCEPTION in self.bases and DEFECTS.isdisjoint(self.bases)


class Handler(Struct, frozen=True, eq=False):
    """One `except`, or one `suppress`."""

    module: Module
    node: ast.ExceptHandler | ast.With | ast.AsyncWith
    takes: tuple[Raisable, ...]
    is_wide: bool
    """Whether it takes every exception there is."""
    hands_on: bool
    """Whether it raises again what it has caught."""

    def takes_kind(self, kind: Raisable) -> bool:
        """Whether an exception of a kind is caught here."""
        return self.is_wide or any(one.name in kind.bases for one in self.takes)


Nets = tuple[tuple[Handler, ...], ...]
"""The `try` statements around a place, the nearest first, each with its handlers."""


class Raising(Struct, frozen=True, eq=False):
    """A `raise` of an ordinary exception, or a call of `or_raise`."""

    kind: Raisable
    nets: Nets


class Calling(Struct, frozen=True, eq=False):
    """A call of a function, by its full name."""

    callee: str
    nets: Nets


class Handing(Struct, frozen=True, eq=False):
    """A function that is handed to an edge, and lets no exception out there."""

    name: str


class Unit(Struct, frozen=True, eq=False):
    """A function, or what a file does as it is imported: what it raises, and whom it calls."""

    name: str
    module: Module
    node: Function | None
    raises: tuple[Raising, ...]
    calls: tuple[Calling, ...]
    hands: tuple[str, ...]
    """The functions that it hands to an edge."""
    replaces: tuple[str, ...]
    """The methods of base classes in whose place it stands."""

    @property
    def short(self) -> str:
        """Its name without that of the module."""
        return self.name.removeprefix(f'{self.module.name}.')

    @property
    def is_called_by_python(self) -> bool:
        """Whether Python says what it gives and raises, as of `__getitem__` and `__init__`."""
        return (
            self.node is not None
            and self.node.name.startswith('__')
            and self.node.name.endswith('__')
        )


def units(module: Module) -> Iterator[Unit]:
    """Give every function of a file, overloads of one aside, and the file itself."""
    reader = ErrorInference(module)
    handlers = {one: _handler(one, module) for one in module.nodes_of_type(ast.ExceptHandler)}
    functions = [
        one
        for one in module.functions()
        if OVERLOAD not in {module.full_name(name) for name in one.decorator_list}
    ]
    for function in (None, *functions):
        found = list(_read(function, reader, handlers))
        yield Unit(
            module.name if function is None else reader.function_name(function),
            module,
            function,
            raises=tuple(one for one in found if isinstance(one, Raising)),
            calls=tuple(one for one in found if isinstance(one, Calling)),
            hands=tuple(one.name for one in found if isinstance(one, Handing)),
            replaces=() if function is None else tuple(_replaced(function, module)),
        )


def _read(
    function: Function | None, reader: ErrorInference, handlers: Mapping[ast.ExceptHandler, Handler]
) -> Iterator[Raising | Calling | Handing]:
    """Walk through a function, but not into lambdas and inner functions: those raise where they are called."""
    module = reader.module
    waiting: list[tuple[ast.AST, Nets]] = [
        (one, ()) for one in (module.syntax.body if function is None else function.body)
    ]
    while waiting:
        node, nets = waiting.pop()
        if isinstance(node, SCOPES):
            # What a class does in its body, it does where it stands.
            waiting += [(one, nets) for one in node.body] if isinstance(node, ast.ClassDef) else []
            continue
        if (
            isinstance(node, ast.Raise)
            and node.exc is not None
            and not _is_caught_again(node, module)
        ):
            yield from (
                Raising(kind, nets) for kind in _classes(node.exc, module) if kind.is_ordinary
            )
        if isinstance(node, ast.Call):
            yield from _called(node, nets, reader)
        inner, inner_nets = _caught(node, nets, module, handlers)
        waiting += [(one, inner_nets if one in inner else nets) for one in children(node)]


def _called(
    call: ast.Call, nets: Nets, reader: ErrorInference
) -> Iterator[Raising | Calling | Handing]:
    callee = reader.callee_name(call)
    if callee == OR_RAISE:
        yield Raising(Raisable(RAISED, (RAISED, EXCEPTION, BASE), 'seamwise.causes', 0), nets)
    elif callee in EDGES and call.args:
        yield Handing(reader.callee_name(ast.Call(call.args[0], [], [])))
    elif callee:
        yield Calling(callee, nets)


def _caught(
    node: ast.AST, nets: Nets, module: Module, handlers: Mapping[ast.ExceptHandler, Handler]
) -> tuple[Sequence[ast.stmt], Nets]:
    """Give the part of a statement that stands inside of further handlers, and all handlers around it."""
    if isinstance(node, ast.Try | ast.TryStar):
        return node.body, (tuple(handlers[one] for one in node.handlers), *nets)
    if isinstance(node, ast.With | ast.AsyncWith):
        calls = [one.context_expr for one in node.items if isinstance(one.context_expr, ast.Call)]
        taken = [
            kind
            for one in calls
            if module.full_name(one.func) == SUPPRESS
            for given in one.args
            for kind in _classes(given, module)
        ]
        if taken:
            return node.body, (
                (Handler(module, node, tuple(taken), _is_wide(taken), hands_on=False),),
                *nets,
            )
    return (), nets


def _handler(node: ast.ExceptHandler, module: Module) -> Handler:
    taken = tuple(_classes(node.type, module)) if node.type is not None else ()
    return Handler(module, node, taken, node.type is None or _is_wide(taken), _hands_on(node))


def _is_wide(kinds: Sequence[Raisable]) -> bool:
    return any(one.name in {EXCEPTION, BASE} for one in kinds)


def _hands_on(handler: ast.ExceptHandler) -> bool:
    """Whether a handler raises what it has caught, at least on one way through it."""
    waiting: list[ast.AST] = list(handler.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise) and (
            node.exc is None or (isinstance(node.exc, ast.Name) and node.exc.id == handler.name)
        ):
            return True
        if not isinstance(node, (*SCOPES, ast.ExceptHandler)):
            waiting += children(node)
    return False


def _is_caught_again(node: ast.Raise, module: Module) -> bool:
    """Whether it raises what a handler around it has caught."""
    around: ast.AST | None = node
    while isinstance(node.exc, ast.Name) and around is not None and not isinstance(around, SCOPES):
        around = module.parents.get(around)
        if isinstance(around, ast.ExceptHandler) and around.name == node.exc.id:
            return True
    return False


def _classes(node: ast.expr, module: Module) -> Iterator[Raisable]:
    """Give the classes of an exception, of its class, or of a tuple of classes, as mypy infers them."""
    for type_ in module.types_of(node):
        for info in _made(type_):
            yield Raisable(
                info.fullname,
                tuple(one.fullname for one in info.mro),
                info.module_name,
                info.defn.line,
            )


def _made(type_: Type | None) -> Iterator[TypeInfo]:
    for one in union_members(type_):
        if isinstance(one, TupleType):
            yield from (kind for item in one.items for kind in _made(item))
        elif isinstance(one, Instance):
            yield from _made(one.args[0]) if one.type.fullname == 'builtins.tuple' else (one.type,)
        else:
            yield from (
                made.type
                for made in union_members(call_result_type(one))
                if isinstance(made, Instance)
            )


def _replaced(function: Function, module: Module) -> Iterator[str]:
    found = module.definition(function)
    if found is not None and found.info:
        yield from (
            f'{base.fullname}.{function.name}'
            for base in found.info.mro[1:]
            if function.name in base.names
        )
