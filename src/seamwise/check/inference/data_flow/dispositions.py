"""Dispositions of the errors of a Result in a function: propagated, handled or lost."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from msgspec import Struct

from seamwise.check._mypy.nodes import TypeInfo
from seamwise.check.inference.data_flow.error_inference import (
    BIND_ASYNC,
    COLLECTORS,
    PASS_THROUGH,
    ErrorInference,
)
from seamwise.check.inference.data_flow.memo import RecursiveMemo
from seamwise.check.typed_ast.channels import (
    DO,
    FAILURE,
    NO_ERRORS,
    RESULT,
    ErrorSet,
    channel_of,
    errors_in,
    errors_of_type,
    filter_errors,
    may_be,
    narrow,
    overlaps,
    subtract,
)
from seamwise.check.typed_ast.program import Function, walk

CHECKS = frozenset(
    {
        'builtins.isinstance',
        'builtins.type',
        'seamwise._results.containers.is_success',
        'seamwise._results.containers.is_failure',
    }
)
_UNTYPED_CHECK = 'returns.pipeline.is_successful'
_TAP_ERROR = 'seamwise._results.compose.tap_error'


class Disposition(Struct, frozen=True):
    """Fate of some errors. Errors that are neither propagated nor handled are lost."""

    propagated: ErrorSet = NO_ERRORS
    """Passed on in a Result, to the caller or to code outside the function."""
    handled: ErrorSet = NO_ERRORS
    """Handled by an arm, a `catch`, an adapter, or any function that receives the error."""

    def merge(self, other: 'Disposition') -> 'Disposition':
        """Combine the dispositions by two uses of the same Result."""
        return Disposition(
            {**self.propagated, **other.propagated}, {**self.handled, **other.handled}
        )

    def lost(self, errors: ErrorSet) -> ErrorSet:
        """Return the errors that are neither propagated nor handled."""
        return {
            name: info
            for name, info in errors.items()
            if name not in self.propagated and name not in self.handled
        }


class Dispositions:
    """Dispositions of the errors in one function, or at module level."""

    def __init__(self, inference: ErrorInference, function: Function | None) -> None:
        self.inference = inference
        self.module = inference.module
        self._function = function
        self._body: Sequence[ast.AST] = (
            function.body if function is not None else self.module.syntax.body
        )
        self._by_name = RecursiveMemo(Disposition())

    def of_result(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Return the disposition of errors in the Result of an expression."""
        parent = self.module.parents.get(node)
        match parent:
            case ast.IfExp(test) if test is node:
                return Disposition()
            case ast.Await() | ast.IfExp() | ast.BoolOp() | ast.Starred():
                return self.of_result(parent, errors)
            case ast.NamedExpr(ast.Name(name)):
                return self.of_name(name, errors).merge(self.of_result(parent, errors))
            case ast.Assign([ast.Name('_')]):
                # The convention for an intentional discard.
                return Disposition(propagated=errors)
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                if self._function is None and not self._uses(name):
                    # Other modules may use an unused module-level name.
                    return Disposition(propagated=errors)
                return self.of_name(name, errors)
            case (
                ast.Lambda()
                | ast.GeneratorExp()
                | ast.ListComp()
                | ast.SetComp()
                | ast.List()
                | ast.Tuple()
            ):
                return self._of_collection(parent, errors)
            case ast.Match(subject):
                return (
                    _of_arms(self._of_result_arm, parent, errors)
                    if subject is node
                    else Disposition()
                )
            case ast.Attribute():
                return self._of_method(parent, errors)
            case ast.Call():
                return self._of_argument(node, parent, errors)
            case ast.Expr() | ast.Compare() | ast.If() | ast.While() | ast.Assert() | ast.UnaryOp():
                return Disposition()
            case _:
                # Returned, yielded or stored: other code receives the Result.
                return Disposition(propagated=errors)

    def _of_collection(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Trace a lambda or a collection of Results into the call that it is an argument of.

        The errors continue in the result of that call only if its channel includes them.
        """
        call = self.module.parents.get(node)
        if not isinstance(call, ast.Call) or node not in call.args:
            return Disposition(propagated=errors)
        if not isinstance(node, ast.Lambda) and self.module.full_name(call.func) not in COLLECTORS:
            return Disposition(propagated=errors)
        result_errors = errors_in(self.module.type_of(call)) or NO_ERRORS
        if not all(name in result_errors for name in errors):
            return Disposition(propagated=errors)
        return self.of_result(call, errors)

    # Named Results

    def of_name(self, name: str, errors: ErrorSet) -> Disposition:
        """Return the disposition of errors in the Result bound to a name."""
        return self._by_name.get(
            name, frozenset(errors), lambda: self._of_uses(self._uses(name), errors)
        )

    def of_attribute(self, result: ast.Attribute, errors: ErrorSet) -> Disposition:
        """Return the disposition of errors in a Result by all reads of the same attribute."""
        disposition = Disposition()
        for node in _walk_all(self._body):
            if (
                isinstance(node, ast.Attribute)
                and node.attr == result.attr
                and ast.dump(node) == ast.dump(result)
            ):
                disposition = disposition.merge(self.of_result(node, errors))
        return disposition

    def _of_uses(self, uses: Sequence[ast.Name], errors: ErrorSet) -> Disposition:
        disposition = Disposition()
        for use in uses:
            remaining = self._narrowed_at(use, errors)
            if remaining:
                disposition = disposition.merge(self.of_result(use, remaining))
        return disposition

    def _narrowed_at(self, use: ast.Name, errors: ErrorSet) -> ErrorSet:
        """Return the errors that the type of a name still allows."""
        if not self.module.types_of(use):
            # The use is unreachable.
            return NO_ERRORS
        type_ = self.module.type_of(use)
        channel = channel_of(type_)
        if channel is not None and not channel.is_failure:
            return NO_ERRORS
        return narrow(errors, errors_in(type_))

    def _uses(self, name: str) -> Sequence[ast.Name]:
        return self._uses_by_name.get(name, ())

    @cached_property
    def _uses_by_name(self) -> Mapping[str, Sequence[ast.Name]]:
        uses: dict[str, list[ast.Name]] = {}
        for node in _walk_all(self._body):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                uses.setdefault(node.id, []).append(node)
        return uses

    # Methods and function calls

    def _of_method(self, method: ast.Attribute, errors: ErrorSet) -> Disposition:
        call = self.module.parents.get(method)
        if not isinstance(call, ast.Call) or call.func is not method:
            return Disposition(propagated=errors)
        match method.attr:
            case 'map' | 'bind':
                return self.of_result(call, errors)
            case 'lash' | 'alt' | 'swap':
                return Disposition(handled=errors)
            case 'failure':
                return self.of_error(call, errors)
            case 'value_or' | 'unwrap':
                return Disposition()
            case _:
                return Disposition(propagated=errors)

    def _of_argument(self, node: ast.expr, call: ast.Call, errors: ErrorSet) -> Disposition:
        name = self.module.full_name(call.func)
        if name in CHECKS or name == _UNTYPED_CHECK:
            return Disposition()
        if may_be(self.module.type_of(call.func), DO):
            return Disposition(propagated=errors)
        if call.args and call.args[0] is node and (name in PASS_THROUGH or name == BIND_ASYNC):
            disposition = self.of_result(call, errors)
            return (
                Disposition(handled=errors).merge(disposition)
                if name == _TAP_ERROR
                else disposition
            )
        if name in COLLECTORS:
            return self.of_result(call, errors)
        step = self.inference.catch_step(call.func)
        if step is not None and node in call.args:
            remaining = subtract(errors, step.caught)
            caught = {name: info for name, info in errors.items() if name not in remaining}
            disposition = Disposition(handled=caught)
            return disposition.merge(self.of_result(call, remaining)) if remaining else disposition
        if self._returns_result(call):
            return Disposition(propagated=errors)
        return Disposition(handled=errors)

    def _returns_result(self, call: ast.Call) -> bool:
        return may_be(self.module.type_of(call), RESULT)

    # Arms that match a Result

    def _of_result_arm(
        self, arm: ast.match_case, pattern: ast.pattern, errors: ErrorSet
    ) -> tuple[Disposition, ErrorSet]:
        """Return the disposition by one arm, and the errors that reach the next arm."""
        unmatched = errors if arm.guard is not None else NO_ERRORS
        match pattern:
            case ast.MatchOr(alternatives):
                pairs = [(arm, alternative) for alternative in alternatives]
                return _of_patterns(self._of_result_arm, pairs, errors)
            case ast.MatchAs(None, None):
                return Disposition(), unmatched
            case ast.MatchAs(None, str(name)):
                return self._of_name_in_arm(arm, name, errors), unmatched
            case ast.MatchAs(ast.pattern() as inner, str(name)):
                disposition, remaining = self._of_result_arm(arm, inner, errors)
                return disposition.merge(self._of_name_in_arm(arm, name, errors)), remaining
            case ast.MatchClass(class_, [inner]) if self.module.full_name(class_) in FAILURE:
                return self._of_error_arm(arm, inner, errors)
            case ast.MatchClass(class_, []) if self.module.full_name(class_).endswith('.Failure'):
                return Disposition(), unmatched
            case _:
                return Disposition(), errors

    def _of_name_in_arm(self, arm: ast.match_case, name: str, errors: ErrorSet) -> Disposition:
        """Return the disposition of errors in the Result that an arm binds to a name."""
        return self._of_uses(
            [
                node
                for node in _walk_all(_guard_and_body(arm))
                if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            ],
            errors,
        )

    # Error values

    def of_error(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Return the disposition of an error value, outside its Result.

        Code that receives the value handles it; a mere check does not.
        """
        parent = self.module.parents.get(node)
        match parent:
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                return self._of_error_uses(self._body, name, errors)
            case ast.NamedExpr(ast.Name(name)):
                return self._of_error_uses(self._body, name, errors).merge(
                    self.of_error(parent, errors)
                )
            case ast.Match(subject):
                return (
                    _of_arms(self._of_error_arm, parent, errors)
                    if subject is node
                    else Disposition()
                )
            case ast.Call() if self.module.full_name(parent.func) in CHECKS:
                return self._of_class_check(parent, errors)
            case ast.Call() if self.module.full_name(parent.func).endswith('.assert_never'):
                return Disposition()
            case ast.Call() if node in parent.args and self._propagates_error(parent):
                return Disposition(propagated=errors)
            case ast.Expr():
                return Disposition()
            case _:
                return Disposition(handled=errors)

    def _propagates_error(self, call: ast.Call) -> bool:
        if self._returns_result(call):
            return True
        return (
            isinstance(call.func, ast.Attribute)
            and call.func.attr == 'fail'
            and may_be(self.module.type_of(call.func.value), DO)
        )

    def _of_class_check(self, call: ast.Call, errors: ErrorSet) -> Disposition:
        """Return the disposition by `isinstance(error, A)` or `type(error) is A`: A is handled."""
        parent = self.module.parents.get(call)
        arguments = parent.comparators if isinstance(parent, ast.Compare) else call.args[1:]
        classes = [
            info
            for argument in arguments
            for item in (argument.elts if isinstance(argument, ast.Tuple) else [argument])
            for info in (self.inference.constructed_by(item) or NO_ERRORS).values()
        ]
        return Disposition(handled=_overlapping(errors, classes))

    def _of_error_uses(self, body: Sequence[ast.AST], name: str, errors: ErrorSet) -> Disposition:
        disposition = Disposition()
        for node in _walk_all(body):
            if (
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and self.module.types_of(node)
            ):
                remaining = narrow(errors, errors_of_type(self.module.type_of(node)))
                if remaining:
                    disposition = disposition.merge(self.of_error(node, remaining))
        return disposition

    def _of_error_arm(
        self, arm: ast.match_case, pattern: ast.pattern, errors: ErrorSet
    ) -> tuple[Disposition, ErrorSet]:
        """Return the disposition by one arm, and the errors that reach the next arm."""
        unmatched = errors if arm.guard is not None else NO_ERRORS
        match pattern:
            case ast.MatchOr(alternatives):
                pairs = [(arm, alternative) for alternative in alternatives]
                return _of_patterns(self._of_error_arm, pairs, errors)
            case ast.MatchAs(None, None):
                # `case _:` handles the remaining errors, `case Failure(_):` ignores them.
                handles = arm.pattern is pattern and not self._asserts_never(arm)
                return Disposition(handled=errors) if handles else Disposition(), unmatched
            case ast.MatchAs(None, str(name)):
                return self._of_error_uses(_guard_and_body(arm), name, errors), unmatched
            case ast.MatchAs(ast.pattern() as inner):
                return self._of_error_arm(arm, inner, errors)
            case ast.MatchClass(class_, positional, _, keywords):
                classes = list((self.inference.constructed_by(class_) or NO_ERRORS).values())
                matches_all = arm.guard is None and all(
                    is_irrefutable(part) for part in (*positional, *keywords)
                )
                return (
                    Disposition(handled=_overlapping(errors, classes)),
                    subtract(errors, classes) if matches_all else errors,
                )
            case _:
                return Disposition(), errors

    def _asserts_never(self, arm: ast.match_case) -> bool:
        return any(
            self.module.full_name(node.func).endswith('.assert_never')
            for node in _walk_all(arm.body)
            if isinstance(node, ast.Call)
        )


def pattern_classes(inference: ErrorInference, pattern: ast.pattern) -> list[TypeInfo]:
    """Return the classes that a pattern matches."""
    match pattern:
        case ast.MatchOr(alternatives):
            return [
                info
                for alternative in alternatives
                for info in pattern_classes(inference, alternative)
            ]
        case ast.MatchAs(ast.pattern() as inner):
            return pattern_classes(inference, inner)
        case ast.MatchClass(class_):
            return list((inference.constructed_by(class_) or NO_ERRORS).values())
        case _:
            return []


def is_irrefutable(pattern: ast.pattern) -> bool:
    """Return whether a pattern matches any value: a wildcard or a name."""
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _overlapping(errors: ErrorSet, classes: Sequence[TypeInfo]) -> ErrorSet:
    return filter_errors(errors, lambda info: any(overlaps(info, class_) for class_ in classes))


_ArmCheck: TypeAlias = Callable[
    [ast.match_case, ast.pattern, ErrorSet], tuple[Disposition, ErrorSet]
]
"""Returns the disposition by one arm, and the errors that reach the next arm."""


def _of_arms(of_arm: _ArmCheck, match: ast.Match, errors: ErrorSet) -> Disposition:
    return _of_patterns(of_arm, [(arm, arm.pattern) for arm in match.cases], errors)[0]


def _of_patterns(
    of_arm: _ArmCheck, patterns: Iterable[tuple[ast.match_case, ast.pattern]], errors: ErrorSet
) -> tuple[Disposition, ErrorSet]:
    disposition = Disposition()
    for arm, pattern in patterns:
        part, errors = of_arm(arm, pattern, errors)
        disposition = disposition.merge(part)
    return disposition, errors


def _guard_and_body(arm: ast.match_case) -> list[ast.AST]:
    return [*([arm.guard] if arm.guard is not None else []), *arm.body]


def _walk_all(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield all nodes, including those of inner functions, which can read the same names."""
    for node in body:
        yield from walk(node)
