"""Inference of the errors that an expression can produce, narrower than its type in mypy.

mypy widens the type of a value to the type its context expects: in a function that declares
`Result[T, A | B]`, the type of `Failure(A())` may be `Failure[A | B]`. Therefore the parts of an
expression are examined, and types are used only for parts of unknown origin.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from seamwise.check._mypy.nodes import LDEF, Decorator, FuncDef, RefExpr, TypeInfo, Var
from seamwise.check._mypy.type_operations import type_argument, type_variables
from seamwise.check._mypy.types import (
    CallableType,
    FunctionLike,
    Instance,
    ProperType,
    Type,
    TypeType,
    TypeVarType,
    UnionType,
    get_proper_type,
)
from seamwise.check.inference.data_flow.bindings import (
    INNER_SCOPES,
    Binding,
    Bindings,
    ErrorBinding,
    OpaqueBinding,
    ValueBinding,
    bindings,
)
from seamwise.check.inference.data_flow.memo import RecursiveMemo
from seamwise.check.typed_ast.channels import (
    FAILURE,
    NO_ERRORS,
    RESULT,
    SUCCESS,
    ErrorSet,
    awaited_type,
    base_names,
    call_result_type,
    channel_of,
    errors_in,
    errors_of_type,
    narrow,
    subtract,
    union,
    union_members,
)
from seamwise.check.typed_ast.program import Function, Module

PASS_THROUGH = frozenset(
    {
        'seamwise._results.containers.from_returns',
        'seamwise._results.compose.tap',
        'seamwise._results.compose.tap_error',
        'seamwise._results.compose.map_async',
    }
)
"""Functions whose result has exactly the failures of their first argument."""
COLLECTORS = frozenset({
    'seamwise._results.many.collect', 'seamwise._results.many.accumulate',
    'seamwise._results.many_async.collect_async', 'seamwise._results.many_async.accumulate_async',
})  # fmt: skip
"""Functions that combine several Results into one."""
BIND_ASYNC, FLOW = 'seamwise._results.compose.bind_async', 'seamwise._results.compose.flow'
ATTEMPT, REFINE, CAUGHT = (
    'seamwise._results.edges.attempt',
    'seamwise._results.edges.refine',
    'seamwise._results.edges.caught',
)
CATCH = 'seamwise._results.compose.catch'
KEYED = 'seamwise.policies.idempotency.Keyed'
_GUARD_ERROR_ARGUMENTS = (
    ('seamwise.policies._engine.pipeline.Guard', 0),
    ('seamwise.policies.fallback.Fallback', 1),
    (KEYED, 0),
)
"""Guard classes, with the index of the type argument for the errors of the guard itself."""
GUARDS = frozenset(name for name, _ in _GUARD_ERROR_ARGUMENTS)
_CATCH_STEPS = frozenset({'seamwise._results.compose.Catch', 'seamwise._results.compose.CatchAll'})
_RULES = 'seamwise._results.edges.Rules'
_GATHER = 'asyncio.tasks.gather'
_ITERABLE = 'typing.Iterable'

N = TypeVar('N', bound=ast.AST)


class CatchStep(NamedTuple):
    """Step such as `catch(Busy, handler)`."""

    caught: list[TypeInfo]
    added: ErrorSet | None
    """Errors of the handler; None if unknown."""


class ErrorInference:
    """Error inference for the expressions of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self._bindings: dict[Function, Bindings] = {}
        self._own_nodes: dict[type[ast.AST], dict[Function, list[ast.AST]]] = {}
        self._errors_by_name = RecursiveMemo[ErrorSet | None](NO_ERRORS)
        self._function_names = {
            function: full_name(function, module) for function in module.functions()
        }

    # Errors of a Result

    def errors_of(self, node: ast.expr) -> ErrorSet | None:
        """Return the errors of a Result, or of an awaitable one; None if unknown."""
        match node:
            case ast.Await(inner) | ast.NamedExpr(_, inner):
                return self.errors_of(inner)
            case ast.IfExp(_, body, orelse):
                return union([self.errors_of(body), self.errors_of(orelse)])
            case ast.BoolOp(_, operands):
                return union(
                    self.errors_of(operand) for operand in operands if self._is_result(operand)
                )
            case ast.Name():
                return self._errors_of_name(node)
            case ast.Call():
                return self._errors_of_call(node)
            case _:
                return self._errors_by_type(node)

    def _errors_by_type(self, node: ast.expr) -> ErrorSet | None:
        types = self.module.types_of(node)
        return union(errors_in(type_) for type_ in types) if types else None

    def _is_result(self, node: ast.expr) -> bool:
        type_ = self.module.type_of(node)
        return errors_in(type_) is not None or channel_of(type_) is not None

    def _errors_of_name(self, node: ast.Name) -> ErrorSet | None:
        allowed = self._errors_by_type(node)
        name_bindings = self._bindings_of(node)
        if allowed is None or name_bindings is None:
            return allowed
        values = [binding.value for binding in name_bindings if isinstance(binding, ValueBinding)]
        if len(values) < len(name_bindings):
            return allowed
        errors = self._errors_by_name.get(
            (self.module.enclosing_function(node), node.id),
            'result',
            lambda: union(self.errors_of(value) for value in values if self._may_be_result(value)),
        )
        return allowed if errors is None else narrow(errors, allowed)

    def _may_be_result(self, value: ast.expr) -> bool:
        """Return whether a bound value may be a Result, unlike the None in `result = None`."""
        return channel_of(self.module.type_of(value)) is not None or isinstance(
            value, ast.Await | ast.Call | ast.Name
        )

    def _errors_of_call(self, node: ast.Call) -> ErrorSet | None:
        name = self.module.full_name(node.func)
        if name in SUCCESS:
            return NO_ERRORS
        if name in FAILURE:
            return self.value_classes(node.args[0]) if len(node.args) == 1 else None
        if self._is_recursive(node, name):
            # The errors come from the other statements of the function.
            return NO_ERRORS
        errors = self._errors_of_known_call(node, name)
        return errors if errors is not None else self._errors_by_type(node)

    def _errors_of_known_call(self, node: ast.Call, name: str) -> ErrorSet | None:
        """Return the errors of a call by its arguments; None if only its type is known."""
        match node.args:
            case [result, *_] if name in PASS_THROUGH:
                return self.errors_of(result)
            case [result, step] if name == BIND_ASYNC:
                return union([self.errors_of(result), self.returned_errors(step)])
            case [_, *steps] if name == FLOW:
                return union(self.returned_errors(step) for step in steps)
            case results if name in COLLECTORS:
                return self._errors_of_collected(results)
            case [*_, rules] if name == ATTEMPT:
                return self.mapped_errors(rules)
            case [*_, classify] if name == REFINE:
                return self.returned_errors(classify)
            case [_, *classes] if name == CAUGHT:
                return union(self.constructed_by(class_) for class_ in classes)
            case _:
                pass
        if isinstance(node.func, ast.Attribute):
            errors = self._errors_of_method(node, node.func)
            if errors is not None:
                return errors
        errors = self._errors_of_catch(node)
        return errors if errors is not None else self._errors_by_signature(node)

    def _errors_of_method(self, node: ast.Call, method: ast.Attribute) -> ErrorSet | None:
        if not node.args:
            return None
        argument = node.args[0]
        receivers = list(union_members(self.module.type_of(method.value)))
        if any(base_names(receiver) & GUARDS for receiver in receivers):
            if method.attr not in {'run', 'run_sync'}:
                return None
            return union([self.returned_errors(argument), self.guard_errors(method.value)])
        if not any(RESULT in base_names(receiver) for receiver in receivers):
            return None
        match method.attr:
            case 'map':
                return self.errors_of(method.value)
            case 'bind':
                return union([self.errors_of(method.value), self.returned_errors(argument)])
            case 'lash':
                return self.returned_errors(argument)
            case 'alt':
                return self.constructed_by(argument)
            case _:
                return None

    def guard_errors(self, guard: ast.expr) -> ErrorSet | None:
        """Return the errors that a guard itself can return; None if it is no guard or unknown."""
        types = [
            error
            for member in union_members(self.module.type_of(guard))
            for base, index in _GUARD_ERROR_ARGUMENTS
            if (error := type_argument(member, base, index)) is not None
        ]
        return union(errors_of_type(type_) for type_ in types) if types else None

    def _errors_of_catch(self, node: ast.Call) -> ErrorSet | None:
        """Return the errors of `catch(Busy, handler)(result)`, or of a named step."""
        step = self.catch_step(node.func)
        if step is None or step.added is None or len(node.args) != 1:
            return None
        errors = self.errors_of(node.args[0])
        return None if errors is None else {**subtract(errors, step.caught), **step.added}

    def catch_step(self, node: ast.expr) -> CatchStep | None:
        """Return the step that an expression creates or refers to; None if it is not one."""
        match node:
            case ast.Call(function, [classes, handler]) if self.module.full_name(function) == CATCH:
                items = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                return CatchStep(
                    [
                        info
                        for item in items
                        for info in (self.constructed_by(item) or NO_ERRORS).values()
                    ],
                    self.returned_errors(handler),
                )
            case _:
                pass
        for member in union_members(self.module.type_of(node)):
            if isinstance(member, Instance) and member.type.fullname in _CATCH_STEPS:
                caught = errors_of_type(member.args[0]) or NO_ERRORS
                return CatchStep(list(caught.values()), errors_in(member.args[1]))
        return None

    def _errors_of_collected(self, results: Sequence[ast.expr]) -> ErrorSet | None:
        """Return the errors of the arguments of a collector: Results, or one iterable of them."""
        match results:
            case [iterable] if not (isinstance(iterable, ast.Starred) or self._is_result(iterable)):
                return self._errors_of_items(iterable)
            case _:
                return self._errors_of_elements(results)

    def _errors_of_elements(self, elements: Sequence[ast.expr]) -> ErrorSet | None:
        return union(
            self._errors_of_items(element.value)
            if isinstance(element, ast.Starred)
            else self.errors_of(element)
            for element in elements
        )

    def _errors_of_items(self, iterable: ast.expr) -> ErrorSet | None:
        """Return the errors of the Results in an iterable."""
        match iterable:
            case ast.List(elements) | ast.Tuple(elements) | ast.Set(elements):
                return self._errors_of_elements(elements)
            case ast.GeneratorExp(element) | ast.ListComp(element) | ast.SetComp(element):
                return self.errors_of(element)
            case ast.Call(function, [step, *_]) if (
                self.module.full_name(function) == 'builtins.map'
            ):
                return self.returned_errors(step)
            case ast.Await(ast.Call(function, awaitables)) if (
                self.module.full_name(function) == _GATHER
            ):
                return self._errors_of_collected(awaitables)
            case ast.Name() | ast.Attribute():
                # The context cannot widen the type of a name, unlike that of other expressions.
                items = [
                    type_argument(member, _ITERABLE, 0)
                    for member in union_members(self.module.type_of(iterable))
                ]
                return union(errors_in(item) for item in items) if items else None
            case _:
                return None

    # Functions that are passed as values

    def returned_errors(self, function: ast.expr) -> ErrorSet | None:
        """Return the errors of the Result that a function returns; None if it returns none."""
        if isinstance(function, ast.Lambda):
            return self.errors_of(function.body)
        return errors_in(self._return_type(function))

    def constructed_by(self, function: ast.expr) -> ErrorSet | None:
        """Return the classes of the errors that a function, or a class, constructs."""
        if isinstance(function, ast.Lambda):
            return self.value_classes(function.body)
        info = self.module.class_at(function)
        if info is not None:
            # A class is known even in unreachable code, which has no types.
            return {info.fullname: info}
        return errors_of_type(self._return_type(function))

    def _return_type(self, function: ast.expr) -> Type | None:
        return call_result_type(self._definition_type(function) or self.module.type_of(function))

    def mapped_errors(self, rules: ast.expr) -> ErrorSet | None:
        """Return the errors that exception rules create: `when(…).becomes(…) | …`."""
        match rules:
            case ast.BinOp(left, ast.BitOr(), right):
                return union([self.mapped_errors(left), self.mapped_errors(right)])
            case ast.Call(ast.Attribute(_, 'becomes'), [constructor]):
                return self.constructed_by(constructor)
            case _:
                types = [
                    member.args[0]
                    for member in union_members(self.module.type_of(rules))
                    if isinstance(member, Instance) and member.type.fullname == _RULES
                ]
                return union(errors_of_type(type_) for type_ in types) if types else None

    # Classes of an error value

    def typed_classes(self, node: ast.expr) -> ErrorSet | None:
        """Return the possible classes of a value by its type alone; None if unknown."""
        types = self.module.types_of(node)
        return union(errors_of_type(type_) for type_ in types) if types else None

    def value_classes(self, node: ast.expr) -> ErrorSet | None:
        """Return the possible classes of a value, an error or not; None if unknown."""
        match node:
            case ast.IfExp(_, body, orelse):
                return union([self.value_classes(body), self.value_classes(orelse)])
            case ast.NamedExpr(_, inner) | ast.Starred(inner):
                return self.value_classes(inner)
            case ast.Name():
                return self._classes_of_name(node)
            case ast.Tuple(elements):
                return union(self.value_classes(element) for element in elements)
            case ast.Call(ast.Attribute(result, 'failure'), []) if (
                channel_of(self.module.type_of(result)) is not None
            ):
                return self.errors_of(result)
            case ast.Call(function):
                classes = errors_of_type(call_result_type(self._definition_type(function)))
                return classes if classes is not None else self.typed_classes(node)
            case _:
                return self.typed_classes(node)

    def _classes_of_name(self, node: ast.Name) -> ErrorSet | None:
        allowed = self.typed_classes(node)
        name_bindings = self._bindings_of(node)
        if allowed is None or name_bindings is None:
            return allowed
        classes = self._errors_by_name.get(
            (self.module.enclosing_function(node), node.id),
            'error',
            lambda: union(self._classes_of_binding(binding) for binding in name_bindings),
        )
        return allowed if classes is None else narrow(classes, allowed)

    def _classes_of_binding(self, binding: Binding) -> ErrorSet | None:
        match binding:
            case ValueBinding(value):
                return self.value_classes(value)
            case ErrorBinding(subject):
                return self.errors_of(subject)
            case OpaqueBinding():
                return None

    # Names and functions

    def bindings(self, function: Function) -> Bindings:
        """Return the bindings of the local names of a function."""
        if function not in self._bindings:
            self._bindings[function] = bindings(function)
        return self._bindings[function]

    def _bindings_of(self, node: ast.Name) -> Sequence[Binding] | None:
        """Return the bindings of a local name; None for other names."""
        function = self.module.enclosing_function(node)
        return None if function is None else self.bindings(function).get(node.id)

    def own_nodes(self, node_type: type[N], function: Function) -> Sequence[N]:
        """Return the nodes of a type in a function, but not in inner functions or classes."""
        if node_type not in self._own_nodes:
            self._own_nodes[node_type] = self._nodes_by_function(node_type)
        return _filter_nodes(self._own_nodes[node_type].get(function, []), node_type)

    def _nodes_by_function(self, node_type: type[ast.AST]) -> dict[Function, list[ast.AST]]:
        by_function: dict[Function, list[ast.AST]] = {}
        for node in self.module.nodes_of_type(node_type):
            function = self._function_with_body(node)
            if function is not None:
                by_function.setdefault(function, []).append(node)
        return by_function

    def _function_with_body(self, node: ast.AST) -> Function | None:
        """Return the function whose body contains a node, outside inner functions and classes."""
        parent = self.module.parents.get(node)
        while parent is not None and not isinstance(parent, INNER_SCOPES):
            node, parent = parent, self.module.parents.get(parent)
        if parent is None or isinstance(parent, ast.ClassDef):
            return None
        return parent if any(node is statement for statement in parent.body) else None

    def function_named(self, name: str) -> Function | None:
        """Return the function of the module with a full name."""
        names = self._function_names.items()
        return next((function for function, other in names if other == name), None)

    def function_name(self, function: Function) -> str:
        """Return the full name of a function."""
        return self._function_names[function]

    def callee_name(self, node: ast.Call) -> str:
        """Return the full name of the called function; see `qualified_name`."""
        return self.qualified_name(node.func)

    def qualified_name(self, function: ast.expr) -> str:
        """Return the full name of a referenced function; empty if unknown.

        A method has the name of the class that defines it.
        """
        reference = self.module.mypy_node(function)
        if isinstance(reference, RefExpr) and reference.node is not None:
            definition = reference.node
            if isinstance(definition, Decorator):
                definition = definition.func
            if isinstance(definition, FuncDef) and reference.kind == LDEF:
                # mypy names an inner function without the function around it. A function that is
                # imported locally is in another file.
                inner = self.module.function_at(definition.line, definition.column)
                if inner is not None and inner.name == definition.name:
                    return self._function_names.get(inner, '')
            return reference.node.fullname
        if isinstance(function, ast.Attribute):
            if isinstance(function.value, ast.Call) and ast.unparse(function.value) == 'super()':
                return self._inherited_name(function)
            for member in union_members(self.module.type_of(function.value)):
                info = _class_of(member)
                name = inherited_name(info.mro, function.attr) if info is not None else ''
                if name:
                    return name
        return ''

    def _inherited_name(self, method: ast.Attribute) -> str:
        """Return the full name of the method in `super().method`."""
        function = self.module.enclosing_function(method)
        definition = self.module.definition(function) if function is not None else None
        # The `info` of a plain function is mypy's falsy placeholder, not None.
        bases = definition.info.mro[1:] if definition is not None and definition.info else ()
        return inherited_name(bases, method.attr)

    def _is_recursive(self, node: ast.Call, name: str) -> bool:
        function = self.module.enclosing_function(node)
        if function is None or not (name or isinstance(node.func, ast.Attribute)):
            return False
        return (
            self.callee_name(node) == self._function_names.get(function)
            and not function.decorator_list
        )

    def _definition_type(self, function: ast.expr) -> Type | None:
        """Return the declared type of a function, in which type variables are not solved yet."""
        reference = self.module.mypy_node(function)
        match reference.node if isinstance(reference, RefExpr) else None:
            case FuncDef() as definition:
                return definition.type
            case Decorator() as definition:
                return definition.var.type
            case Var() as variable if variable.type is not None and not variable.is_self:
                return get_proper_type(variable.type)
            case _:
                return None

    # Generic functions

    def _errors_by_signature(self, node: ast.Call) -> ErrorSet | None:
        """Return the errors of a call by the signature of its callee; None if unknown."""
        defined = self._definition_type(node.func)
        signature = get_proper_type(defined) if defined is not None else None
        if not isinstance(signature, CallableType):
            return None
        if not signature.variables:
            return errors_in(signature.ret_type)
        parameters = dict(_parameter_types(signature, node))
        return union(self._solve(part, parameters) for part in _result_parts(signature.ret_type))

    def _solve(self, part: '_ResultPart', parameters: Mapping[ast.expr, Type]) -> ErrorSet | None:
        """Return the errors of a part of a return type, given the parameter of each argument."""
        if not isinstance(part.type, TypeVarType):
            return errors_of_type(part.type)
        arguments = [
            (argument, parameter)
            for argument, parameter in parameters.items()
            if part.type in type_variables(_produced_type(parameter))
        ]
        if not arguments:
            return None
        return union(
            self._solve_by_argument(part, argument, get_proper_type(parameter))
            for argument, parameter in arguments
        )

    def _solve_by_argument(
        self, part: '_ResultPart', argument: ast.expr, parameter: ProperType
    ) -> ErrorSet | None:
        """Return the errors that one argument substitutes for a type variable; None if unknown."""
        produced = get_proper_type(_produced_type(parameter))
        is_function = isinstance(parameter, CallableType)
        if part.is_error and produced == part.type:
            return self.constructed_by(argument) if is_function else self.value_classes(argument)
        if any(other.type == part.type for other in _result_parts(produced)):
            return self.returned_errors(argument) if is_function else self.errors_of(argument)
        if isinstance(produced, TypeType) and produced.item == part.type:
            return self.constructed_by(argument) if part.is_error and not is_function else None
        item = type_argument(produced, _ITERABLE, 0)
        is_item = item is not None and any(
            other.is_error and other.type == part.type for other in _result_parts(item)
        )
        return self._errors_of_items(argument) if is_item and not is_function else None


