"""What errors an expression can bring: mypy says what type it has, and the code where that is wider than the truth.

mypy lets the place where a value goes widen its type: in a function that declares `A | B`, the type of `Failure(A())` may be
`Failure[A | B]`. So the parts that it is made of are asked, as far down as they are known.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from mypy.nodes import Decorator, FuncDef, RefExpr, TypeInfo, Var
from mypy.typeops import get_type_vars
from mypy.types import (
    CallableType,
    Instance,
    ProperType,
    Type,
    TypeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from seamwise.check.inference.bindings import INNER, Bindings, ErrorBinding, ValueBinding, bindings
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    RESULT,
    ErrorSet,
    awaited_type,
    base_names,
    call_result_type,
    channel_of,
    errors_in,
    errors_of_type,
    narrow,
    subtract,
    type_argument,
    union,
    union_members,
)
from seamwise.check.typed_ast.program import FUNCTIONS, Function, Module

SUCCESS = frozenset(
    {'seamwise.containers.Success', 'returns.result.Success', 'seamwise.containers.quick_success'}
)
FAILURE = frozenset(
    {'seamwise.containers.Failure', 'returns.result.Failure', 'seamwise.containers.quick_failure'}
)
PASS_THROUGH = frozenset(
    {
        'seamwise.containers.from_returns',
        'seamwise.compose.tap',
        'seamwise.compose.tap_error',
        'seamwise.compose.map_async',
    }
)
"""What gives the failures of its first argument, and no others."""
COLLECTORS = frozenset({
    'seamwise.many.collect', 'seamwise.many.accumulate',
    'seamwise.many_async.collect_async', 'seamwise.many_async.accumulate_async',
})  # fmt: skip
BIND_ASYNC, FLOW = 'seamwise.compose.bind_async', 'seamwise.compose.flow'
ATTEMPT, REFINE, CAUGHT = 'seamwise.edges.attempt', 'seamwise.edges.refine', 'seamwise.edges.caught'
CATCH, CATCH_ALL = 'seamwise.compose.catch', 'seamwise.compose.catch_all'
CATCH_STEP, CATCH_ALL_STEP = 'seamwise.compose.Catch', 'seamwise.compose.CatchAll'
GATHER = 'asyncio.tasks.gather'
KEYED = 'seamwise.policies.idempotency.Keyed'
GUARD_ERRORS = (
    ('seamwise.policies._engine.pipeline.Guard', 0),
    ('seamwise.policies.fallback.Fallback', 1),
    (KEYED, 0),
)
"""The classes of guards, and which of their type arguments is what they fail with themselves."""
GUARDS = frozenset(name for name, _ in GUARD_ERRORS)
RULES = 'seamwise.edges.Rules'


N = TypeVar('N', bound=ast.AST)


class _Part(NamedTuple):
    """A part of a return type that says which errors come: a member of its channel, or a variable for a whole result."""

    type: ProperType
    is_error: bool


class ErrorInference:
    """Reads the expressions of one file."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._bindings: dict[Function, Bindings] = {}
        self._own: dict[type[ast.AST], dict[Function, list[ast.AST]]] = {}
        self._underway: set[tuple[Function | None, str]] = set()
        self._known: dict[tuple[Function | None, str, str], ErrorSet | None] = {}
        self._cuts = 0
        self._names = dict(function_names(module))

    # What errors come out of a result.

    def errors_of(self, node: ast.expr) -> ErrorSet | None:
        """Give the errors of a result, or of one that is awaited; None where nobody can say."""
        match node:
            case ast.Await(inner) | ast.NamedExpr(_, inner):
                return self.errors_of(inner)
            case ast.IfExp(_, one, other):
                return union([self.errors_of(one), self.errors_of(other)])
            case ast.BoolOp(_, parts):
                return union(self.errors_of(one) for one in parts if self._is_result(one))
            case ast.Name():
                return self._of_name(node)
            case ast.Call():
                return self._of_call(node)
            case _:
                return self._typed(node)

    def _typed(self, node: ast.expr) -> ErrorSet | None:
        """Give what the type says: mypy has several where a type variable may be one of several."""
        found = self.module.types_of(node)
        return union(errors_in(one) for one in found) if found else None

    def _is_result(self, node: ast.expr) -> bool:
        return (
            errors_in(self.module.type_of(node)) is not None
            or channel_of(self.module.type_of(node)) is not None
        )

    def _of_name(self, node: ast.Name) -> ErrorSet | None:
        seen = self._typed(node)
        if seen is None:
            return None
        bound = self._bound(node)
        if bound is None or not all(isinstance(one, ValueBinding) for one in bound):
            return seen
        given = [one.value for one in bound if isinstance(one, ValueBinding)]
        found = self._followed(
            node,
            'result',
            lambda: union(self.errors_of(one) for one in given if self._may_fail(one)),
        )
        return seen if found is None else narrow(found, seen)

    def _followed(
        self, node: ast.Name, question: str, read: Callable[[], ErrorSet | None]
    ) -> ErrorSet | None:
        """Follow a name to what it is bound to, once for all its uses; on a way back to itself it adds nothing."""
        place = (self.enclosing_function(node), node.id)
        if (*place, question) in self._known:
            return self._known[*place, question]
        if place in self._underway:
            self._cuts += 1
            return NO_ERRORS
        cuts = self._cuts
        self._underway.add(place)
        try:
            found = read()
        finally:
            self._underway.discard(place)
        if cuts == self._cuts or not self._underway:
            # Where a way was cut short inside of another one, the answer is that one's only.
            self._known[*place, question] = found
        return found

    def _may_fail(self, value: ast.expr) -> bool:
        """Whether a value that a name is bound to is a result at all: `found = None` first, say."""
        return channel_of(self.module.type_of(value)) is not None or isinstance(
            value, ast.Await | ast.Call | ast.Name
        )

    def _of_call(self, node: ast.Call) -> ErrorSet | None:
        name = self.module.full_name(node.func)
        if name in SUCCESS:
            return NO_ERRORS
        if name in FAILURE:
            return self.value_classes(node.args[0]) if len(node.args) == 1 else None
        if self._calls_itself(node, name):
            # What it brings, its other lines bring.
            return NO_ERRORS
        found = self._of_own(node, name)
        return found if found is not None else self._typed(node)

    def _of_own(self, node: ast.Call, name: str) -> ErrorSet | None:
        """Read a call of this library, of a method of a result, or of any other function; None where its type must do."""
        if name in PASS_THROUGH and node.args:
            return self.errors_of(node.args[0])
        if name == BIND_ASYNC and len(node.args) == 2:  # noqa: PLR2004 -- a result and a step
            return union([self.errors_of(node.args[0]), self.returned_errors(node.args[1])])
        if name == FLOW and node.args:
            return union(self.returned_errors(one) for one in node.args[1:])
        if name in COLLECTORS:
            return self._summed(node.args)
        if name == ATTEMPT and node.args:
            return self.mapped_errors(node.args[-1])
        if name == REFINE and node.args:
            return self.returned_errors(node.args[-1])
        if name == CAUGHT and node.args:
            return union(self.constructed_by(one) for one in node.args[1:])
        if isinstance(node.func, ast.Attribute):
            found = self._of_method(node, node.func)
            if found is not None:
                return found
        step = self._of_step(node)
        return step if step is not None else self._of_function(node)

    def _of_method(self, node: ast.Call, function: ast.Attribute) -> ErrorSet | None:
        receiver = self.module.type_of(function.value)
        if any(base_names(one) & GUARDS for one in union_members(receiver)):
            return (
                self._guarded(node, function)
                if function.attr in {'run', 'run_sync'} and node.args
                else None
            )
        if not any(RESULT in base_names(one) for one in union_members(receiver)):
            return None
        if not node.args:
            return None
        match function.attr:
            case 'map':
                return self.errors_of(function.value)
            case 'bind':
                return union([self.errors_of(function.value), self.returned_errors(node.args[0])])
            case 'lash':
                return self.returned_errors(node.args[0])
            case 'alt':
                return self.constructed_by(node.args[0])
            case _:
                return None

    def _guarded(self, node: ast.Call, function: ast.Attribute) -> ErrorSet | None:
        return union([self.returned_errors(node.args[0]), self.guard_errors(function.value)])

    def guard_errors(self, guard: ast.expr) -> ErrorSet | None:
        """Give what a guard itself can fail with."""
        types = list(union_members(self.module.type_of(guard)))
        found = [
            error
            for one in types
            for base, place in GUARD_ERRORS
            if (error := type_argument(one, base, place)) is not None
        ]
        return union(errors_of_type(error) for error in found) if found else None

    def _of_step(self, node: ast.Call) -> ErrorSet | None:
        """Read `catch(Kind, handler)(result)`, also with the step under a name."""
        taken = self.catch_step(node.func)
        if taken is None or len(node.args) != 1:
            return None
        caught, added = taken
        arriving = self.errors_of(node.args[0])
        return (
            None if arriving is None or added is None else {**subtract(arriving, caught), **added}
        )

    def catch_step(self, step: ast.expr) -> tuple[list[TypeInfo], ErrorSet | None] | None:
        """Give the classes that a step of `catch` takes, and the errors that its handler adds; None for what is no such step."""
        if (
            isinstance(step, ast.Call)
            and len(step.args) == 2
            and self.module.full_name(step.func) == CATCH
        ):
            named = step.args[0].elts if isinstance(step.args[0], ast.Tuple) else [step.args[0]]
            classes = [
                info for one in named for info in (self.constructed_by(one) or NO_ERRORS).values()
            ]
            return classes, self.returned_errors(step.args[1])
        for one in union_members(self.module.type_of(step)):
            if isinstance(one, Instance) and one.type.fullname in {CATCH_STEP, CATCH_ALL_STEP}:
                return list((errors_of_type(one.args[0]) or NO_ERRORS).values()), errors_in(
                    one.args[1]
                )
        return None

    def _summed(self, results: Sequence[ast.expr]) -> ErrorSet | None:
        """Read what `collect` and its kin are handed: results one by one, or one iterable of them."""
        if (
            len(results) == 1
            and not isinstance(results[0], ast.Starred)
            and not self._is_result(results[0])
        ):
            return self._of_items(results[0])
        return union(
            self._of_items(one.value) if isinstance(one, ast.Starred) else self.errors_of(one)
            for one in results
        )

    def _of_items(self, results: ast.expr) -> ErrorSet | None:
        """Read an iterable of results."""
        match results:
            case ast.List(parts) | ast.Tuple(parts) | ast.Set(parts):
                return union(
                    self._of_items(one.value)
                    if isinstance(one, ast.Starred)
                    else self.errors_of(one)
                    for one in parts
                )
            case ast.GeneratorExp(part) | ast.ListComp(part) | ast.SetComp(part):
                return self.errors_of(part)
            case ast.Call(function, [step, *_]) if (
                self.module.full_name(function) == 'builtins.map'
            ):
                return self.returned_errors(step)
            case ast.Await(ast.Call(function, awaited_type)) if (
                self.module.full_name(function) == GATHER
            ):
                return self._summed(awaited_type)
            case ast.Name() | ast.Attribute():
                # A name has its type from where it was bound; of anything else the place may have widened it.
                held = [
                    type_argument(one, 'typing.Iterable', 0)
                    for one in union_members(self.module.type_of(results))
                ]
                return union(errors_in(one) for one in held) if held else None
            case _:
                return None

    # What a function that is handed over gives.

    def returned_errors(self, step: ast.expr) -> ErrorSet | None:
        """Give the errors of the results that a function, handed over as a value, gives; nothing where it gives no results."""
        if isinstance(step, ast.Lambda):
            return self.errors_of(step.body)
        return errors_in(call_result_type(self._defined(step) or self.module.type_of(step)))

    def constructed_by(self, function: ast.expr) -> ErrorSet | None:
        """Give the errors that a function, handed over as a value, makes: a class, a lambda, any other."""
        if isinstance(function, ast.Lambda):
            return self.value_classes(function.body)
        named = self.module.mypy_node(function)
        if isinstance(named, RefExpr) and isinstance(named.node, TypeInfo):
            # Also where mypy reads no types, since it holds the place for unreachable.
            return {named.node.fullname: named.node}
        return errors_of_type(
            call_result_type(self._defined(function) or self.module.type_of(function))
        )

    def mapped_errors(self, rules: ast.expr) -> ErrorSet | None:
        """Give the errors that `when(…).becomes(…) | …` makes."""
        match rules:
            case ast.BinOp(left, ast.BitOr(), right):
                return union([self.mapped_errors(left), self.mapped_errors(right)])
            case ast.Call(ast.Attribute(_, 'becomes'), [maker]):
                return self.constructed_by(maker)
            case _:
                own = [
                    one
                    for one in union_members(self.module.type_of(rules))
                    if isinstance(one, Instance) and one.type.fullname == RULES
                ]
                return union(errors_of_type(one.args[0]) for one in own) if own else None

    # What an error is.

    def typed_classes(self, node: ast.expr) -> ErrorSet | None:
        """Give the classes that a value may be of by its type alone; None where nobody can say."""
        found = self.module.types_of(node)
        return union(errors_of_type(one) for one in found) if found else None

    def value_classes(self, node: ast.expr) -> ErrorSet | None:
        """Give the classes that a value may be of, an error or not; None where nobody can say."""
        match node:
            case ast.IfExp(_, one, other):
                return union([self.value_classes(one), self.value_classes(other)])
            case ast.NamedExpr(_, inner):
                return self.value_classes(inner)
            case ast.Name():
                return self._made_before(node)
            case ast.Tuple(parts):
                return union(self.value_classes(one) for one in parts)
            case ast.Starred(inner):
                return self.value_classes(inner)
            case ast.Call(ast.Attribute(result, 'failure'), []) if (
                channel_of(self.module.type_of(result)) is not None
            ):
                return self.errors_of(result)
            case ast.Call(function):
                defined = self._defined(function)
                back = call_result_type(defined) if defined is not None else None
                return (
                    errors_of_type(back)
                    if back is not None and errors_of_type(back) is not None
                    else self.typed_classes(node)
                )
            case _:
                return self.typed_classes(node)

    def _made_before(self, node: ast.Name) -> ErrorSet | None:
        seen = self.typed_classes(node)
        bound = self._bound(node)
        if seen is None or bound is None:
            return seen
        found = self._followed(node, 'error', lambda: union(self._error_of(one) for one in bound))
        return seen if found is None else narrow(found, seen)

    def _error_of(self, bound: object) -> ErrorSet | None:
        match bound:
            case ValueBinding(value):
                return self.value_classes(value)
            case ErrorBinding(subject):
                return self.errors_of(subject)
            case _:
                return None

    # Names and functions.

    def _bound(self, node: ast.Name) -> Sequence[object] | None:
        """Give what a local name is bound to; None for one of elsewhere, or where something else may be bound to it."""
        function = self.enclosing_function(node)
        return None if function is None else self.bindings(function).get(node.id)

    def own_nodes(self, kind: type[N], function: Function) -> Sequence[N]:
        """Give the nodes of a kind in a function, lambdas too; those of inner functions and classes aside."""
        return [node for node in self._owned(kind).get(function, ()) if isinstance(node, kind)]

    def _owned(self, kind: type[ast.AST]) -> Mapping[Function, Sequence[ast.AST]]:
        if kind not in self._own:
            own: dict[Function, list[ast.AST]] = {}
            for node in self.module.nodes_of_type(kind):
                owner = self._owner(node)
                if owner is not None:
                    own.setdefault(owner, []).append(node)
            self._own[kind] = own
        return self._own[kind]

    def _owner(self, node: ast.AST) -> Function | None:
        """Give the function in whose body a node stands: a decorator and a default are no part of any, nor is the body of a class."""
        around = self.module.parents.get(node)
        while around is not None and not isinstance(around, INNER):
            node, around = around, self.module.parents.get(around)
        if around is None or isinstance(around, ast.ClassDef):
            return None
        return around if any(node is one for one in around.body) else None

    def bindings(self, function: Function) -> Bindings:
        """Give what is bound to the names of a function."""
        if function not in self._bindings:
            self._bindings[function] = bindings(function)
        return self._bindings[function]

    def enclosing_function(self, node: ast.AST) -> Function | None:
        """Give the function that a node stands in."""
        around = self.module.parents.get(node)
        while around is not None and not isinstance(around, FUNCTIONS):
            around = self.module.parents.get(around)
        return around

    def function_name(self, function: Function) -> str:
        """Give the full name of a function."""
        return self._names[function]

    def callee_name(self, node: ast.Call) -> str:
        """Give the full name of what is called, a method by the class that defines it; empty where nobody knows."""
        return self.qualified_name(node.func)

    def qualified_name(self, function: ast.expr) -> str:
        """Give the full name of a function by an expression that stands for it; empty where nobody knows."""
        found = self.module.mypy_node(function)
        if isinstance(found, RefExpr) and found.node is not None:
            place = found.node.func if isinstance(found.node, Decorator) else found.node
            own = (
                self.module.function_at(place.line, place.column)
                if isinstance(place, FuncDef) and '.' not in place.fullname
                else None
            )
            return self._names.get(own, '') if own is not None else found.node.fullname
        if isinstance(function, ast.Attribute):
            for one in union_members(self.module.type_of(function.value)):
                info = _class_of(one)
                owner = (
                    next((base for base in info.mro if function.attr in base.names), None)
                    if info is not None
                    else None
                )
                if owner is not None:
                    return f'{owner.fullname}.{function.attr}'
        return ''

    def _calls_itself(self, node: ast.Call, name: str) -> bool:
        function = self.enclosing_function(node)
        if function is None or not (name or isinstance(node.func, ast.Attribute)):
            return False
        return self.callee_name(node) == self._names.get(function) and not function.decorator_list

    def _defined(self, function: ast.expr) -> Type | None:
        """Give the type of a function as it is defined: what mypy keeps of a call is already filled in, maybe too widely."""
        found = self.module.mypy_node(function)
        if isinstance(found, RefExpr) and found.node is not None:
            node = found.node
            if isinstance(node, FuncDef):
                return node.type
            if isinstance(node, Decorator):
                return node.var.type
            if isinstance(node, Var):
                return (
                    get_proper_type(node.type)
                    if node.type is not None and not node.is_self
                    else None
                )
        return None

    def _of_function(self, node: ast.Call) -> ErrorSet | None:
        """Read a call by the definition of what is called: its type variables are what the arguments say."""
        defined = self._defined(node.func)
        typed = get_proper_type(defined) if defined is not None else None
        if not isinstance(typed, CallableType):
            return None
        if not typed.variables:
            return errors_in(typed.ret_type)
        given = dict(_arguments(typed, node))
        return union(self._solved(part, given) for part in _channel_parts(typed.ret_type))

    def _solved(self, part: _Part, given: Mapping[ast.expr, Type]) -> ErrorSet | None:
        if not isinstance(part.type, TypeVarType):
            return errors_of_type(part.type)
        sources = [
            (node, formal)
            for node, formal in given.items()
            if part.type in get_type_vars(_given(formal))
        ]
        return (
            union(
                self._from_argument(node, get_proper_type(formal), part) for node, formal in sources
            )
            if sources
            else None
        )

    def _from_argument(self, node: ast.expr, formal: ProperType, wanted: _Part) -> ErrorSet | None:
        """Read what a type variable stands for out of an argument; None where it is more than a result, or an error, there."""
        back = get_proper_type(_given(formal))
        is_function = isinstance(formal, CallableType)
        if wanted.is_error and back == wanted.type:
            return self.constructed_by(node) if is_function else self.value_classes(node)
        if any(one.type == wanted.type for one in _channel_parts(back)):
            return self.returned_errors(node) if is_function else self.errors_of(node)
        if isinstance(back, TypeType) and back.item == wanted.type:
            return self.constructed_by(node) if wanted.is_error and not is_function else None
        held = type_argument(back, 'typing.Iterable', 0)
        is_held = held is not None and any(
            one.is_error and one.type == wanted.type for one in _channel_parts(held)
        )
        return self._of_items(node) if is_held and not is_function else None


