"""What becomes of the errors of a result: handed on, handled, or lost."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from mypy.nodes import TypeInfo

from seamwise.check.inference.error_inference import (
    BIND_ASYNC,
    COLLECTORS,
    PASS_THROUGH,
    ErrorInference,
)
from seamwise.check.typed_ast.channels import (
    NO_ERRORS,
    RESULT,
    ErrorSet,
    base_names,
    channel_of,
    errors_in,
    errors_of_type,
    narrow,
    overlaps,
    subtract,
    union_members,
)
from seamwise.check.typed_ast.program import Function, walk

CHECKS = frozenset(
    {
        'builtins.isinstance',
        'builtins.type',
        'seamwise.containers.is_success',
        'seamwise.containers.is_failure',
    }
)
UNTYPED_CHECK = 'returns.pipeline.is_successful'
RESULT_SIDES = frozenset(
    {
        'seamwise.containers.Success',
        'seamwise.containers.Failure',
        'returns.result.Success',
        'returns.result.Failure',
    }
)
DO = 'seamwise.scope.Do'


class Disposition(Struct, frozen=True):
    """What becomes of some errors; those in none of the three are lost."""

    propagated: ErrorSet = NO_ERRORS
    """Handed on as a result, to the caller or to a place that this function does not see."""
    handled: ErrorSet = NO_ERRORS
    """Handled: by an arm, a `catch`, an adapter, by anything that is handed the error."""

    def merge(self, other: 'Disposition') -> 'Disposition':
        """Add what another use of the same result does."""
        return Disposition(
            {**self.propagated, **other.propagated}, {**self.handled, **other.handled}
        )

    def lost(self, errors: ErrorSet) -> ErrorSet:
        """Give the errors that nobody has looked at."""
        return {
            name: info
            for name, info in errors.items()
            if name not in self.propagated and name not in self.handled
        }


class Dispositions:
    """Follows the results of one function from expression to expression."""

    def __init__(self, reader: ErrorInference, function: Function | None) -> None:
        self.inference = reader
        self.module = reader.module
        self._function = function
        self._body: Sequence[ast.AST] = (
            function.body if function is not None else self.module.syntax.body
        )
        self._underway: set[str] = set()
        self._known: dict[tuple[str, frozenset[str]], Disposition] = {}
        self._cuts = 0

    def of_result(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Say what becomes of errors that the result of an expression brings."""
        around = self.module.parents.get(node)
        match around:
            case ast.Await() | ast.IfExp() | ast.BoolOp() | ast.Starred():
                return (
                    self.of_result(around, errors)
                    if self._is_value_of(node, around)
                    else Disposition()
                )
            case ast.NamedExpr(ast.Name(name)):
                return self.of_name(name, errors).merge(self.of_result(around, errors))
            case ast.Assign([ast.Name('_')]):
                # So one says that it is meant.
                return Disposition(propagated=errors)
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                # What nobody reads at the top level of a file, others may.
                is_others = self._function is None and not self._uses(name)
                return Disposition(propagated=errors) if is_others else self.of_name(name, errors)
            case (
                ast.Lambda()
                | ast.GeneratorExp()
                | ast.ListComp()
                | ast.SetComp()
                | ast.List()
                | ast.Tuple()
            ):
                return self._handed_over(around, errors)
            case ast.Expr():
                return Disposition()
            case ast.Match():
                return (
                    self._of_result_arms(around, errors)
                    if around.subject is node
                    else Disposition()
                )
            case ast.Attribute():
                return self._of_method(around, errors)
            case ast.Call():
                return self._of_argument(node, around, errors)
            case ast.Compare() | ast.If() | ast.While() | ast.Assert() | ast.UnaryOp():
                return Disposition()
            case _:
                # Returned, stored, yielded, put into a container: others see it.
                return Disposition(propagated=errors)

    def _is_value_of(self, node: ast.expr, around: ast.AST) -> bool:
        if isinstance(around, ast.IfExp):
            return node is not around.test
        return True

    def _handed_over(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Follow what a lambda gives, or a row of results holds, into the call that is handed it and brings the same errors."""
        call = self.module.parents.get(node)
        if not isinstance(call, ast.Call) or node not in call.args:
            return Disposition(propagated=errors)
        if not isinstance(node, ast.Lambda) and self.module.full_name(call.func) not in COLLECTORS:
            return Disposition(propagated=errors)
        brought = errors_in(self.module.type_of(call)) or NO_ERRORS
        return (
            self.of_result(call, errors)
            if all(name in brought for name in errors)
            else Disposition(propagated=errors)
        )

    # A result under a name.

    def of_name(self, name: str, errors: ErrorSet) -> Disposition:
        """Say what becomes of the errors of a result that goes by a name."""
        question = (name, frozenset(errors))
        if question in self._known:
            return self._known[question]
        if name in self._underway:
            self._cuts += 1
            return Disposition()
        cuts = self._cuts
        self._underway.add(name)
        try:
            found = Disposition()
            for use in self._uses(name):
                seen = self._seen(use, errors)
                if seen:
                    found = found.merge(self.of_result(use, seen))
        finally:
            self._underway.discard(name)
        if cuts == self._cuts or not self._underway:
            # Where a way was cut short inside of another one, the answer is that one's only.
            self._known[question] = found
        return found

    def of_attribute(self, result: ast.Attribute, errors: ErrorSet) -> Disposition:
        """Say what becomes of the errors of a result wherever the same attribute is read."""
        found = Disposition()
        for node in _everywhere(self._body):
            if (
                isinstance(node, ast.Attribute)
                and node.attr == result.attr
                and ast.dump(node) == ast.dump(result)
            ):
                found = found.merge(self.of_result(node, errors))
        return found

    def _uses(self, name: str) -> Sequence[ast.Name]:
        return self._loads.get(name, ())

    @cached_property
    def _loads(self) -> Mapping[str, Sequence[ast.Name]]:
        """Where each name is read."""
        found: dict[str, list[ast.Name]] = {}
        for node in _everywhere(self._body):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def _seen(self, use: ast.Name, errors: ErrorSet) -> ErrorSet:
        """Give the errors that can still be there where a name is read."""
        typed = self.module.types_of(use)
        if not typed:
            return NO_ERRORS
        found = self.module.type_of(use)
        whole = channel_of(found)
        if whole is not None and not whole.is_failure:
            return NO_ERRORS
        return narrow(errors, errors_in(found))

    # Steps.

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
        if name in CHECKS or name == UNTYPED_CHECK:
            return Disposition()
        if any(DO in base_names(one) for one in union_members(self.module.type_of(call.func))):
            return Disposition(propagated=errors)
        if call.args and call.args[0] is node and (name in PASS_THROUGH or name == BIND_ASYNC):
            looked = (
                Disposition(handled=errors)
                if name == 'seamwise.compose.tap_error'
                else Disposition()
            )
            return looked.merge(self.of_result(call, errors))
        if name in COLLECTORS:
            return self.of_result(call, errors)
        step = self.inference.catch_step(call.func)
        if step is not None and node in call.args:
            left = subtract(errors, step[0])
            taken = {one: info for one, info in errors.items() if one not in left}
            return Disposition(handled=taken).merge(
                self.of_result(call, left) if left else Disposition()
            )
        return (
            Disposition(propagated=errors)
            if self._gives_result(call)
            else Disposition(handled=errors)
        )

    def _gives_result(self, call: ast.Call) -> bool:
        return any(RESULT in base_names(one) for one in union_members(self.module.type_of(call)))

    # Arms over a result.

    def _of_result_arms(self, match: ast.Match, errors: ErrorSet) -> Disposition:
        found = Disposition()
        left = errors
        for arm in match.cases:
            own, left = self._of_result_arm(arm, arm.pattern, left)
            found = found.merge(own)
        return found

    def _of_result_arm(
        self, arm: ast.match_case, pattern: ast.pattern, errors: ErrorSet
    ) -> tuple[Disposition, ErrorSet]:
        """Say what an arm does with the errors that come to it, and give those that go on to the next arm."""
        match pattern:
            case ast.MatchOr(parts):
                found = Disposition()
                for one in parts:
                    own, errors = self._of_result_arm(arm, one, errors)
                    found = found.merge(own)
                return found, errors
            case ast.MatchAs(None, name):
                own = self._of_name_in(arm, name, errors) if name is not None else Disposition()
                return own, errors if arm.guard is not None else NO_ERRORS
            case ast.MatchAs(ast.pattern() as inner, str(name)):
                own, left = self._of_result_arm(arm, inner, errors)
                return own.merge(self._of_name_in(arm, name, errors)), left
            case ast.MatchClass(kind, [inner]) if (
                self.module.full_name(kind).endswith('.Failure')
                and self.module.full_name(kind) in RESULT_SIDES
            ):
                return self._of_error_arm(arm, inner, errors)
            case ast.MatchClass(kind, []) if self.module.full_name(kind).endswith('.Failure'):
                return Disposition(), errors if arm.guard is not None else NO_ERRORS
            case _:
                return Disposition(), errors

    def _of_name_in(self, arm: ast.match_case, name: str, errors: ErrorSet) -> Disposition:
        """Say what becomes of the whole result under the name that an arm gives it."""
        found = Disposition()
        for node in _everywhere([*([arm.guard] if arm.guard is not None else []), *arm.body]):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                seen = self._seen(node, errors)
                if seen:
                    found = found.merge(self.of_result(node, seen))
        return found

    # The error itself.

    def of_error(self, node: ast.expr, errors: ErrorSet) -> Disposition:
        """Say what becomes of an error, out of its result: whatever it is handed to, handles it; a mere check does not."""
        around = self.module.parents.get(node)
        match around:
            case ast.Assign([ast.Name(name)]) | ast.AnnAssign(ast.Name(name)):
                return self._of_error_uses(self._body, name, errors)
            case ast.NamedExpr(ast.Name(name)):
                return self._of_error_uses(self._body, name, errors).merge(
                    self.of_error(around, errors)
                )
            case ast.Match():
                return (
                    self._of_error_arms(around, errors) if around.subject is node else Disposition()
                )
            case ast.Call() if self.module.full_name(around.func) in CHECKS:
                return self._checked(around, errors)
            case ast.Call() if self.module.full_name(around.func).endswith('.assert_never'):
                return Disposition()
            case ast.Call() if node in around.args and self._hands_on(around):
                return Disposition(propagated=errors)
            case ast.Expr():
                return Disposition()
            case _:
                return Disposition(handled=errors)

    def _hands_on(self, call: ast.Call) -> bool:
        if self._gives_result(call):
            return True
        match call.func:
            case ast.Attribute(do, 'fail'):
                return any(DO in base_names(one) for one in union_members(self.module.type_of(do)))
            case _:
                return False

    def _checked(self, call: ast.Call, errors: ErrorSet) -> Disposition:
        """`isinstance(error, A)` and `type(error) is A` are arms for A; they say nothing of the others."""
        around = self.module.parents.get(call)
        asked = around.comparators if isinstance(around, ast.Compare) else call.args[1:]
        named = [
            part for one in asked for part in (one.elts if isinstance(one, ast.Tuple) else [one])
        ]
        classes = [
            info
            for one in named
            for info in (self.inference.constructed_by(one) or NO_ERRORS).values()
        ]
        return Disposition(
            handled={
                name: info
                for name, info in errors.items()
                if any(overlaps(info, one) for one in classes)
            }
        )

    def _of_error_uses(self, body: Sequence[ast.AST], name: str, errors: ErrorSet) -> Disposition:
        found = Disposition()
        for node in _everywhere(body):
            if (
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and self.module.types_of(node)
            ):
                seen = narrow(errors, errors_of_type(self.module.type_of(node)))
                if seen:
                    found = found.merge(self.of_error(node, seen))
        return found

    def _of_error_arms(self, match: ast.Match, errors: ErrorSet) -> Disposition:
        found = Disposition()
        left = errors
        for arm in match.cases:
            own, left = self._of_error_arm(arm, arm.pattern, left)
            found = found.merge(own)
        return found

    def _of_error_arm(
        self, arm: ast.match_case, pattern: ast.pattern, errors: ErrorSet
    ) -> tuple[Disposition, ErrorSet]:
        match pattern:
            case ast.MatchOr(parts):
                found = Disposition()
                for one in parts:
                    own, errors = self._of_error_arm(arm, one, errors)
                    found = found.merge(own)
                return found, errors
            case ast.MatchAs(None, None):
                # Inside of `Failure(_)` nobody looks; as an arm of its own it takes what is left.
                is_own = arm.pattern is pattern
                return (
                    Disposition(handled=errors)
                    if is_own and not _is_never(arm, self)
                    else Disposition()
                ), (errors if arm.guard is not None else NO_ERRORS)
            case ast.MatchAs(None, str(name)):
                return self._of_error_uses(
                    _of(arm), name, errors
                ), errors if arm.guard is not None else NO_ERRORS
            case ast.MatchAs(ast.pattern() as inner):
                own, left = self._of_error_arm(arm, inner, errors)
                return own, left
            case ast.MatchClass(kind):
                classes = list((self.inference.constructed_by(kind) or NO_ERRORS).values())
                taken = {
                    name: info
                    for name, info in errors.items()
                    if any(overlaps(info, one) for one in classes)
                }
                takes_all = arm.guard is None and all(
                    _is_irrefutable(one) for one in (*pattern.patterns, *pattern.kwd_patterns)
                )
                return Disposition(handled=taken), subtract(
                    errors, classes
                ) if takes_all else errors
            case _:
                return Disposition(), errors


def pattern_classes(reader: ErrorInference, pattern: ast.pattern) -> list[TypeInfo]:
    """Give the classes that a pattern asks for."""
    match pattern:
        case ast.MatchOr(parts):
            return [info for one in parts for info in pattern_classes(reader, one)]
        case ast.MatchAs(ast.pattern() as inner):
            return pattern_classes(reader, inner)
        case ast.MatchClass(kind):
            return list((reader.constructed_by(kind) or NO_ERRORS).values())
        case _:
            return []


def _is_irrefutable(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None


def _is_never(arm: ast.match_case, fates: Dispositions) -> bool:
    calls = [node for node in _everywhere(arm.body) if isinstance(node, ast.Call)]
    return any(fates.module.full_name(call.func).endswith('.assert_never') for call in calls)


def _of(arm: ast.match_case) -> list[ast.AST]:
    return [*([arm.guard] if arm.guard is not None else []), *arm.body]


def _everywhere(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Give the nodes of a function, also of the functions inside of it, which see its names."""
    for node in body:
        yield from walk(node)