class _ResultPart(NamedTuple):
    """Part of a return type that determines errors."""

    type: ProperType
    is_error: bool
    """Whether it is an error of the channel; otherwise a type variable for the whole Result."""


def _result_parts(type_: Type) -> Iterator[_ResultPart]:
    proper = get_proper_type(type_)
    for item in proper.items if isinstance(proper, UnionType) else [proper]:
        member = get_proper_type(item)
        if isinstance(member, TypeVarType):
            yield _ResultPart(member, is_error=False)
            continue
        awaited = awaited_type(member)
        if awaited is not None:
            yield from _result_parts(awaited)
            continue
        channel = channel_of(member)
        if channel is not None:
            yield from (_ResultPart(error, is_error=True) for error in channel.errors)


def _parameter_types(signature: CallableType, call: ast.Call) -> Iterator[tuple[ast.expr, Type]]:
    for position, argument in enumerate(call.args):
        parameter = signature.argument_by_position(position)
        if parameter is not None and not isinstance(argument, ast.Starred):
            yield argument, parameter.typ
    for keyword in call.keywords:
        parameter = signature.argument_by_name(keyword.arg) if keyword.arg is not None else None
        if parameter is not None:
            yield keyword.value, parameter.typ


def _produced_type(parameter: Type) -> Type:
    """Return the type of the values that an argument provides: for a function, its return type."""
    proper = get_proper_type(parameter)
    return proper.ret_type if isinstance(proper, CallableType) else proper


def inherited_name(bases: Iterable[TypeInfo], method: str) -> str:
    """Return the full name of a method in the first class that defines it; empty without one."""
    return next((f'{base.fullname}.{method}' for base in bases if method in base.names), '')


def _class_of(type_: Type) -> TypeInfo | None:
    """Return the class of an instance, or the class that a class object constructs."""
    proper = get_proper_type(type_)
    if isinstance(proper, FunctionLike) and proper.is_type_obj():
        return proper.type_object()
    return proper.type if isinstance(proper, Instance) else None


def full_name(definition: Function | ast.ClassDef, module: Module) -> str:
    """Return the full name of a function or class, including the scopes around it."""
    parts: list[str] = []
    scope: ast.AST | None = definition
    while scope is not None:
        if isinstance(scope, INNER_SCOPES):
            parts.append(scope.name)
        scope = module.parents.get(scope)
    return '.'.join([module.name, *reversed(parts)])


def _filter_nodes(nodes: Iterable[ast.AST], node_type: type[N]) -> list[N]:
    return [node for node in nodes if isinstance(node, node_type)]