def function_names(module: Module) -> Iterator[tuple[Function, str]]:
    """Give each function of a file with its full name."""
    for function in module.functions():
        yield function, full_name(function, module)


def full_name(of: Function | ast.ClassDef, module: Module) -> str:
    """Give the full name of a function or class by where it is defined."""
    parts: list[str] = []
    around: ast.AST | None = of
    while around is not None:
        if isinstance(around, (*FUNCTIONS, ast.ClassDef)):
            parts.append(around.name)
        around = module.parents.get(around)
    return '.'.join([module.name, *reversed(parts)])


def _class_of(type_: Type) -> TypeInfo | None:
    found = get_proper_type(type_)
    if isinstance(found, Instance):
        return found.type
    made = (
        call_result_type(found) if isinstance(found, CallableType) and found.is_type_obj() else None
    )
    return made.type if isinstance(made, Instance) else None


def _arguments(signature: CallableType, call: ast.Call) -> Iterator[tuple[ast.expr, Type]]:
    for place, node in enumerate(call.args):
        formal = signature.argument_by_position(place)
        if formal is not None and not isinstance(node, ast.Starred):
            yield node, formal.typ
    for one in call.keywords:
        formal = signature.argument_by_name(one.arg) if one.arg is not None else None
        if formal is not None:
            yield one.value, formal.typ


def _channel_parts(type_: Type) -> Iterator[_Part]:
    """Give the parts of a return type that say which errors come."""
    found = get_proper_type(type_)
    options = found.items if isinstance(found, UnionType) else [found]
    for one in (get_proper_type(option) for option in options):
        inner = awaited_type(one) if not isinstance(one, TypeVarType) else None
        if isinstance(one, TypeVarType):
            yield _Part(one, is_error=False)
        elif inner is not None:
            yield from _channel_parts(inner)
        else:
            whole = channel_of(one)
            yield from (
                (_Part(error, is_error=True) for error in whole.errors) if whole is not None else ()
            )


def _given(formal: Type) -> Type:
    """Give what comes out of an argument: of a function what it returns, since what it takes it does not bring."""
    typed = get_proper_type(formal)
    return typed.ret_type if isinstance(typed, CallableType) else typed
